// SPDX-License-Identifier: Apache-2.0
// A MeshNet for inference: batch norms folded, activations fused, logits computed a few planes at a
// time. Memory is two activations, or when streaming a few planes per layer.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

#include "ubique/models/meshnet/net/weights.h"

namespace ubique::meshnet {

enum class SegmenterMode {
  Auto,    ///< Whole if it fits into the memory limit, else Stream
  Whole,   ///< layer by layer over the whole volume
  Stream,  ///< all layers together, some planes at a time: same results, a fraction of the memory
};

struct SegmenterOptions {
  c10::Device device = c10::kCPU;
  c10::ScalarType dtype = c10::kFloat;  ///< f32, f16 or bf16
  bool channels_last = false;
  std::int64_t pad_channels_to = 1;  ///< 8 for half precision on tensor cores
  SegmenterMode mode = SegmenterMode::Auto;
  std::int64_t memory_limit = 0;  ///< bytes for activations; 0 = no limit
  bool check_finite = true;       ///< Device error if a logit is NaN or infinite
};

class Segmenter {
 public:
  explicit Segmenter(const MeshNetFile& file, const SegmenterOptions& options = {});
  ~Segmenter();
  Segmenter(Segmenter&&) noexcept;
  Segmenter& operator=(Segmenter&&) noexcept;

  /// The most likely class of every voxel, u8 (D, H, W); the lowest on ties. The image is
  /// (D, H, W) or (1, 1, D, H, W), any float type, on the options' device.
  at::Tensor labels(const at::Tensor& image);
  /// Softmax, f32 (classes, D, H, W).
  at::Tensor probabilities(const at::Tensor& image);
  /// Softmax of one class alone, f32 (D, H, W).
  at::Tensor probability(const at::Tensor& image, std::int64_t one_class);
  /// Logits, f32 (classes, D, H, W). Holds all of them in memory; for tests and comparisons.
  at::Tensor logits(const at::Tensor& image);

  const MeshNetConfig& config() const;  ///< after folding
  /// Activation bytes for a volume of this shape in the mode that it would run in.
  std::int64_t activation_bytes(std::int64_t depth, std::int64_t height, std::int64_t width) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ubique::meshnet
