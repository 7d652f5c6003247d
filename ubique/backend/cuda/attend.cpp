// SPDX-License-Identifier: Apache-2.0
// ubique::attend, attention without gradients, on NVIDIA cards: short sequences in one kernel that
// turns queries and keys itself (sources/attend.cu, from sm_80 on), long ones on Hopper by
// sources/flash.cu.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/library.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "flash.h"
#include "kernel.h"

namespace ubique::backend {
namespace {

constexpr std::int64_t kShort = 128, kAttendHead = 64;

/// qkv (B, L, 3·heads·size).
bool does_attend(const at::Tensor& qkv, std::int64_t heads) {
  const auto dtype = qkv.scalar_type();
  const bool half = dtype == at::kHalf || dtype == at::kBFloat16;
  if (!half || qkv.numel() == 0 || !qkv.is_contiguous() || !cuda::can_run_kernels()) return false;
  if (qkv.size(2) != 3 * heads * kAttendHead) return false;
  const auto capability = cuda::card_limits(qkv.device()).capability;
  if (qkv.size(1) <= kShort) return capability >= 80;
  return capability == 90 && dtype == at::kBFloat16;
}

float attend_scale() {
  return static_cast<float>(std::numbers::log2e / std::sqrt(static_cast<double>(kAttendHead)));
}

void attend_short(const at::Tensor& qkv, std::int64_t heads, const std::optional<at::Tensor>& cos,
                  const std::optional<at::Tensor>& sin, bool causal, at::Tensor& mixed) {
  const auto length = qkv.size(1), rows = (length + 15) / 16 * 16;
  const auto shared = 3 * rows * (kAttendHead * 2 + 16);
  cuda::kernel(qkv.device(), "attend.cu", "attend",
               {fmt::format("SCALAR={}", qkv.scalar_type() == at::kHalf ? 0 : 1),
                fmt::format("LENGTH={}", length), fmt::format("HEAD={}", kAttendHead),
                fmt::format("HEADS={}", heads), fmt::format("CAUSAL={}", causal ? 1 : 0),
                fmt::format("ROTATE={}", cos ? 1 : 0)})
      .launch(qkv.device(),
              {qkv.size(0) * heads, static_cast<int>(rows * 2), static_cast<int>(shared)},
              qkv.const_data_ptr(), mixed.mutable_data_ptr(),
              cos ? cos->const_data_ptr<float>() : nullptr,
              sin ? sin->const_data_ptr<float>() : nullptr, attend_scale());
}

at::Tensor cuda_attend(const at::Tensor& qkv, std::int64_t heads,
                       const std::optional<at::Tensor>& cos, const std::optional<at::Tensor>& sin,
                       bool causal) {
  auto mixed = at::empty({qkv.size(0), qkv.size(1), heads * kAttendHead}, qkv.options());
  if (qkv.size(1) <= kShort) {
    attend_short(qkv, heads, cos, sin, causal, mixed);
    return mixed;
  }
  if (cos) {
    static const auto rotate =
        c10::Dispatcher::singleton()
            .findSchemaOrThrow("ubique::rotate_heads_", "")
            .typed<void(const at::Tensor&, const at::Tensor&, const at::Tensor&)>();
    rotate.call(qkv.view({qkv.size(0), qkv.size(1), 3, heads, kAttendHead}), *cos, *sin);
  }
  cuda::flash(qkv, heads, causal, mixed, {});
  return mixed;
}

}  // namespace

TORCH_LIBRARY_IMPL(ubique, CUDA, library) {
  library.impl("does_attend", TORCH_FN(does_attend));
  library.impl("attend", TORCH_FN(cuda_attend));
}

}  // namespace ubique::backend
