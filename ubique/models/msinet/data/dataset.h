// SPDX-License-Identifier: Apache-2.0
// Pictures with target maps as batches, resized to the network's input size. Small sets are cached
// in memory after the first read.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "ubique/data/images/datasets.h"
#include "ubique/engine/contract/dataset.h"
#include "ubique/models/msinet/net/config.h"

namespace ubique::msinet {

class SaliencyDataset final : public engine::Dataset {
 public:
  /// `flip`: mirrors half of the samples, drawn from each sample's own random stream.
  SaliencyDataset(std::vector<data::SaliencySample> samples, const data::SaliencyData& from,
                  const Preprocessing& how, bool flip);

  std::int64_t size() const override { return static_cast<std::int64_t>(samples_.size()); }
  /// image f32 (B, 3, H, W), 0 to 255; map f32 (B, H, W).
  engine::Batch load(const std::vector<std::int64_t>& indices,
                     const engine::SampleRandoms& randoms) const override;
  std::string fingerprint() const override;

  /// Does every sample have fixations?
  bool has_fixations() const;
  /// Fixations of a sample in coordinates of the resized picture.
  std::vector<data::Fixation> points(std::int64_t index) const;

  const data::SaliencySample& sample(std::int64_t index) const {
    return samples_.at(static_cast<std::size_t>(index));
  }

 private:
  struct Prepared {
    data::Image image, map;
  };
  using Shared = std::shared_ptr<const Prepared>;
  Shared read(std::size_t index) const;
  Shared get(std::size_t index) const;

  std::vector<data::SaliencySample> samples_;
  data::FrameSize frame_;
  data::FixationBlur blur_;
  float pad_;
  bool flip_, cached_;
  mutable std::mutex mutex_;
  mutable std::vector<Shared> cache_;
};

/// A copy, (H, W, C) to (C, H, W).
at::Tensor tensor_of(const data::Image& image);
/// A copy of a map (H, W), f32 on the host.
data::Image image_of(const at::Tensor& map);

}  // namespace ubique::msinet
