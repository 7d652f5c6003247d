// SPDX-License-Identifier: Apache-2.0
// ubique::attend on NVIDIA cards: short sequences in one kernel with rotary position embedding, and
// their backward in another (sources/attend.cu and attend_backward.cu, from sm_80 on); long
// sequences on Hopper with sources/flash.cu.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/library.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "../runtime/kernel.h"
#include "flash.h"

namespace ubique::backend {
namespace {

constexpr std::int64_t kMaxShort = 128, kAttendHead = 64;

/// qkv (B, L, 3·heads·size).
bool does_attend(const at::Tensor& qkv, std::int64_t heads) {
  const auto dtype = qkv.scalar_type();
  const bool half = dtype == at::kHalf || dtype == at::kBFloat16;
  if (!half || qkv.numel() == 0 || !qkv.is_contiguous() || !cuda::can_run_kernels()) return false;
  if (qkv.size(2) != 3 * heads * kAttendHead) return false;
  const auto capability = cuda::card_limits(qkv.device()).capability;
  if (qkv.size(1) <= kMaxShort) return capability >= 80;
  return capability == 90 && dtype == at::kBFloat16;
}

float attend_scale() {
  return static_cast<float>(std::numbers::log2e / std::sqrt(static_cast<double>(kAttendHead)));
}

const void* attend_table(const std::optional<at::Tensor>& table) {
  return table ? table->const_data_ptr<float>() : nullptr;
}

std::int64_t attend_rows(std::int64_t length) { return (length + 15) / 16 * 16; }

/// Shared memory layout of attend_backward.cu: keys and values (later the gradients of scores);
/// queries and the incoming gradient; attention weights; staging for the output.
std::int64_t backward_bytes(std::int64_t length) {
  const auto rows = attend_rows(length), line = kAttendHead * 2;
  const auto scores = rows * ((length + 7) / 8 / 2 * 2 + 1) * 16;
  return std::max(2 * length * line, scores) + (length + rows) * line + scores + rows * line;
}

bool does_attend_backward(const at::Tensor& qkv, std::int64_t heads) {
  return does_attend(qkv, heads) && qkv.size(1) <= kMaxShort &&
         backward_bytes(qkv.size(1)) <= cuda::card_limits(qkv.device()).shared_bytes;
}

const cuda::Kernel& attend_kernel(const at::Tensor& qkv, std::int64_t heads, bool rotates,
                                  bool causal, bool backward) {
  return cuda::kernel(qkv.device(), backward ? "attend_backward.cu" : "attend.cu",
                      backward ? "attend_backward" : "attend",
                      {fmt::format("SCALAR={}", qkv.scalar_type() == at::kHalf ? 0 : 1),
                       fmt::format("LENGTH={}", qkv.size(1)), fmt::format("HEAD={}", kAttendHead),
                       fmt::format("HEADS={}", heads), fmt::format("CAUSAL={}", causal ? 1 : 0),
                       fmt::format("ROTATE={}", rotates ? 1 : 0)});
}

cuda::LaunchShape attend_shape(const at::Tensor& qkv, std::int64_t heads, std::int64_t shared) {
  return {qkv.size(0) * heads, static_cast<int>(attend_rows(qkv.size(1)) * 2),
          static_cast<int>(shared)};
}

void attend_short(const at::Tensor& qkv, std::int64_t heads, const std::optional<at::Tensor>& cos,
                  const std::optional<at::Tensor>& sin, bool causal, at::Tensor& mixed) {
  const auto length = qkv.size(1);
  // values, keys and queries
  const auto shared = (2 * length + attend_rows(length)) * kAttendHead * 2;
  attend_kernel(qkv, heads, cos.has_value(), causal, false)
      .launch(qkv.device(), attend_shape(qkv, heads, shared), qkv.const_data_ptr(),
              mixed.mutable_data_ptr(), attend_table(cos), attend_table(sin), attend_scale());
}

/// Gradient of qkv from that of the result.
at::Tensor cuda_attend_backward(const at::Tensor& qkv, const at::Tensor& gradient,
                                std::int64_t heads, const std::optional<at::Tensor>& cos,
                                const std::optional<at::Tensor>& sin, bool causal) {
  auto result = at::empty_like(qkv);
  attend_kernel(qkv, heads, cos.has_value(), causal, true)
      .launch(qkv.device(), attend_shape(qkv, heads, backward_bytes(qkv.size(1))),
              qkv.const_data_ptr(), gradient.const_data_ptr(), result.mutable_data_ptr(),
              attend_table(cos), attend_table(sin), attend_scale());
  return result;
}

at::Tensor cuda_attend(const at::Tensor& qkv, std::int64_t heads,
                       const std::optional<at::Tensor>& cos, const std::optional<at::Tensor>& sin,
                       bool causal) {
  auto mixed = at::empty({qkv.size(0), qkv.size(1), heads * kAttendHead}, qkv.options());
  if (qkv.size(1) <= kMaxShort) {
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
  library.impl("does_attend_backward", TORCH_FN(does_attend_backward));
  library.impl("attend_backward", TORCH_FN(cuda_attend_backward));
}

}  // namespace ubique::backend
