// SPDX-License-Identifier: Apache-2.0
// ubique::join_qkv on NVIDIA cards (sources/training/join_qkv.cu).
#include <ATen/ATen.h>
#include <torch/library.h>

#include "../runtime/column_sums.h"
#include "../runtime/vectors.h"

namespace ubique::backend {
namespace {

/// As join_qkv.cu declares it.
struct HeadPart {
  const void* at;
  long long batch, head, row;
  int heads;
};
struct HeadParts {
  HeadPart part[3];
};

/// Rows of whole vectors; the order of samples, heads and rows is any.
bool has_head_vectors(const at::Tensor& x) {
  return x.dim() == 4 && x.numel() > 0 && x.size(3) % 8 == 0 && x.stride(3) == 1 &&
         x.stride(0) % 8 == 0 && x.stride(1) % 8 == 0 && x.stride(2) % 8 == 0 &&
         cuda::is_aligned(x);
}

bool does_join_qkv(const at::Tensor& queries) {
  return queries.scalar_type() != at::kFloat && cuda::has_vectors(queries) &&
         queries.size(3) % 8 == 0 && cuda::can_run_kernels();
}

HeadPart head_part(const at::Tensor& x) {
  return {x.const_data_ptr(), x.stride(0) / 8, x.stride(1) / 8, x.stride(2) / 8,
          static_cast<int>(x.size(1))};
}

std::tuple<at::Tensor, at::Tensor> cuda_join_qkv(const at::Tensor& queries, const at::Tensor& keys,
                                                 const at::Tensor& values) {
  const auto fit = [](const at::Tensor& x) { return has_head_vectors(x) ? x : x.contiguous(); };
  const auto q = fit(queries), k = fit(keys), v = fit(values);
  const auto columns = (q.size(1) + k.size(1) + v.size(1)) * q.size(3);
  const int batch = static_cast<int>(q.size(0)), length = static_cast<int>(q.size(2));
  const int vectors = static_cast<int>(columns / 8), size = static_cast<int>(q.size(3) / 8);
  const auto tiles = cuda::tiles_for(q.device(), std::int64_t{batch} * length, vectors, 4);
  auto product = at::empty({batch, length, columns}, q.options());
  auto partial = at::empty({tiles.slabs, columns}, q.options().dtype(at::kFloat));
  const HeadParts parts{{head_part(q), head_part(k), head_part(v)}};
  cuda::kernel(q.device(), "join_qkv.cu", "join_qkv", {cuda::scalar_define(q)})
      .launch(q.device(), tiles.shape, parts, product.mutable_data_ptr(),
              partial.mutable_data_ptr<float>(), batch, length, vectors, size);
  return {product, cuda::sum_rows(partial)};
}

}  // namespace

TORCH_LIBRARY_IMPL(ubique, CUDA, library) {
  library.impl("does_join_qkv", TORCH_FN(does_join_qkv));
  library.impl("join_qkv", TORCH_FN(cuda_join_qkv));
}

}  // namespace ubique::backend
