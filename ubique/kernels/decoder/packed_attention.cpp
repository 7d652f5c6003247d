// SPDX-License-Identifier: Apache-2.0
// The ops that a device may provide; there is no implementation without one.
#include "ubique/kernels/decoder/packed_attention.h"

#include <ATen/ATen.h>
#include <torch/library.h>

#include "ubique/kernels/dispatch/find_op.h"

namespace ubique::kernels {
namespace {

bool no_packed_attention(const at::Tensor& /*queries*/) { return false; }

}  // namespace

TORCH_LIBRARY_FRAGMENT(ubique, library) {
  library.def("does_packed_attention(Tensor q) -> bool");
  library.def(
      "packed_attention(Tensor q, Tensor k, Tensor v, Tensor? starts, int window) -> Tensor");
  library.impl("does_packed_attention", c10::DispatchKey::CompositeExplicitAutograd,
               TORCH_FN(no_packed_attention));
}

bool does_packed_attention(const at::Tensor& queries) {
  static const auto op = find_op<decltype(does_packed_attention)>("ubique::does_packed_attention");
  return op.call(queries);
}

at::Tensor packed_attention(const at::Tensor& queries, const at::Tensor& keys,
                            const at::Tensor& values, const at::Tensor& starts,
                            std::int64_t window) {
  using Schema = at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&,
                            const std::optional<at::Tensor>&, std::int64_t);
  static const auto op = find_op<Schema>("ubique::packed_attention");
  return op.call(queries, keys, values, starts.defined() ? std::optional(starts) : std::nullopt,
                 window);
}

}  // namespace ubique::kernels
