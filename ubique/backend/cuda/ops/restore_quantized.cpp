// SPDX-License-Identifier: Apache-2.0
// ubique::restore_quantized on NVIDIA cards (sources/restore_quantized.cu).
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/library.h>

#include "../runtime/vectors.h"

namespace ubique::backend {
namespace {

constexpr std::int64_t kNf4Format = 2;  // of kernels/quant
constexpr int kTableBytes = 16 * 4;

/// As the kernel's structure.
struct Nf4Scales {
  const float* plain;
  const void* indices;
  const float *code, *factors, *mean;
};

bool does_restore_quantized(const at::Tensor& packed, const at::Tensor& out) {
  return cuda::has_vectors(out) && out.numel() % 8 == 0 && packed.is_contiguous() &&
         cuda::can_run_kernels();
}

/// `code`, `factors` and `mean` have no values unless the scales are quantised too; `pairs` has
/// none unless the format is NF4.
void cuda_restore_quantized(const at::Tensor& packed, const at::Tensor& scales,
                            const at::Tensor& code, const at::Tensor& factors,
                            const at::Tensor& mean, const at::Tensor& pairs, std::int64_t format,
                            const at::Tensor& out) {
  const auto device = out.device();
  const bool twice = code.numel() > 0, is_nf4 = format == kNf4Format;
  const auto floats = [](const at::Tensor& tensor) {
    return tensor.numel() > 0 ? tensor.const_data_ptr<float>() : nullptr;
  };
  const Nf4Scales nf4{is_nf4 && !twice ? floats(scales) : nullptr,
                      is_nf4 && twice ? scales.const_data_ptr() : nullptr, floats(code),
                      floats(factors), floats(mean)};
  auto shape = cuda::sweep(device, out.numel() / cuda::lanes_of(out));
  shape.shared_bytes = kTableBytes;
  const long long vectors = out.numel() / cuda::lanes_of(out);
  cuda::kernel(device, "restore_quantized.cu", "restore_quantized",
               {cuda::scalar_define(out), fmt::format("FORMAT={}", format)})
      .launch(device, shape, packed.const_data_ptr(),
              is_nf4 ? static_cast<const void*>(nullptr) : scales.const_data_ptr(), nf4,
              floats(pairs), out.mutable_data_ptr(), vectors);
}

}  // namespace

TORCH_LIBRARY_IMPL(ubique, CUDA, library) {
  library.impl("does_restore_quantized", TORCH_FN(does_restore_quantized));
  library.impl("restore_quantized", TORCH_FN(cuda_restore_quantized));
}

}  // namespace ubique::backend
