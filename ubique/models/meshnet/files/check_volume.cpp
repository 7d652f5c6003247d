// SPDX-License-Identifier: Apache-2.0
// Smooth blobs first, then blocks of synthetic heads at several places and intensities.
#include "ubique/models/meshnet/files/check_volume.h"

#include <ATen/ATen.h>

#include <array>

#include "ubique/base/numbers/random.h"
#include "ubique/data/scans/conform/normalize.h"
#include "ubique/data/scans/phantom/phantom.h"

namespace ubique::meshnet {
namespace {

constexpr std::array<std::int64_t, 3> kBlock = {17, 18, 37};

at::Tensor uniform(at::IntArrayRef shape, std::uint64_t seed) {
  auto tensor = at::empty(shape, at::kFloat);
  Random(seed).fill_uniform(
      {tensor.mutable_data_ptr<float>(), static_cast<std::size_t>(tensor.numel())});
  return tensor;
}

/// With some noise; on pure noise a trained network's output says little.  (1, C, D, H, W)
at::Tensor smooth_blobs(std::int64_t channels) {
  const auto blobs = at::upsample_trilinear3d(uniform({1, channels, 5, 5, 9}, 11), kBlock,
                                              /*align_corners=*/true);
  return blobs * 0.9 + uniform(blobs.sizes(), 12) * 0.1;
}

/// A whole head with a lesion, normalised as the network's scans are.  (1, C, D, H, W)
at::Tensor synthetic_head(const MeshNetConfig& config, data::Contrast contrast) {
  data::PhantomOptions options;
  options.contrast = contrast;
  options.varied_grids = false;
  auto image = data::make_phantom(options, 0).image;
  const auto& how = config.preprocessing;
  data::normalize(image, data::parse_normalization(how.normalization), how.low_quantile,
                  how.high_quantile, 1);
  const auto& shape = image.shape;
  const auto head =
      at::from_blob(image.values.data(), {1, 1, shape[0], shape[1], shape[2]}, at::kFloat);
  return head.repeat({1, config.in_channels, 1, 1, 1});
}

/// `place`: 0 at the first corner, 1 at the last.
at::Tensor block_of(at::Tensor head, double place) {
  for (std::size_t axis = 0; axis < kBlock.size(); ++axis) {
    const auto dim = static_cast<std::int64_t>(axis) + 2;
    const auto room = static_cast<double>(head.size(dim) - kBlock[axis]);
    head = head.narrow(dim, static_cast<std::int64_t>(place * room), kBlock[axis]);
  }
  return head.contiguous();
}

/// Keeps the volume with the most classes.
class BestVolume {
 public:
  BestVolume(const LabelsOf& labels_of, std::int64_t classes)
      : labels_of_(labels_of), classes_(classes) {}

  void offer(const at::Tensor& volume) {
    if (complete()) return;
    const auto seen = std::get<0>(at::_unique(labels_of_(volume))).numel();
    if (seen <= seen_) return;
    seen_ = seen;
    best_ = volume;
  }
  bool complete() const { return seen_ >= classes_; }
  const at::Tensor& best() const { return best_; }

 private:
  const LabelsOf& labels_of_;
  std::int64_t classes_, seen_ = 0;
  at::Tensor best_;
};

}  // namespace

at::Tensor check_volume(const MeshNetConfig& config, const LabelsOf& labels_of) {
  BestVolume volumes(labels_of, config.classes);
  volumes.offer(smooth_blobs(config.in_channels));
  for (const auto contrast : {data::Contrast::T2, data::Contrast::T1}) {
    if (volumes.complete()) break;
    const auto head = synthetic_head(config, contrast);
    for (const double place : {0.5, 0.25}) {
      for (const double intensity : {1.0, 0.6, 1.6})
        volumes.offer(block_of(head, place) * intensity);
    }
  }
  return volumes.best();
}

}  // namespace ubique::meshnet
