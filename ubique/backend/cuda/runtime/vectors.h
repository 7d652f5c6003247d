// SPDX-License-Identifier: Apache-2.0
// Shared by the kernels that process tensors in 16-byte vectors (sources/include/values.cuh).
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <string>

#include "kernel.h"

namespace ubique::backend::cuda {

constexpr int kSweepThreads = 256;

/// True for the dtypes of these kernels.
inline bool has_vectors(const at::Tensor& x) {
  const auto dtype = x.scalar_type();
  return dtype == at::kHalf || dtype == at::kBFloat16 || dtype == at::kFloat;
}

/// Values per vector.
inline int lanes_of(const at::Tensor& x) { return x.scalar_type() == at::kFloat ? 4 : 8; }

inline bool is_aligned(const at::Tensor& x) {
  return reinterpret_cast<std::uintptr_t>(x.const_data_ptr()) % 16 == 0;
}

inline std::string scalar_define(const at::Tensor& x) {
  switch (x.scalar_type()) {
    case at::kHalf:
      return "SCALAR=0";
    case at::kBFloat16:
      return "SCALAR=1";
    default:
      return "SCALAR=2";
  }
}

/// One thread per item, or several items per thread where more blocks would not help.
inline LaunchShape sweep(c10::Device device, std::int64_t items, int threads = kSweepThreads,
                         int blocks_per_processor = 16) {
  const auto most = std::int64_t{blocks_per_processor} * card_limits(device).processors;
  return {std::clamp<std::int64_t>((items + threads - 1) / threads, 1, most), threads, 0};
}

}  // namespace ubique::backend::cuda
