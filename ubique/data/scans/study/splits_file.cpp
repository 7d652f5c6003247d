// SPDX-License-Identifier: Apache-2.0
// Reads, checks, reorders and writes files of folds.
#include "ubique/data/scans/study/splits_file.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/json.h"

namespace ubique::data {
namespace {

namespace fs = std::filesystem;

/// Extracts values from the document; each error names the key.
class SplitsReader {
 public:
  explicit SplitsReader(const fs::path& path) : where_(path.string()) {}

  Splits read(const Json& document) const {
    expect(document.is_object(), "the file", "an object");
    Splits splits;
    splits.seed = static_cast<std::uint32_t>(number(document, "random_seed", 0xFFFFFFFFLL));
    splits.labels = texts(document, "stratification_labels");
    if (document.contains("subject_ids")) splits.subject_ids = texts(document, "subject_ids");
    expect(splits.subject_ids.empty() || splits.subject_ids.size() == splits.labels.size(),
           "subject_ids", "as many entries as stratification_labels");
    const auto people = static_cast<std::int64_t>(splits.labels.size());
    for (const auto& fold : list(document, "outer_folds")) {
      OuterFold outer;
      outer.test = indices(fold, "test_indices", people);
      for (const auto& part : list(fold, "inner_folds")) {
        outer.inner.push_back(
            {indices(part, "train_indices", people), indices(part, "val_indices", people)});
      }
      splits.outer.push_back(std::move(outer));
    }
    expect(!splits.outer.empty(), "outer_folds", "at least one fold");
    check_counts(document, splits);
    check_division(splits);
    return splits;
  }

 private:
  void expect(bool good, const std::string& key, const std::string& what) const {
    check(good, ErrorKind::Input,
          "[data.splits] {}: {} is wrong; expected {}, as in a file of folds that arc-meshchop or "
          "ubique writes.",
          where_, key, what);
  }

  const Json& value(const Json& object, const char* key) const {
    check(object.is_object() && object.contains(key), ErrorKind::Input,
          "[data.splits] {}: the key {} is missing; expected a file of folds that arc-meshchop or "
          "ubique writes.",
          where_, key);
    return object[key];
  }

  std::int64_t number(const Json& object, const char* key, std::int64_t most) const {
    const auto& found = value(object, key);
    const bool good = found.is_number_integer() && found.get<double>() >= 0 &&
                      found.get<double>() <= static_cast<double>(most);
    expect(good, key, fmt::format("a whole number from 0 to {}", most));
    return found.get<std::int64_t>();
  }

  const Json& list(const Json& object, const char* key) const {
    const auto& found = value(object, key);
    expect(found.is_array(), key, "a list");
    return found;
  }

  std::vector<std::string> texts(const Json& object, const char* key) const {
    std::vector<std::string> result;
    for (const auto& entry : list(object, key)) {
      expect(entry.is_string(), key, "a list of texts");
      result.push_back(entry.get<std::string>());
    }
    return result;
  }

  Indices indices(const Json& object, const char* key, std::int64_t people) const {
    Indices result;
    for (const auto& entry : list(object, key)) {
      const bool good = entry.is_number_integer() && entry.get<double>() >= 0 &&
                        entry.get<double>() < static_cast<double>(people);
      expect(good, key, fmt::format("whole numbers below {}, the number of subjects", people));
      result.push_back(entry.get<std::int64_t>());
    }
    return result;
  }

  void check_counts(const Json& document, const Splits& splits) const {
    const auto outer = static_cast<std::int64_t>(splits.outer.size());
    expect(number(document, "num_outer_folds", 1'000'000) == outer, "num_outer_folds",
           fmt::format("{}, the number of outer_folds", outer));
    const auto inner = number(document, "num_inner_folds", 1'000'000);
    for (const auto& fold : splits.outer) {
      expect(static_cast<std::int64_t>(fold.inner.size()) == inner, "num_inner_folds",
             fmt::format("{}, the number of inner_folds in each outer fold", fold.inner.size()));
    }
  }

  void check_division(const Splits& splits) const {
    std::set<std::int64_t> tested;
    for (const auto& fold : splits.outer) {
      take_once(fold.test, tested, "test_indices of two folds");
      for (const auto& part : fold.inner) {
        std::set<std::int64_t> taken(fold.test.begin(), fold.test.end());
        take_once(part.train, taken, "train_indices and test_indices of one fold");
        take_once(part.val, taken, "val_indices and train_indices or test_indices of one fold");
      }
    }
  }

