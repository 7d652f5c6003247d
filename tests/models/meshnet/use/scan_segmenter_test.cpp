// SPDX-License-Identifier: Apache-2.0
// From a scan to labels on its own grid, through a conformed grid whose axes differ in spacing.
#include "ubique/models/meshnet/use/scan_segmenter.h"

#include <cmath>

#include "tests/data/scans/grids.h"
#include "tests/models/meshnet/net/network_samples.h"

using namespace ubique;
using namespace ubique::meshnet;

namespace {

/// A network that labels every voxel brighter than one half.
MeshNetFile threshold_network(const Preprocessing& preprocessing) {
  MeshNetConfig config;
  config.channels = 1;
  config.dilations = {1};
  config.norm = Norm::None;
  config.preprocessing = preprocessing;
  MeshNet network(config);
  const at::NoGradGuard no_gradients;
  network.blocks[0]->conv->weight.zero_();
  network.blocks[0]->conv->weight[0][0][1][1][1] = 1;
  network.blocks[0]->conv->bias.zero_();
  network.classifier->weight.copy_(at::tensor({-1.0F, 1.0F}).view({2, 1, 1, 1, 1}));
  network.classifier->bias.copy_(at::tensor({0.5F, -0.5F}));
  return {config, state_of(network), "test"};
}

/// The label of the conformed voxel nearest to a voxel of the scan; 0 outside their grid.
int nearest_label(const data::LabelMap& conformed, const data::Affine& to_conformed,
                  const data::Shape3& voxel) {
  data::Shape3 at{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    double x = to_conformed[axis][3];
    for (std::size_t from = 0; from < 3; ++from) {
      x += to_conformed[axis][from] * static_cast<double>(voxel[from]);
    }
    at[axis] = static_cast<std::int64_t>(std::floor(x + 0.5));
    if (at[axis] < 0 || at[axis] >= conformed.shape[axis]) return 0;
  }
  return conformed.at(at[0], at[1], at[2]);
}

}  // namespace

TEST_CASE("scan segmenter: labels of an uneven grid come back to the scan's voxels") {
  const Preprocessing how{"nibabel_conform", {20, 16, 18}, {0.9, 1.1, 1.0}};
  const auto file = threshold_network(how);
  const auto affine = test::straight({-1.57, 1.23, 1.07}, {3, -4, 5});  // no voxel halfway
  const auto scan = test::scan_of(test::noise({12, 14, 16}, affine));
  const auto prepared = prepare_scan(scan, how, 2);
  ScanSegmenter segmenter(file, {}, 1);
  const auto found = segmenter.segment(prepared, {});

  const auto& conformed = found.conformed;
  CHECK(data::voxel_volume(conformed.affine) == doctest::Approx(0.99));
  std::int64_t inside = 0;
  for (std::size_t i = 0; i < conformed.values.size(); ++i) {
    if (std::abs(prepared.input.values[i] - 0.5F) < 1e-5F) continue;
    CHECK(conformed.values[i] == (prepared.input.values[i] > 0.5F ? 1 : 0));
    inside += conformed.values[i];
  }
  CHECK(inside > 100);
  CHECK(measure_volumes(conformed, {}, 2).at(0).mm3 ==
        doctest::Approx(0.99 * static_cast<double>(std::ranges::count(conformed.values, 1))));

  REQUIRE(found.native.has_value());
  CHECK(found.native->shape == scan.volume.shape);
  CHECK(found.native->affine == scan.volume.affine);
  const auto to_conformed = data::multiply(data::inverse(conformed.affine), affine);
  std::int64_t differing = 0;
  for (std::int64_t i = 0; i < 12; ++i) {
    for (std::int64_t j = 0; j < 14; ++j) {
      for (std::int64_t k = 0; k < 16; ++k) {
        const auto expected = nearest_label(conformed, to_conformed, {i, j, k});
        if (found.native->at(i, j, k) != expected) ++differing;
      }
    }
  }
  CHECK(differing == 0);
}
