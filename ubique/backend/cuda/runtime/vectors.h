// SPDX-License-Identifier: Apache-2.0
// What the kernels that go over tensors in vectors of sixteen bytes (sources/values.cuh) share.
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <string>

#include "kernel.h"

namespace ubique::backend::cuda {

constexpr int kSweepThreads = 256;

/// In one of the kernels' dtypes?
inline bool has_vectors(const at::Tensor& x) {
  const auto dtype = x.scalar_type();
  return dtype == at::kHalf || dtype == at::kBFloat16 || dtype == at::kFloat;
}

/// Values of one vector.
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

/// A thread for each item, or for several in turn where that would be more blocks than help.
inline LaunchShape sweep(c10::Device device, std::int64_t items, int threads = kSweepThreads,
                         int blocks_per_processor = 16) {
  const auto most = std::int64_t{blocks_per_processor} * card_limits(device).processors;
  return {std::clamp<std::int64_t>((items + threads - 1) / threads, 1, most), threads, 0};
}

}  // namespace ubique::backend::cuda
