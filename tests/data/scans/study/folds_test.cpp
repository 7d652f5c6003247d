// SPDX-License-Identifier: Apache-2.0
// Folds compared with scikit-learn's, and their file format. Constants are from scikit-learn
// 1.9.1 with NumPy 2.4.6.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "tests/base/scratch.h"
#include "tests/data/scans/grids.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"
#include "ubique/data/scans/study/splits_file.h"

using namespace ubique;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> letters(const std::string& text) {
  std::vector<std::string> labels;
  for (const char letter : text) labels.emplace_back(1, letter);
  return labels;
}

/// The fold that tests each subject, as digits.
std::string tested_by(const std::string& text, int folds, std::uint32_t seed) {
  const auto labels = letters(text);
  std::string digits(labels.size(), '?');
  const auto result = data::stratified_folds(labels, folds, seed);
  for (std::size_t fold = 0; fold < result.size(); ++fold) {
    CHECK(result[fold].test.size() + result[fold].train.size() == labels.size());
    CHECK(std::ranges::is_sorted(result[fold].train));
    for (const auto i : result[fold].test) {
      digits[static_cast<std::size_t>(i)] = static_cast<char>('0' + fold);
    }
  }
  return digits;
}

/// Subjects of these sizes and acquisitions, named s0, s1 ...
data::Cohort cohort_of(const std::vector<std::int64_t>& sizes,
                       const std::vector<std::string>& acquisitions) {
  data::Cohort cohort;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    data::Subject subject;
    subject.id = "s" + std::to_string(i);
    subject.acquisition = acquisitions[i];
    subject.lesion_voxels = sizes[i];
    cohort.subjects.push_back(subject);
  }
  return cohort;
}

data::Splits small_splits() {
  auto splits = data::nested_folds(letters("aabbaabbaabb"), 2, 2, 42);
  return splits;
}

/// Error for a splits file in which a piece of text was replaced.
std::string splits_refusal(const std::string& from, const std::string& to) {
  const test::ScratchFolder folder;
  data::write_splits(folder / "s.json", small_splits());
  auto text = read_file(folder / "s.json");
  const auto place = text.find(from);
  REQUIRE(place != std::string::npos);
  write_file(folder / "s.json", text.replace(place, from.size(), to));
  return test::refusal_of(ErrorKind::Input, [&] { data::read_splits(folder / "s.json"); });
}

}  // namespace

TEST_CASE("folds: subjects are in the folds that scikit-learn assigns") {
  CHECK(tested_by("bababcabcacbbbaacaba", 3, 42) == "01120002111011202022");
  CHECK(tested_by("bababcabcacbbbaacaba", 5, 7) == "12230243431102103044");
  CHECK(tested_by("aaaaaaaaaaaaaaaa", 4, 0) == "0122310321320013");
  CHECK(tested_by("zzzzzyyyx", 3, 4294967295U) == "200111202");  // x has one member: a warning
}

TEST_CASE("folds: too few members and too few folds are usage errors") {
  const auto refusal = [](const std::string& labels, int folds) {
    return test::refusal_of(ErrorKind::Usage,
                            [&] { data::stratified_folds(letters(labels), folds); });
  };
  CHECK(test::contains(refusal("aabbcc", 3), "largest of 3 strata has 2 members"));
  CHECK(test::contains(refusal("aab", 1), "got 1 folds"));
  CHECK(test::contains(refusal("", 3), "0 subjects"));
}