  void take_once(const Indices& indices, std::set<std::int64_t>& taken, const char* where) const {
    for (const auto index : indices) {
      check(taken.insert(index).second, ErrorKind::Input,
            "[data.splits] {}: subject {} is in {}; expected it once. A test on trained scans "
            "would be worth nothing.",
            where_, index, where);
    }
  }

  std::string where_;
};

/// Index in the cohort of each index in the file.
Indices cohort_indices(const Cohort& cohort, const Splits& splits, const std::string& where) {
  std::unordered_map<std::string, std::int64_t> index_of;
  for (std::size_t i = 0; i < cohort.subjects.size(); ++i) {
    const auto [entry, is_new] =
        index_of.emplace(cohort.subjects[i].id, static_cast<std::int64_t>(i));
    check(is_new, ErrorKind::Input,
          "[data.splits] the cohort has two scans named {}; expected one name each to find them in "
          "{}.",
          entry->first, where);
  }
  Indices indices;
  std::vector<std::string> unknown;
  for (const auto& id : splits.subject_ids) {
    const auto found = index_of.find(id);
    indices.push_back(found == index_of.end() ? -1 : found->second);
    if (found == index_of.end()) unknown.push_back(id);
    if (found != index_of.end()) index_of.erase(found);
  }
  check(unknown.empty(), ErrorKind::Input,
        "[data.splits] {} divides {} subjects that the cohort does not have (or lists them twice): "
        "{}; expected the same study.",
        where, unknown.size(), first_few(unknown));
  return indices;
}

void renumber(Indices& indices, const Indices& new_index) {
  for (auto& index : indices) index = new_index[static_cast<std::size_t>(index)];
  std::ranges::sort(indices);
}

void renumber(Splits& splits, const Indices& new_index) {
  auto labels = splits.labels;
  for (std::size_t i = 0; i < new_index.size(); ++i) {
    splits.labels[static_cast<std::size_t>(new_index[i])] = labels[i];
  }
  for (auto& fold : splits.outer) {
    renumber(fold.test, new_index);
    for (auto& part : fold.inner) {
      renumber(part.train, new_index);
      renumber(part.val, new_index);
    }
  }
}

void warn_of_other_strata(const Splits& splits, const Cohort& cohort, const std::string& where) {
  for (const auto& subject : cohort.subjects) {
    if (subject.lesion_voxels < 0) return;  // nothing to compare with
  }
  const auto own = strata(cohort);
  const auto differ = std::ranges::count_if(
      splits.labels,
      [&, i = std::size_t{0}](const auto& label) mutable { return label != own[i++]; });
  if (differ == 0) return;
  log::warn(
      "[data.splits] {}: {} of {} strata are not those of the cohort; the file names no subjects, "
      "so that they may stand in another order.",
      where, differ, own.size());
}

}  // namespace

void write_splits(const fs::path& path, const Splits& splits) {
  Json folds = Json::array();
  for (const auto& fold : splits.outer) {
    Json inner = Json::array();
    for (const auto& part : fold.inner) {
      inner.push_back({{"train_indices", part.train}, {"val_indices", part.val}});
    }
    folds.push_back({{"test_indices", fold.test}, {"inner_folds", inner}});
  }
  Json document = {{"random_seed", splits.seed},
                   {"num_outer_folds", splits.outer.size()},
                   {"num_inner_folds", splits.inner_count()},
                   {"stratification_labels", splits.labels},
                   {"outer_folds", folds}};
  if (!splits.subject_ids.empty()) document["subject_ids"] = splits.subject_ids;
  // No newline at the end: arc-meshchop writes none.
  write_file(path, document.dump(2, ' ', true, Json::error_handler_t::replace));
}

Splits read_splits(const fs::path& path) {
  constexpr std::int64_t kMostBytes = 64LL << 20;
  return SplitsReader(path).read(parse_json(read_file(path, kMostBytes), path.string()));
}

Splits read_splits(const fs::path& path, const Cohort& cohort) {
  auto splits = read_splits(path);
  check(splits.labels.size() == cohort.subjects.size(), ErrorKind::Input,
        "[data.splits] {} is for another cohort; got folds of {} subjects, expected {}.",
        path.string(), splits.labels.size(), cohort.subjects.size());
  if (splits.subject_ids.empty()) {
    warn_of_other_strata(splits, cohort, path.string());
  } else {
    renumber(splits, cohort_indices(cohort, splits, path.string()));
  }
  splits.subject_ids.clear();
  for (const auto& subject : cohort.subjects) splits.subject_ids.push_back(subject.id);
  return splits;
}

}  // namespace ubique::data
