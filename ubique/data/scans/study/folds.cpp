// SPDX-License-Identifier: Apache-2.0
// As scikit-learn: strata are numbered by first appearance, their members are assigned to the folds
// round robin, and the folds within each stratum are shuffled with NumPy's RandomState, one
// generator for all strata.
#include "ubique/data/scans/study/folds.h"

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>

#include "ubique/base/error.h"
#include "ubique/base/terminal/log.h"
#include "ubique/data/numpy_random.h"

namespace ubique::data {
namespace {

struct Strata {
  std::vector<std::size_t> of;      // stratum of each subject
  std::vector<std::int64_t> count;  // members of each stratum
  std::vector<std::string> name;
};

Strata numbered_by_appearance(std::span<const std::string> labels) {
  Strata strata;
  std::unordered_map<std::string, std::size_t> number;
  for (const auto& label : labels) {
    const auto [entry, is_new] = number.emplace(label, strata.name.size());
    if (is_new) {
      strata.name.push_back(label);
      strata.count.push_back(0);
    }
    ++strata.count[entry->second];
    strata.of.push_back(entry->second);
  }
  return strata;
}

/// allocation[fold][stratum]: members of the sorted list at positions fold, fold + folds, ...
std::vector<std::vector<int>> allocation_of(const Strata& strata, int folds) {
  std::vector<std::vector<int>> allocation(static_cast<std::size_t>(folds),
                                           std::vector<int>(strata.name.size(), 0));
  std::int64_t position = 0;
  for (std::size_t stratum = 0; stratum < strata.count.size(); ++stratum) {
    for (std::int64_t i = 0; i < strata.count[stratum]; ++i, ++position) {
      ++allocation[static_cast<std::size_t>(position % folds)][stratum];
    }
  }
  return allocation;
}

/// The fold that tests each subject.
std::vector<int> assigned_folds(const Strata& strata, int folds, std::uint32_t seed) {
  NumpyTwister generator(seed);
  const auto allocation = allocation_of(strata, folds);
  std::vector<int> fold_of(strata.of.size());
  for (std::size_t stratum = 0; stratum < strata.count.size(); ++stratum) {
    std::vector<int> folds_in_order;
    for (int fold = 0; fold < folds; ++fold) {
      folds_in_order.insert(
          folds_in_order.end(),
          static_cast<std::size_t>(allocation[static_cast<std::size_t>(fold)][stratum]), fold);
    }
    const auto order = generator.permutation(strata.count[stratum]);
    std::size_t next = 0;
    for (std::size_t i = 0; i < strata.of.size(); ++i) {
      if (strata.of[i] == stratum) {
        fold_of[i] = folds_in_order[static_cast<std::size_t>(order[next++])];
      }
    }
  }
  return fold_of;
}

void check_strata(const Strata& strata, int folds) {
  check(folds >= 2, ErrorKind::Usage, "[data.folds] got {} folds, expected at least 2.", folds);
  const auto largest = strata.count.empty() ? 0 : *std::ranges::max_element(strata.count);
  check(largest >= folds, ErrorKind::Usage,
        "[data.folds] {} subjects cannot be divided into {} folds; the largest of {} strata has "
        "{} members, expected at least {}. Take fewer folds or coarser strata.",
        strata.of.size(), folds, strata.name.size(), largest, folds);
}

/// `small` collects the strata, so that nested folds warn once about each.
void note_small(const Strata& strata, int folds, std::set<std::string>& small) {
  for (std::size_t i = 0; i < strata.name.size(); ++i) {
    if (strata.count[i] < folds) small.insert(strata.name[i]);
  }
}

void warn_small(const std::set<std::string>& small, int folds) {
  if (small.empty()) return;
  log::warn(
      "[data.folds] some strata have fewer than {} members and are missing from some folds: {}.",
      folds, first_few({small.begin(), small.end()}));
}

std::vector<Fold> folds_of(std::span<const std::string> labels, int folds, std::uint32_t seed,
                           std::set<std::string>& small) {
  const auto strata = numbered_by_appearance(labels);
  check_strata(strata, folds);
  note_small(strata, folds, small);
  const auto fold_of = assigned_folds(strata, folds, seed);
  std::vector<Fold> result(static_cast<std::size_t>(folds));
  for (std::size_t i = 0; i < fold_of.size(); ++i) {
    for (int fold = 0; fold < folds; ++fold) {
      auto& target = result[static_cast<std::size_t>(fold)];
      (fold_of[i] == fold ? target.test : target.train).push_back(static_cast<std::int64_t>(i));
    }
  }
  return result;
}

Indices gather(const Indices& from, const Indices& positions) {
  Indices result;
  for (const auto i : positions) result.push_back(from[static_cast<std::size_t>(i)]);
  return result;
}

std::array<double, 3> bin_ends(std::span<const std::int64_t> voxels, SizeBins bins) {
  if (bins == SizeBins::Paper || voxels.empty()) return {33'619, 67'891, 128'314};
  std::vector<std::int64_t> sorted(voxels.begin(), voxels.end());
  std::ranges::sort(sorted);
  std::array<double, 3> ends{};
  for (std::size_t quarter = 0; quarter < 3; ++quarter) {
    // The last member of the quarter, so that equal sizes are never split.
    const auto last = (sorted.size() * (quarter + 1) + 3) / 4 - 1;
    ends[quarter] = static_cast<double>(sorted[last]);
  }
  return ends;
}

}  // namespace

Indices Splits::train_of(std::size_t fold) const {
  const auto& outer_fold = outer.at(fold);
  std::set<std::int64_t> train;
  for (const auto& inner : outer_fold.inner) {
    train.insert(inner.train.begin(), inner.train.end());
    train.insert(inner.val.begin(), inner.val.end());
  }
  if (outer_fold.inner.empty()) {
    for (std::size_t i = 0; i < labels.size(); ++i) train.insert(static_cast<std::int64_t>(i));
    for (const auto index : outer_fold.test) train.erase(index);
  }
  return {train.begin(), train.end()};
}

std::vector<Fold> stratified_folds(std::span<const std::string> labels, int folds,
                                   std::uint32_t seed) {
  std::set<std::string> small;
  auto result = folds_of(labels, folds, seed, small);
  warn_small(small, folds);
  return result;
}

Splits nested_folds(std::span<const std::string> labels, int outer, int inner, std::uint32_t seed) {
  Splits splits;
  splits.seed = seed;
  splits.labels.assign(labels.begin(), labels.end());
  std::set<std::string> small;
  for (auto& fold : folds_of(labels, outer, seed, small)) {
    OuterFold target;
    target.test = std::move(fold.test);
    if (inner > 0) {
      std::vector<std::string> own;
      for (const auto i : fold.train) own.push_back(labels[static_cast<std::size_t>(i)]);
      for (const auto& part : folds_of(own, inner, seed, small)) {
        target.inner.push_back({gather(fold.train, part.train), gather(fold.train, part.test)});
      }
    }
    splits.outer.push_back(std::move(target));
  }
  warn_small(small, std::max(outer, inner));
  return splits;
}

std::vector<std::string> size_bins(std::span<const std::int64_t> voxels, SizeBins bins) {
  const auto ends = bin_ends(voxels, bins);
  std::vector<std::string> names;
  for (const auto size : voxels) {
    const auto bin = std::ranges::lower_bound(ends, static_cast<double>(size)) - ends.begin();
    names.push_back(fmt::format("Q{}", bin + 1));
  }
  return names;
}

std::vector<std::string> strata(const Cohort& cohort, SizeBins bins) {
  std::vector<std::int64_t> voxels;
  for (const auto& subject : cohort.subjects) {
    check(
        subject.lesion_voxels >= 0, ErrorKind::Input,
        "[data.folds] the lesion size of {} is not known; expected the number of its voxels, or a "
        "mask to count them in.",
        subject.id);
    voxels.push_back(subject.lesion_voxels);
  }
  auto labels = size_bins(voxels, bins);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    labels[i] += "_" + cohort.subjects[i].acquisition;
  }
  return labels;
}

}  // namespace ubique::data
