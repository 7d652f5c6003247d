// SPDX-License-Identifier: Apache-2.0
// A pass over one new token of each of a few texts by kernels that the device brings for it
// (kernels/decoder/decode_step.h): five for a block, none of which waits for the host, so that the
// whole pass can be recorded. The counterpart of HostStep.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <span>
#include <vector>

#include "ubique/kernels/decoder/decode_step.h"
#include "ubique/nn/decode/host_network.h"
#include "ubique/nn/layers/kv_cache.h"

namespace ubique::nn {

/// What a pass writes, always to the same memory.
struct DeviceStepResults {
  at::Tensor logits;     // (B, V) f32
  at::Tensor likeliest;  // (B, 2) f32, as likeliest_of()
  at::Tensor next;       // (2, B) i64: inputs of the next pass, if the likeliest tokens are chosen
};

class DeviceStep {
 public:
  /// For `rows` texts; null if the device has no kernels for such a network, or they do not give
  /// the numbers of plain ops: tried once per process and shape.
  static std::unique_ptr<DeviceStep> make(HostNetwork network, std::int64_t rows);

  /// Allocates what passes over caches of this capacity need besides.
  void prepare(std::int64_t capacity);
  /// `inputs` (2, B) i64 are ids and positions, `caches` one for each block. prepare() first.
  void run(const at::Tensor& inputs, std::span<const KvCache> caches,
           const DeviceStepResults& results) const;
  DeviceStepResults make_results() const;

 private:
  explicit DeviceStep(HostNetwork network, std::int64_t rows);
  friend std::vector<at::Tensor> try_device_step(const HostNetwork& network,
                                                 const at::Tensor& inputs,
                                                 std::span<const KvCache> caches);

  void attention(const HostBlock& block, const KvCache& cache, const at::Tensor& inputs) const;
  void feed_forward(const HostBlock& block) const;
  void linear(const at::Tensor& x, const HostNormWeights* norm, std::span<const HostLinear> layers,
              kernels::DecodeProduct product) const;

  HostNetwork network_;
  std::int64_t rows_;
  kernels::DecodeHeads heads_;
  std::int64_t capacity_ = 0;
  kernels::DecodeScratch scratch_;
  // Rows of the residual stream before and after attention, and what is between them.
  at::Tensor x_, attended_, qkv_, mixed_, inner_, best_;
};

/// Logits (B, V), keys and values of the new tokens, and the logits of the likeliest tokens, by the
/// kernels (try_device_step) and by plain ops.
std::vector<at::Tensor> try_device_step(const HostNetwork& network, const at::Tensor& inputs,
                                        std::span<const KvCache> caches);
std::vector<at::Tensor> try_plain_step(const HostNetwork& network, const at::Tensor& inputs,
                                       std::span<const KvCache> caches);
/// Do both agree, for made-up texts? Tried with one block of the network.
bool device_step_passes(const HostNetwork& network, std::int64_t rows);

}  // namespace ubique::nn