TEST_CASE("folds: size bins end where the paper's do, a border belonging to the lower one") {
  const std::vector<std::int64_t> sizes = {0,      203,     33'619,  33'620,   67'891,
                                           67'892, 128'314, 128'315, 9'999'999};
  const std::vector<std::string> expected = {"Q1", "Q1", "Q1", "Q2", "Q2", "Q3", "Q3", "Q4", "Q4"};
  CHECK(data::size_bins(sizes, data::SizeBins::Paper) == expected);
}

TEST_CASE("folds: bins of the cohort itself hold a quarter each") {
  const std::vector<std::int64_t> sizes = {8, 1, 7, 2, 6, 3, 5, 4};
  const std::vector<std::string> expected = {"Q4", "Q1", "Q4", "Q1", "Q3", "Q2", "Q3", "Q2"};
  CHECK(data::size_bins(sizes, data::SizeBins::Quartiles) == expected);
  const std::vector<std::int64_t> same(5, 12);
  CHECK(data::size_bins(same, data::SizeBins::Quartiles) == std::vector<std::string>(5, "Q1"));
}

TEST_CASE("folds: strata combine size and acquisition, and need every size") {
  auto cohort = cohort_of({100, 50'000}, {"space_2x", "flair"});
  CHECK(data::strata(cohort) == std::vector<std::string>{"Q1_space_2x", "Q2_flair"});
  cohort.subjects[1].lesion_voxels = -1;
  CHECK(test::contains(test::refusal_of(ErrorKind::Input, [&] { data::strata(cohort); }),
                       "lesion size of s1 is not known"));
}

TEST_CASE("folds: nested folds cover all subjects without overlap") {
  const auto splits = data::nested_folds(letters("abcabcabcabcabcabcaabbcc"), 3, 4, 9);
  std::set<std::int64_t> tested;
  REQUIRE(splits.outer.size() == 3);
  for (std::size_t f = 0; f < splits.outer.size(); ++f) {
    const auto& fold = splits.outer[f];
    for (const auto i : fold.test) CHECK(tested.insert(i).second);
    REQUIRE(fold.inner.size() == 4);
    const auto train = splits.train_of(f);
    CHECK(train.size() + fold.test.size() == 24);
    for (const auto& part : fold.inner) {
      auto both = part.train;
      both.insert(both.end(), part.val.begin(), part.val.end());
      std::ranges::sort(both);
      CHECK(both == train);
    }
  }
  CHECK(tested.size() == 24);
  const auto plain = data::nested_folds(letters("aaabbbccc"), 3, 0);
  CHECK(plain.inner_count() == 0);
  CHECK(plain.train_of(1).size() == 6);
}

TEST_CASE("folds: a golden study of forty is split exactly as upstream splits it") {
  if (test::golden_scans_missing()) return;
  const auto path = test::kGoldenScans / "splits_40_seed42.json";
  const auto golden = parse_json(read_file(path), path.string());
  const auto cohort = cohort_of(golden["lesion_volumes"].get<std::vector<std::int64_t>>(),
                                golden["acquisition_types"].get<std::vector<std::string>>());
  const auto labels = data::strata(cohort);
  CHECK(labels == golden["stratification_labels"].get<std::vector<std::string>>());
  const auto splits = data::nested_folds(labels);
  REQUIRE(splits.outer.size() == 3);
  for (std::size_t f = 0; f < 3; ++f) {
    const auto& expected = golden["nested"]["outer_folds"][f];
    CHECK(splits.outer[f].test == expected["test_indices"].get<data::Indices>());
    CHECK(splits.train_of(f) == golden["outer_only"][f]["train_indices"].get<data::Indices>());
    REQUIRE(splits.outer[f].inner.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
      const auto& part = splits.outer[f].inner[i];
      CHECK(part.train == expected["inner_folds"][i]["train_indices"].get<data::Indices>());
      CHECK(part.val == expected["inner_folds"][i]["val_indices"].get<data::Indices>());
    }
  }
  const test::ScratchFolder folder;
  data::write_splits(folder / "s.json", splits);
  const auto upstream = test::kGoldenScans / "splits_40_seed42_upstream_format.json";
  CHECK(read_file(folder / "s.json") == read_file(upstream));
  CHECK(data::read_splits(upstream, cohort).outer[2].test == splits.outer[2].test);
}

TEST_CASE("splits: a file is read back, and found by name where it names subjects") {
  const test::ScratchFolder folder;
  auto splits = small_splits();
  data::write_splits(folder / "plain.json", splits);
  const auto back = data::read_splits(folder / "plain.json");
  CHECK(back.seed == 42);
  CHECK(back.labels == splits.labels);
  CHECK(back.outer[1].inner[1].val == splits.outer[1].inner[1].val);

  auto cohort = cohort_of(std::vector<std::int64_t>(12, -1), splits.labels);
  for (const auto& subject : cohort.subjects) splits.subject_ids.push_back(subject.id);
  data::write_splits(folder / "named.json", splits);
  std::ranges::reverse(cohort.subjects);
  const auto turned = data::read_splits(folder / "named.json", cohort);
  CHECK(turned.subject_ids.front() == "s11");
  data::Indices mirrored;
  for (const auto i : splits.outer[0].test) mirrored.insert(mirrored.begin(), 11 - i);
  CHECK(turned.outer[0].test == mirrored);
  CHECK(turned.labels.front() == splits.labels.back());
}

TEST_CASE("splits: folds of another cohort are refused") {
  const test::ScratchFolder folder;
  auto splits = small_splits();
  auto cohort = cohort_of(std::vector<std::int64_t>(12, -1), splits.labels);
  for (const auto& subject : cohort.subjects) splits.subject_ids.push_back(subject.id);
  data::write_splits(folder / "s.json", splits);
  const auto refusal = [&] {
    return test::refusal_of(ErrorKind::Input,
                            [&] { data::read_splits(folder / "s.json", cohort); });
  };
  cohort.subjects[4].id = "stranger";
  CHECK(test::contains(refusal(), "does not have (or lists them twice): s4"));
  cohort.subjects[4].id = "s5";
  CHECK(test::contains(refusal(), "two scans named s5"));
  cohort.subjects.pop_back();
  CHECK(test::contains(refusal(), "got folds of 12 subjects, expected 11"));
}

TEST_CASE("splits: inconsistent folds are refused") {
  CHECK(test::contains(splits_refusal("\"random_seed\"", "\"seed\""), "random_seed is missing"));
  CHECK(test::contains(splits_refusal("\"random_seed\": 42", "\"random_seed\": -1"),
                       "random_seed is wrong"));
  CHECK(test::contains(splits_refusal("\"num_outer_folds\": 2", "\"num_outer_folds\": 3"),
                       "expected 2, the number of outer_folds"));
  CHECK(test::contains(splits_refusal("\"num_inner_folds\": 2", "\"num_inner_folds\": 1"),
                       "num_inner_folds is wrong"));
  const auto first = std::to_string(small_splits().outer[0].test[0]);
  const auto trained = std::to_string(small_splits().outer[0].inner[0].train[0]);
  const auto begin = "\"test_indices\": [\n        ";
  CHECK(test::contains(splits_refusal(begin + first, begin + std::string("99")),
                       "whole numbers below 12"));
  CHECK(test::contains(splits_refusal(begin + first, begin + trained), "expected it once"));
  CHECK(test::contains(splits_refusal("\"a\"", "7"), "a list of texts"));
}
