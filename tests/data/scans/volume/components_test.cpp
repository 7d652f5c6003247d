// SPDX-License-Identifier: Apache-2.0
// Connected components, compared with a plain flood fill.
#include "ubique/data/scans/volume/components.h"

#include <deque>
#include <set>

#include "tests/base/scratch.h"
#include "tests/data/scans/grids.h"

using namespace ubique;
using data::LabelMap;

namespace {

LabelMap empty_labels(const data::Shape3& shape) {
  return test::grid_of<std::uint8_t>(shape, test::straight({1, 1, 2}),
                                     [](auto, auto, auto) { return 0; });
}

/// Components by flood fill from each voxel: slow, and independent of the code under test.
std::int64_t flood_count(LabelMap labels) {
  std::int64_t count = 0;
  const auto [ni, nj, nk] = labels.shape;
  const auto inside = [&](const data::Shape3& v) {
    return v[0] >= 0 && v[1] >= 0 && v[2] >= 0 && v[0] < ni && v[1] < nj && v[2] < nk;
  };
  for (std::int64_t start = 0; start < ni * nj * nk; ++start) {
    if (labels.values[static_cast<std::size_t>(start)] == 0) continue;
    ++count;
    std::deque<data::Shape3> open{{start / (nj * nk), start / nk % nj, start % nk}};
    while (!open.empty()) {
      const auto voxel = open.front();
      open.pop_front();
      if (!inside(voxel) || labels.at(voxel[0], voxel[1], voxel[2]) == 0) continue;
      labels.at(voxel[0], voxel[1], voxel[2]) = 0;
      for (int step = 0; step < 27; ++step) {
        open.push_back(
            {voxel[0] + step / 9 - 1, voxel[1] + step / 3 % 3 - 1, voxel[2] + step % 3 - 1});
      }
    }
  }
  return count;
}

}  // namespace

TEST_CASE("components: the count is that of a plain flood, from sparse to dense") {
  const data::Shape3 shape{13, 9, 21};
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Random random(seed);
    const double share = 0.01 + 0.02 * static_cast<double>(seed % 12);
    auto labels = empty_labels(shape);
    for (std::size_t i = 0; i < labels.values.size(); ++i) {
      if (random.bernoulli(i, share)) labels.values[i] = static_cast<std::uint8_t>(1 + i % 3);
    }
    CAPTURE(seed);
    CHECK(data::count_components(labels) == flood_count(labels));
  }
}

TEST_CASE("components: voxels that share only a corner are connected") {
  auto labels = empty_labels({3, 3, 3});
  labels.at(0, 0, 0) = labels.at(1, 1, 1) = labels.at(2, 0, 2) = 1;
  CHECK(data::count_components(labels) == 1);
  labels.at(1, 1, 1) = 0;
  CHECK(data::count_components(labels) == 2);
}

TEST_CASE("components: the end of one row and the start of the next do not touch") {
  auto labels = empty_labels({1, 2, 6});
  labels.at(0, 0, 5) = labels.at(0, 1, 0) = 1;
  CHECK(data::count_components(labels) == 2);
  labels = empty_labels({2, 5, 3});
  labels.at(0, 4, 0) = labels.at(1, 0, 0) = 1;
  CHECK(data::count_components(labels) == 2);
}

TEST_CASE("components: a shape that joins only in its last row is one component") {
  auto labels = empty_labels({5, 7, 1});
  for (std::int64_t j = 0; j < 7; j += 2) {  // a comb, joined by its last row
    for (std::int64_t i = 0; i < 5; ++i) labels.at(i, j, 0) = 1;
  }
  CHECK(data::count_components(labels) == 4);
  for (std::int64_t j = 0; j < 7; ++j) labels.at(4, j, 0) = 1;
  CHECK(data::count_components(labels) == 1);
}

TEST_CASE("components: the largest component is kept, with all its labels") {
  auto labels = empty_labels({10, 10, 10});
  labels.at(0, 0, 0) = 1;
  for (std::int64_t k = 2; k < 6; ++k) labels.at(5, 5, k) = static_cast<std::uint8_t>(k);
  for (std::int64_t k = 0; k < 3; ++k) labels.at(9, 0, k) = 9;
  const auto policy = data::parse_component_policy("largest");
  CHECK(data::keep_components(labels, policy) == 2);
  CHECK(data::count_components(labels) == 1);
  const std::multiset<int> left(labels.values.begin(), labels.values.end());
  CHECK(left.count(0) == 996);
  CHECK(left.count(3) == 1);
  CHECK(data::keep_components(labels, policy) == 0);
}

TEST_CASE("components: those below a volume are removed, those of exactly that volume are kept") {
  auto labels = empty_labels({10, 10, 10});  // voxels of 2 mm³
  labels.at(0, 0, 0) = 1;
  labels.at(5, 5, 2) = labels.at(5, 5, 3) = 1;
  labels.at(9, 0, 0) = labels.at(9, 0, 1) = labels.at(9, 0, 2) = 1;
  auto copy = labels;
  CHECK(data::keep_components(copy, data::parse_component_policy("min-size:4")) == 1);
  CHECK(data::count_components(copy) == 2);
  copy = labels;
  CHECK(data::keep_components(copy, data::parse_component_policy("min-size:4.1")) == 2);
  CHECK(copy.at(9, 0, 1) == 1);
  copy = labels;
  CHECK(data::keep_components(copy, data::parse_component_policy("none")) == 0);
  CHECK(copy.values == labels.values);
}

TEST_CASE("components: an empty map has none") {
  auto labels = empty_labels({4, 4, 4});
  CHECK(data::count_components(labels) == 0);
  CHECK(data::keep_components(labels, data::parse_component_policy("largest")) == 0);
  CHECK(data::keep_components(labels, data::parse_component_policy("min-size:1")) == 0);
}

TEST_CASE("components: policies are read as they are printed, others are refused") {
  for (const auto* text : {"none", "largest", "min-size:50", "min-size:0.5"}) {
    CHECK(data::to_string(data::parse_component_policy(text)) == text);
  }
  const auto refusal = [](const char* text) {
    return test::refusal_of(ErrorKind::Usage, [&] { data::parse_component_policy(text); });
  };
  CHECK(test::contains(refusal("largst"), "Did you mean 'largest'"));
  for (const auto* text :
       {"", "min-size", "min-size:", "min-size:x", "min-size:-1", "min-size:nan", "largest:1"}) {
    CAPTURE(text);
    refusal(text);
  }
}
