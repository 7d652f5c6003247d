// SPDX-License-Identifier: Apache-2.0
// Products with quantised weights: the CPU kernels of every instruction set, and gradients.
#include "ubique/kernels/quant/quantized_linear.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/device.h"
#include "tests/tensors.h"
#include "ubique/kernels/quant/host_product.h"
#include "ubique/kernels/quant/nf4.h"

using namespace ubique;
using kernels::QuantFormat;

namespace {

/// x rounded to 8 bits in groups of 32, as the kernels round it.
at::Tensor rounded_groups(const at::Tensor& x) {
  const auto groups = x.view({x.size(0), -1, 32});
  const auto scale = groups.abs().amax(2, true) / 127;
  return (at::round(groups / scale.clamp_min(1e-30)) * scale).view(x.sizes());
}

at::Tensor by_kernel(const kernels::QuantKernels& kernel, const at::Tensor& x,
                     const kernels::QuantizedWeight& weight) {
  const auto& host = kernels::host_weight(weight);
  const auto rows = x.size(0);
  std::vector<std::int8_t> values(static_cast<std::size_t>(x.numel()));
  std::vector<float> scales(static_cast<std::size_t>(rows * host.groups));
  std::vector<std::int32_t> offsets(scales.size());
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto at = row * host.groups;
    kernel.quantize_row(x.const_data_ptr<float>() + at * 32, host.groups,
                        weight.format == QuantFormat::Int8 ? 128 : 8, values.data() + at * 32,
                        scales.data() + at, offsets.data() + at);
  }
  kernels::Int8Rows int8{rows, host.groups, values.data(), scales.data(), offsets.data()};
  auto out = at::full({rows, weight.rows}, NAN, at::TensorOptions(at::kFloat));
  kernel.multiply_tiles({&host, &int8, out.mutable_data_ptr<float>(), 0, host.tiles});
  return out;
}

}  // namespace

TEST_CASE("quant: the kernels of every instruction set multiply int8 and int4 weights") {
  for (const auto format : {QuantFormat::Int8, QuantFormat::Int4}) {
    for (const std::int64_t out : {1, 16, 37}) {
      for (const std::int64_t rows : {1, 3, 9}) {
        auto weight = kernels::quantize(test::random_tensor({out, 160}, 1), format);
        if (format == QuantFormat::Int8) weight.packed[0][0] = -128;  // files may hold it
        const auto x = test::random_tensor({rows, 160}, 2);
        const auto expected =
            at::linear(rounded_groups(x), kernels::dequantize(weight, at::kFloat));
        for (const auto& kernel : kernels::all_quant_kernels()) {
          CAPTURE(std::string(kernel.name));
          CHECK(test::distance(by_kernel(kernel, x, weight), expected) < 2e-3);
        }
      }
    }
  }
}

TEST_CASE("quant: inputs of zeros and extreme inputs are multiplied without overflow") {
  const auto weight = kernels::quantize(at::full({16, 64}, -3.0F), QuantFormat::Int8);
  auto x = at::zeros({2, 64}, at::TensorOptions(at::kFloat));
  x[1].fill_(-1e30F);
  for (const auto& kernel : kernels::all_quant_kernels()) {
    CAPTURE(std::string(kernel.name));
    const auto out = by_kernel(kernel, x, weight);
    CHECK(out[0].abs().max().item<float>() == 0);
    CHECK(test::relative_distance(out[1], at::full({16}, 192e30F)) < 1e-2);
  }
}

TEST_CASE("quant: the kernels of every instruction set multiply nf4 weights") {
  const auto weight = kernels::quantize(test::random_tensor({19, 192}, 3), QuantFormat::Nf4);
  const auto x = test::random_tensor({5, 192}, 4);
  const auto even = x.view({5, 96, 2}).select(2, 0).contiguous();
  const auto odd = x.view({5, 96, 2}).select(2, 1).contiguous();
  const auto expected = at::linear(x, kernels::dequantize(weight, at::kFloat));
  for (const auto& kernel : kernels::all_quant_kernels()) {
    CAPTURE(std::string(kernel.name));
    auto out = at::full({5, 19}, NAN, at::TensorOptions(at::kFloat));
    kernel.multiply_nf4({.packed = weight.packed.const_data_ptr<std::uint8_t>(),
                         .scales = weight.scales.const_data_ptr<float>(),
                         .code = kernels::nf4_code().data(),
                         .even = even.const_data_ptr<float>(),
                         .odd = odd.const_data_ptr<float>(),
                         .out = out.mutable_data_ptr<float>(),
                         .rows = 5,
                         .columns = 192,
                         .weight_rows = 19,
                         .begin = 0,
                         .end = 19});
    CHECK(test::distance(out, expected) < 1e-4);
  }
}

TEST_CASE("quant: few and many rows give the product with the restored weight, in x's dtype") {
  for (const auto format : {QuantFormat::Int8, QuantFormat::Int4, QuantFormat::Nf4}) {
    const auto weight =
        kernels::quantize(test::random_tensor({70, 128}, 5), format).to(test::kDevice);
    const auto bias = test::random_tensor({70}, 6).to(test::kDevice);
    for (const std::int64_t rows : {1, 2, 16, 17, 40}) {
      const auto x = test::random_tensor({rows, 1, 128}, 7).to(test::kDevice);
      const auto expected = kernels::quantized_linear_reference(x, weight, bias);
      const auto got = kernels::quantized_linear(x, weight, bias);
      CHECK((got.sizes() == expected.sizes()));
      CHECK(test::relative_distance(got, expected) < 0.02);  // x has 8 bits
      const auto half = kernels::quantized_linear(x.to(at::kHalf), weight, bias);
      CHECK((half.scalar_type() == at::kHalf));
      CHECK(test::relative_distance(half.to(at::kFloat), expected) < 0.04);
    }
    const auto none = at::empty({0, 128}, at::TensorOptions(at::kFloat).device(test::kDevice));
    CHECK(kernels::quantized_linear(none, weight).size(0) == 0);
  }
}

TEST_CASE("quant: gradients flow to x and the bias, exactly as through the restored weight") {
  for (const auto format : {QuantFormat::Int8, QuantFormat::Int4, QuantFormat::Nf4}) {
    const auto weight =
        kernels::quantize(test::random_tensor({24, 64}, 8).to(test::kDevice), format, true);
    const auto gradient = test::random_tensor({2, 3, 24}, 9).to(test::kDevice);
    const auto gradients_of = [&](bool ours) {
      const auto x = test::random_tensor({2, 3, 64}, 10).to(test::kDevice).requires_grad_();
      const auto bias = test::random_tensor({24}, 11).to(test::kDevice).requires_grad_();
      const auto y = ours ? kernels::quantized_linear(x, weight, bias)
                          : at::linear(x, kernels::dequantize(weight, at::kFloat), bias);
      y.backward(gradient);
      return std::vector{y.detach(), x.grad(), bias.grad()};
    };
    const auto got = gradients_of(true), expected = gradients_of(false);
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(test::distance(got[i], expected[i]) < 1e-5);
  }
}
