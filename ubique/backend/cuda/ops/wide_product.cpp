// SPDX-License-Identifier: Apache-2.0
// ubique::wide_product and ubique::add_wide_product_ on NVIDIA cards: cuBLAS keeps its f32 sums.
#include <ATen/ATen.h>
#include <torch/library.h>

namespace ubique::backend {
namespace {

bool does_wide_product(const at::Tensor& like) {
  return like.scalar_type() == at::kBFloat16 || like.scalar_type() == at::kHalf;
}

at::Tensor cuda_wide_product(const at::Tensor& a, const at::Tensor& b) {
  return at::mm(a, b, at::kFloat);
}

void cuda_add_wide_product_(const at::Tensor& sum, const at::Tensor& a, const at::Tensor& b) {
  auto both = sum;  // what is added to and what is written
  at::addmm_out(both, both, a, b, at::kFloat);
}

}  // namespace

TORCH_LIBRARY_IMPL(ubique, CUDA, library) {
  library.impl("does_wide_product", TORCH_FN(does_wide_product));
  library.impl("wide_product", TORCH_FN(cuda_wide_product));
  library.impl("add_wide_product_", TORCH_FN(cuda_add_wide_product_));
}

}  // namespace ubique::backend
