// SPDX-License-Identifier: Apache-2.0
// Low-rank adaptation (LoRA): a trainable pair A, B beside a frozen weight W, so that a linear
// layer computes x·Wᵀ + (alpha / rank)·(x·Aᵀ)·Bᵀ. Knows no files and no modules.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "ubique/base/numbers/random.h"

namespace ubique::nn {

struct LoraOptions {
  std::int64_t rank = 8;
  double alpha = 16;   ///< the adapter's output is scaled by alpha / rank
  double dropout = 0;  ///< of the adapter's input, in training only
};

/// Usage error for a value out of range.
void validate(const LoraOptions& options);

/// The adapter of one weight.
struct Lora {
  at::Tensor a;  ///< (rank, in), f32, requires a gradient
  at::Tensor b;  ///< (out, rank), f32, requires a gradient
  double scale = 1;
  double dropout = 0;
};

/// A of a fresh adapter for `inputs` inputs: (rank, inputs) f32 on the CPU, Kaiming-uniform (bound
/// 1/√inputs), the same bits everywhere.
at::Tensor fresh_lora_a(std::int64_t rank, std::int64_t inputs, const Random& random);

/// An adapter for a weight (out, in), on its device: A fresh, B zero, so that nothing changes at
/// first. Usage error if the weight is no matrix.
Lora make_lora(const at::Tensor& weight, const LoraOptions& options, const Random& random);

/// What an adapter adds to its layer (linear.h): scale·(x·Aᵀ)·Bᵀ, x (..., in) to (..., out).
/// Dropout draws from torch's generator of the device.
at::Tensor lora_product(const at::Tensor& x, const Lora& lora, bool training);

/// W + scale·B·A as a new tensor in the dtype of W; the sum is made in f32.
at::Tensor merged_weight(const at::Tensor& weight, const Lora& lora);

/// The reverse, W' - scale·B·A. Exact up to the rounding of W's dtype: keep the original where its
/// bits matter.
at::Tensor unmerged_weight(const at::Tensor& merged, const Lora& lora);

}  // namespace ubique::nn
