// SPDX-License-Identifier: Apache-2.0
// Weights in 8 and 4 bits restored by sources/restore_quantized.cu on the host: the bits of the
// plain ops.
#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/backend/cuda/emulated/cuda.h"
#include "ubique/kernels/dispatch/self_check.h"
#include "ubique/kernels/quant/restore.h"

namespace ubique::test::emulated::restored {

namespace int8 {
#define FORMAT 0
#define restore_quantized restore_int8
alignas(16) unsigned char memory[64];
#include "ubique/backend/cuda/sources/restore_quantized.cu"
#undef FORMAT
#undef restore_quantized
}  // namespace int8

namespace int4 {
#define FORMAT 1
#define restore_quantized restore_int4
alignas(16) unsigned char memory[64];
#include "ubique/backend/cuda/sources/restore_quantized.cu"
#undef FORMAT
#undef restore_quantized
}  // namespace int4

namespace nf4 {
#define FORMAT 2
#define restore_quantized restore_nf4
alignas(16) unsigned char memory[64];
#include "ubique/backend/cuda/sources/restore_quantized.cu"
#undef FORMAT
#undef restore_quantized
}  // namespace nf4

template <typename Scales, typename Kernel>
void check_format(kernels::QuantFormat format, bool twice, Kernel kernel) {
  const auto like = at::empty({0}, at::TensorOptions(at::kFloat));
  const auto wide = kernels::test_values({40, 960}, like, 3) * 0.3;
  const auto weight = kernels::quantize(wide, format, twice);
  const bool is_nf4 = format == kernels::QuantFormat::Nf4;
  const auto floats = [](const at::Tensor& tensor) {
    return tensor.defined() ? tensor.const_data_ptr<float>() : nullptr;
  };
  const auto* raw = static_cast<const unsigned char*>(weight.scales.const_data_ptr());
  const Scales scales{is_nf4 && !twice ? floats(weight.scales) : nullptr, twice ? raw : nullptr,
                      floats(weight.scale_code), floats(weight.scale_factors),
                      floats(weight.scale_mean)};
  auto out = at::full({40, 960}, NAN, at::TensorOptions(at::kBFloat16));
  launch(3, 256, [&] {
    kernel(static_cast<const unsigned char*>(weight.packed.const_data_ptr()),
           is_nf4 ? nullptr : reinterpret_cast<const unsigned short*>(raw), scales,
           floats(weight.nf4_pairs), static_cast<Vector*>(out.mutable_data_ptr()),
           out.numel() / kLanes);
  });
  CHECK(at::equal(out, kernels::restore_by_ops(weight, at::kBFloat16)));
}

TEST_CASE("cuda restored weights: int8, int4 and NF4 have the bits of plain ops") {
  using kernels::QuantFormat;
  check_format<int8::Nf4Scales>(QuantFormat::Int8, false, &int8::restore_int8);
  check_format<int4::Nf4Scales>(QuantFormat::Int4, false, &int4::restore_int4);
  check_format<nf4::Nf4Scales>(QuantFormat::Nf4, false, &nf4::restore_nf4);
  check_format<nf4::Nf4Scales>(QuantFormat::Nf4, true, &nf4::restore_nf4);
}

}  // namespace ubique::test::emulated::restored
