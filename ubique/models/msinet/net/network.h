// SPDX-License-Identifier: Apache-2.0
// The network as a torch module. State-dict names are the published network's scopes with dots:
// conv1.conv1_1.weight, aspp.conv2.bias, decoder.conv4.weight. Knows no device; which memory format
// it computes in is for whoever has the plan.
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

/// Stride 1, zeros around it so that the size stays.
class Convolution final : public torch::nn::Module {
 public:
  explicit Convolution(const LayerSpec& spec);
  at::Tensor forward(const at::Tensor& x) { return run(x, false); }
  at::Tensor forward_relu(const at::Tensor& x) { return run(x, true); }
  void freeze(at::ScalarType dtype, at::MemoryFormat format);  ///< and gives up the weights
  void give_up_weights();                                      ///< they stand elsewhere now

  at::Tensor weight, bias;  ///< (O, I, k, k), (O)

 private:
  at::Tensor run(const at::Tensor& x, bool relu);

  std::int64_t dilation_;
  kernels::FrozenConvolution frozen_;
};

/// What a forward pass goes through, for those who want to look.
struct Taps {
  std::vector<at::Tensor> stages;  ///< of the encoder that the ASPP module sees: A, B, C
  at::Tensor aspp;                 ///< (B, width, H/8, W/8)
  at::Tensor decoder;              ///< (B, 1, H, W), before it is brought to 0..1
  at::Tensor map;                  ///< (B, 1, H, W), each 0 to 1
};

class MsiNet final : public torch::nn::Module {
 public:
  /// Weights are zero until initialize() or engine::load_state().
  explicit MsiNet(MsiNetConfig config);

  const MsiNetConfig& config() const { return config_; }
  bool channels_last() const { return channels_last_; }
  void set_channels_last(bool wanted) { channels_last_ = wanted; }

  /// From now on it computes in `dtype`, without gradients and whatever autocast says, with weights
  /// arranged once for the device they are on. Its parameters are empty from then on.
  void freeze(at::ScalarType dtype);

  /// Maps (B, 1, H, W), f32 (f64 in f64), each from 0 to 1, of pictures (B, 3, H, W): RGB, 0 to
  /// 255, u8 or float, sides that are multiples of config().reduction(). Under autocast the
  /// convolutions run in its dtype. Input error for another shape.
  at::Tensor forward(const at::Tensor& image);
  Taps forward_taps(const at::Tensor& image);

 private:
  at::MemoryFormat format() const;
  std::int64_t local_width() const;  // channels of all branches but the global one
  std::vector<at::Tensor> encode(at::Tensor x);
  at::Tensor pyramid(const std::vector<at::Tensor>& stages);
  at::Tensor mix(const at::Tensor& local, const at::Tensor& global);
  at::Tensor decode(at::Tensor x);

  MsiNetConfig config_;
  std::optional<at::ScalarType> frozen_;
  bool channels_last_ = false;
  std::vector<std::vector<std::shared_ptr<Convolution>>> stages_;
  std::vector<std::shared_ptr<Convolution>> branches_;  // of the ASPP module, the global one last
  std::shared_ptr<Convolution> mixture_;
  kernels::FrozenConvolution mixture_local_, mixture_global_;
  std::vector<std::shared_ptr<Convolution>> decoder_;
};

/// (B, 1, H, W) of any float type to f32 (f64 stays), each sample shifted and scaled to 0..1.
at::Tensor min_max(const at::Tensor& map);

/// Fresh weights from the host's generator, the same bits on every device and machine: kernels
/// uniform after Glorot, biases zero.
void initialize(MsiNet& network, const Random& random);

/// What training and inference take for one picture of that height and width.
plan::Needs needs_of(const MsiNetConfig& config, const std::array<std::int64_t, 2>& size);

}  // namespace ubique::msinet
