// SPDX-License-Identifier: Apache-2.0
// The operator behind it and its comparison with plain ops.
#include "ubique/kernels/quant/restore.h"

#include <ATen/ATen.h>
#include <torch/library.h>

#include "ubique/kernels/dispatch/autograd.h"
#include "ubique/kernels/dispatch/find_op.h"
#include "ubique/kernels/dispatch/self_check.h"

namespace ubique::kernels {
namespace {

constexpr std::int64_t kTriedRows = 24, kTriedColumns = 320;

bool no_restore_quantized(const at::Tensor& /*packed*/, const at::Tensor& /*out*/) { return false; }

at::Tensor fused_restore(const QuantizedWeight& weight, at::ScalarType dtype) {
  using Function = void(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&,
                        const at::Tensor&, const at::Tensor&, std::int64_t, const at::Tensor&);
  static const auto op = find_op<Function>("ubique::restore_quantized");
  const auto options = weight.packed.options();
  const auto out = at::empty({weight.rows, weight.columns}, options.dtype(dtype));
  const auto nothing = at::empty({0}, options.dtype(at::kFloat));
  const bool twice = weight.double_quantized(), is_nf4 = weight.format == QuantFormat::Nf4;
  op.call(weight.packed, weight.scales, twice ? weight.scale_code : nothing,
          twice ? weight.scale_factors : nothing, twice ? weight.scale_mean : nothing,
          is_nf4 ? weight.nf4_pairs : nothing, static_cast<std::int64_t>(weight.format), out);
  return out;
}

std::vector<Trial> restore_trials(QuantFormat format, bool twice, const at::Tensor& like) {
  const auto wide = test_values({kTriedRows, kTriedColumns}, like.to(at::kFloat), 1).cpu();
  const auto weight = quantize(wide, format, twice).to(like.device());
  return {{fused_restore(weight, like.scalar_type()), restore_by_ops(weight, at::kFloat)}};
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(ubique, library) {
  library.def("does_restore_quantized(Tensor packed, Tensor out) -> bool");
  library.def(
      "restore_quantized(Tensor packed, Tensor scales, Tensor code, Tensor factors, Tensor mean, "
      "Tensor pairs, int format, Tensor(a!) out) -> ()");
  library.impl("does_restore_quantized", c10::DispatchKey::CompositeExplicitAutograd,
               TORCH_FN(no_restore_quantized));
}

at::Tensor restore_on_device(const QuantizedWeight& weight, at::ScalarType dtype) {
  static const auto op = find_op<decltype(no_restore_quantized)>("ubique::does_restore_quantized");
  const PlainTensors plain;
  const auto like = at::empty({8}, weight.packed.options().dtype(dtype));
  const bool twice = weight.double_quantized();
  const auto name = std::string("restoring ") + std::string(to_string(weight.format)) +
                    (twice ? ", scales quantised" : "");
  if (weight.rows * weight.columns % 8 != 0 || !op.call(weight.packed, like) ||
      !passes_self_check(name, like, [&] { return restore_trials(weight.format, twice, like); })) {
    return {};
  }
  return fused_restore(weight, dtype);
}

}  // namespace ubique::kernels
