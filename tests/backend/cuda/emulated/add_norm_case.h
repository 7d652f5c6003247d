// SPDX-License-Identifier: Apache-2.0
// The kernels of add_norm.cu on the host, with the macros that the includer has set, which end
// here.
#include "ubique/backend/cuda/sources/add_norm.cu"

inline void forward(const void* residual, const void* branch, const float* branch_bias,
                    const float* weight, const float* bias, void* sum, void* normed,
                    float* statistics, long long rows) {
  const auto fours = [](const float* values) { return reinterpret_cast<const Four*>(values); };
  add_norm(static_cast<const Stream*>(residual), static_cast<const Narrow*>(branch),
           fours(branch_bias), fours(weight), fours(bias), static_cast<Stream*>(sum),
           static_cast<Narrow*>(normed), statistics, rows, 1e-5F);
}
inline void backward(const void* of_sum, const void* of_norm, const void* sum, const float* weight,
                     const float* statistics, void* of_residual, void* of_branch, float* partial,
                     long long rows) {
  add_norm_backward(static_cast<const Stream*>(of_sum), static_cast<const Narrow*>(of_norm),
                    static_cast<const Stream*>(sum), reinterpret_cast<const Four*>(weight),
                    statistics, static_cast<Stream*>(of_residual), static_cast<Narrow*>(of_branch),
                    partial, 3, rows);
}
constexpr Norm kNorm{WIDTH, WIDE_RESIDUAL == 1, CENTER == 1, kThreads, forward, backward};
#undef add_norm
#undef add_norm_backward
#undef WIDTH
#undef WARPS
#undef WIDE_RESIDUAL
#undef CENTER
