// SPDX-License-Identifier: Apache-2.0
// The network as a torch module. State-dict names are the published network's scopes with dots:
// conv1.conv1_1.weight, aspp.conv2.bias, decoder.conv4.weight. Device-independent; the caller sets
// the memory format that the plan chose.
#pragma once

#include <torch/nn/module.h>

#include <memory>
#include <optional>
#include <vector>

#include "ubique/base/numbers/random.h"
#include "ubique/engine/contract/batch.h"
#include "ubique/kernels/conv/convolve2d.h"
#include "ubique/models/msinet/net/config.h"
#include "ubique/plan/needs.h"

namespace ubique::msinet {

/// Stride 1, zero padding that keeps the size.
class Convolution final : public torch::nn::Module {
 public:
  explicit Convolution(const LayerSpec& spec);
  at::Tensor forward(const at::Tensor& x) { return run(x, false); }
  at::Tensor forward_relu(const at::Tensor& x) { return run(x, true); }
  void freeze(at::ScalarType dtype, at::MemoryFormat format);  ///< packs, then releases weights
  void release_weights();  ///< frees weight and bias, of which a packed copy exists

  at::Tensor weight, bias;  ///< (O, I, k, k), (O)

 private:
  at::Tensor run(const at::Tensor& x, bool relu);

  std::int64_t dilation_;
  kernels::FrozenConvolution frozen_;
};

/// Intermediate results of a forward pass, for tests and export checks.
struct Taps {
  std::vector<at::Tensor> stages;  ///< encoder outputs that enter the ASPP module: A, B, C
  at::Tensor aspp;                 ///< (B, width, H/8, W/8)
  at::Tensor decoder;              ///< (B, 1, H, W), before scaling to 0..1
  at::Tensor map;                  ///< (B, 1, H, W), each 0 to 1
};

class MsiNet final : public torch::nn::Module {
 public:
  /// Weights are zero until initialize() or engine::load_state().
  explicit MsiNet(MsiNetConfig config);

  const MsiNetConfig& config() const { return config_; }
  bool channels_last() const { return channels_last_; }
  void set_channels_last(bool wanted) { channels_last_ = wanted; }

  /// For inference: from now on computes in `dtype`, without gradients and ignoring autocast, with
  /// weights packed once for their device. The parameters are empty afterwards.
  void freeze(at::ScalarType dtype);

  /// Pictures (B, 3, H, W), RGB, 0 to 255, u8 or float, sides multiples of config().reduction(), to
  /// maps (B, 1, H, W), each from 0 to 1, f32 (f64 for an f64 network). Under autocast the
  /// convolutions run in its dtype. Input error for another shape.
  at::Tensor forward(const at::Tensor& image);
  Taps forward_taps(const at::Tensor& image);

 private:
  at::MemoryFormat format() const;
  std::int64_t local_width() const;  // channels of all ASPP branches except the global one
  std::vector<at::Tensor> encode(at::Tensor x);
  at::Tensor aspp(const std::vector<at::Tensor>& stages);
  at::Tensor fuse(const at::Tensor& local, const at::Tensor& global);
  at::Tensor decode(at::Tensor x);

  MsiNetConfig config_;
  std::optional<at::ScalarType> frozen_;
  bool channels_last_ = false;
  std::vector<std::vector<std::shared_ptr<Convolution>>> stages_;
  std::vector<std::shared_ptr<Convolution>> branches_;  // of the ASPP module, the global one last
  std::shared_ptr<Convolution> fusion_;
  kernels::FrozenConvolution fusion_local_, fusion_global_;
  std::vector<std::shared_ptr<Convolution>> decoder_;
};

/// Each sample of (B, 1, H, W) shifted and scaled to 0..1; f32 (f64 for f64 input).
at::Tensor min_max(const at::Tensor& map);

/// Glorot-uniform kernels and zero biases, drawn on the host: the same bits on every device.
void initialize(MsiNet& network, const Random& random);

/// Memory and arithmetic of training and inference for one picture of that height and width.
plan::Needs needs_of(const MsiNetConfig& config, const std::array<std::int64_t, 2>& size);

}  // namespace ubique::msinet
