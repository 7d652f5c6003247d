// SPDX-License-Identifier: Apache-2.0
// Connected components by run lengths: each row is cut into runs of non-zero voxels, and runs that
// touch in neighbouring rows are united (union-find). One pass over the voxels.
#include "ubique/data/scans/volume/components.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ubique/base/error.h"
#include "ubique/base/text/text.h"

namespace ubique::data {
namespace {

constexpr std::string_view kMinSize = "min-size";

struct Run {
  std::int64_t row;         // i * shape[1] + j
  std::int64_t begin, end;  // along k
};

/// Union-find over runs; the root of a component is its first run.
class RunComponents {
 public:
  explicit RunComponents(const LabelMap& labels) : shape_(labels.shape) {
    find_runs(labels);
    parents_.resize(runs_.size());
    std::iota(parents_.begin(), parents_.end(), std::size_t{0});
    for (std::int64_t i = 0; i < shape_[0]; ++i) {
      for (std::int64_t j = 0; j < shape_[1]; ++j) {
        if (j > 0) unite_rows(i, j, i, j - 1);
        for (auto other = j - 1; other <= j + 1 && i > 0; ++other) {
          if (other >= 0 && other < shape_[1]) unite_rows(i, j, i - 1, other);
        }
      }
    }
  }

  const std::vector<Run>& runs() const { return runs_; }

  std::size_t root_of(std::size_t run) {
    while (parents_[run] != run) run = parents_[run] = parents_[parents_[run]];
    return run;
  }

  /// Voxels of each component, at the index of its root; 0 at all other runs.
  std::vector<std::int64_t> sizes() {
    std::vector<std::int64_t> sizes(runs_.size());
    for (std::size_t run = 0; run < runs_.size(); ++run) {
      sizes[root_of(run)] += runs_[run].end - runs_[run].begin;
    }
    return sizes;
  }

 private:
  void find_runs(const LabelMap& labels) {
    const auto length = shape_[2];
    for (std::int64_t row = 0; row < shape_[0] * shape_[1]; ++row) {
      first_of_row_.push_back(runs_.size());
      const auto* begin = labels.values.data() + row * length;
      const auto* end = begin + length;
      for (const auto* at = begin; at != end;) {
        const auto* start = std::find_if(at, end, [](auto label) { return label != 0; });
        at = std::find(start, end, 0);
        if (start != at) runs_.push_back({row, start - begin, at - begin});
      }
    }
    first_of_row_.push_back(runs_.size());
  }

  /// Unites the runs of two rows that overlap or touch at a corner.
  void unite_rows(std::int64_t i, std::int64_t j, std::int64_t other_i, std::int64_t other_j) {
    const auto a_row = static_cast<std::size_t>(i * shape_[1] + j);
    const auto b_row = static_cast<std::size_t>(other_i * shape_[1] + other_j);
    auto a = first_of_row_[a_row], b = first_of_row_[b_row];
    while (a < first_of_row_[a_row + 1] && b < first_of_row_[b_row + 1]) {
      if (runs_[a].begin <= runs_[b].end && runs_[b].begin <= runs_[a].end) unite(a, b);
      runs_[a].end < runs_[b].end ? ++a : ++b;
    }
  }

  void unite(std::size_t a, std::size_t b) {
    const auto first = root_of(a), second = root_of(b);
    parents_[std::max(first, second)] = std::min(first, second);
  }

  Shape3 shape_;
  std::vector<Run> runs_;
  std::vector<std::size_t> first_of_row_, parents_;
};

std::int64_t count_of(const std::vector<std::int64_t>& sizes) {
  return static_cast<std::int64_t>(sizes.size()) - std::count(sizes.begin(), sizes.end(), 0);
}

/// The roots of the components that are kept.
std::vector<bool> kept_roots(const std::vector<std::int64_t>& sizes, const ComponentPolicy& policy,
                             double voxel) {
  std::vector<bool> kept(sizes.size());
  if (policy.kind == ComponentPolicy::Kind::Largest) {
    const auto largest = std::max_element(sizes.begin(), sizes.end());  // the first of equals
    if (largest != sizes.end()) kept[static_cast<std::size_t>(largest - sizes.begin())] = true;
    return kept;
  }
  // Rounding of the voxel volume must not drop a component of exactly the minimum size.
  const double least = policy.min_mm3 * (1 - 1e-9);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    kept[i] = sizes[i] > 0 && static_cast<double>(sizes[i]) * voxel >= least;
  }
  return kept;
}

}  // namespace

ComponentPolicy parse_component_policy(std::string_view text) {
  if (text == "none") return {};
  if (text == "largest") return {ComponentPolicy::Kind::Largest, 0};
  const auto colon = text.find(':');
  const auto name = text.substr(0, colon);
  check(name == kMinSize, ErrorKind::Usage,
        "[data.components] no such policy; got '{}', expected none, largest or min-size:MM3.{}",
        text, hint(name, {"none", "largest", std::string(kMinSize)}));
  const auto size =
      colon == std::string_view::npos ? std::nullopt : parse_number(text.substr(colon + 1));
  check(size && *size >= 0, ErrorKind::Usage,
        "[data.components] min-size needs a volume; got '{}', expected for example min-size:50 "
        "(mm³).",
        text);
  return {ComponentPolicy::Kind::MinSize, *size};
}

std::string to_string(const ComponentPolicy& policy) {
  if (policy.kind == ComponentPolicy::Kind::None) return "none";
  if (policy.kind == ComponentPolicy::Kind::Largest) return "largest";
  return fmt::format("{}:{}", kMinSize, policy.min_mm3);
}

std::int64_t keep_components(LabelMap& labels, const ComponentPolicy& policy) {
  if (policy.kind == ComponentPolicy::Kind::None) return 0;
  RunComponents components(labels);
  const auto sizes = components.sizes();
  const auto kept = kept_roots(sizes, policy, voxel_volume(labels.affine));
  for (std::size_t run = 0; run < components.runs().size(); ++run) {
    if (kept[components.root_of(run)]) continue;
    const auto& [row, begin, end] = components.runs()[run];
    auto* voxels = labels.values.data() + row * labels.shape[2];
    std::fill(voxels + begin, voxels + end, std::uint8_t{0});
  }
  return count_of(sizes) - std::count(kept.begin(), kept.end(), true);
}

std::int64_t count_components(const LabelMap& labels) {
  return count_of(RunComponents(labels).sizes());
}

}  // namespace ubique::data
