// SPDX-License-Identifier: Apache-2.0
// A pre-normed decoder-only network as decoding steps of our own read it, on the CPU (host_step.h)
// or by a device's kernels (steps/device_step.h): weights as they are, small tensors in f32. A
// family fills it from its own layers.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <vector>

#include "ubique/kernels/quant/quantized_weight.h"
#include "ubique/nn/layers/linear.h"
#include "ubique/nn/layers/mlp.h"

namespace ubique::nn {

/// A linear layer: `weight` in f32, bf16 or f16, or `quantized` in int8 or int4.
struct HostLinear {
  at::Tensor weight = {};  // (out, in)
  std::shared_ptr<const kernels::QuantizedWeight> quantized = {};
  at::Tensor bias = {};  // (out) f32; undefined = none
  std::int64_t out = 0, in = 0;
};

/// Nothing if the layer has adapters, or its weight is in another form.
std::optional<HostLinear> host_linear(const LinearWeights& weights);

struct HostNormWeights {
  at::Tensor weight = {}, bias = {};  // (H) f32; undefined = 1 and 0
};

struct HostBlock {
  HostNormWeights first_norm = {}, second_norm = {};  ///< a parallel block has no second one
  std::vector<HostLinear> qkv = {};                   ///< one fused product, or three
  HostLinear output = {}, down = {};
  std::vector<HostLinear> inner = {};   ///< the MLP's first layer, or gate and up
  at::Tensor q_norm = {}, k_norm = {};  // (size) f32; undefined = none
  std::int64_t window = 0;              ///< 0 = none
};

struct HostNetwork {
  std::int64_t hidden = 0, heads = 1, kv_heads = 1, head_size = 0;
  bool center = true;  ///< layer norm; false = RMS norm
  double epsilon = 1e-5;
  Activation activation = Activation::Silu;
  bool gated = false, parallel = false;
  bool by_head = false;  ///< a fused product has query, key and value of each head together
  at::Tensor cos = {}, sin = {};           // rope_tables(); undefined = no rotation
  at::Tensor tokens = {}, positions = {};  // (V, H), (context, H) in f32 or bf16, or undefined
  std::vector<HostBlock> blocks = {};
  HostNormWeights final_norm = {};
  HostLinear head = {};
};

}  // namespace ubique::nn
