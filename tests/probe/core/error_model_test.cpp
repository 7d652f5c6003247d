// SPDX-License-Identifier: Apache-2.0
// The tolerance formula and the measure of errors.
#include "ubique/probe/core/error_model.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "ubique/base/error.h"
#include "ubique/base/numbers/random.h"
#include "ubique/probe/probes/operation.h"

using namespace ubique;
using namespace ubique::probe;

TEST_CASE("error model: the tolerance follows the written formula") {
  const double u32 = std::ldexp(1.0, -24), u16 = std::ldexp(1.0, -11), ub16 = std::ldexp(1.0, -8);
  CHECK(tolerance(DType::F32, {1, 1, 1}) == doctest::Approx(16 * u32));
  CHECK(tolerance(DType::F32, {100, 1, 1}) == doctest::Approx(8 * 11 * u32));
  CHECK(tolerance(DType::F32, {100, 2, 8}) == doctest::Approx(8 * 82 * u32));
  CHECK(tolerance(DType::F16, {100, 2, 1}) == doctest::Approx(8 * (2 * u16 + 10 * u32)));
  CHECK(tolerance(DType::BF16, {1, 1, 1}) == doctest::Approx(8 * (ub16 + u32)));
}

TEST_CASE("error model: half types accumulate in f32, f64 in itself") {
  CHECK(accumulator(DType::BF16) == DType::F32);
  CHECK(accumulator(DType::F16) == DType::F32);
  CHECK(accumulator(DType::F64) == DType::F64);
}

TEST_CASE("error model: the error is relative to rms plus value, at the worst element") {
  const auto reference = at::tensor({3.0, 4.0, 0.0, 0.0});  // rms 2.5
  const auto value = at::tensor({3.0, 4.65, 0.0, -0.25});
  const auto difference = compare(value, reference);
  CHECK(difference.error == doctest::Approx(0.1));  // 0.65 / 6.5 and 0.25 / 2.5
  const auto worse = compare(at::tensor({3.0, 4.0, 1.0, 0.0}), reference);
  CHECK(worse.error == doctest::Approx(0.4));
  CHECK(worse.at == 2);
  CHECK(worse.to_text() == "element 2 is 1, expected 0");
}

TEST_CASE("error model: what is not finite is infinitely wrong and never passes") {
  const auto reference = at::ones({4}, at::kDouble);
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    auto value = at::ones({4}, at::kDouble);
    value[2] = bad;
    const auto difference = compare(value, reference);
    CHECK(std::isinf(difference.error));
    CHECK(difference.at == 2);
    CHECK(judge(difference.error, 1e30, "x").outcome == Outcome::Fail);
  }
  CHECK(judge(std::nan(""), 1, "x").outcome == Outcome::Fail);
}

TEST_CASE("error model: another shape is infinitely wrong, an empty tensor is right") {
  CHECK(std::isinf(compare(at::zeros({2, 2}), at::zeros({4})).error));
  CHECK(compare(at::zeros({0}), at::zeros({0})).error == 0);
}

TEST_CASE("error model: where zeros are expected the error is absolute") {
  CHECK(compare(at::full({3}, 0.5), at::zeros({3})).error == doctest::Approx(0.5));
}

TEST_CASE("error model: probes refuse integer dtypes") {
  CHECK_THROWS_AS(to_torch(DType::I32), Error);
  CHECK((to_torch(DType::BF16) == at::kBFloat16));
}

// Sequential float32 sums of many lengths stay within the tolerance, sums in half precision do not.
TEST_CASE("error model: sequential sums in f32 pass and sums kept in the dtype fail") {
  for (const std::int64_t length : {64, 1000, 16000}) {
    const Operand operand{.name = "x", .shape = {length, 64}};
    const auto x = make_operand(operand, DType::BF16, Random(5, length));
    auto in_f32 = at::zeros({64}, at::kFloat), in_bf16 = at::zeros({64}, at::kBFloat16);
    for (std::int64_t i = 0; i < length; ++i) {
      in_f32 += x[i].to(at::kFloat);
      in_bf16 += x[i];
    }
    const auto exact = x.to(at::kDouble).sum(0);
    const RoundingPath path{static_cast<double>(length), 1};
    CHECK(compare(in_f32, exact).error < tolerance(DType::F32, path));
    CHECK(compare(in_f32.to(at::kBFloat16), exact).error < tolerance(DType::BF16, path));
    if (length >= 1000) CHECK(compare(in_bf16, exact).error > tolerance(DType::BF16, path));
  }
}

// TF32 keeps 10 bits of each factor: what strict numerics must not let through as float32.
TEST_CASE("error model: a product with TF32's precision fails as f32") {
  const auto a = make_operand({.name = "a", .shape = {33, 64}}, DType::F32, Random(1));
  const auto b = make_operand({.name = "b", .shape = {64, 17}}, DType::F32, Random(2));
  const auto exact = at::matmul(a.to(at::kDouble), b.to(at::kDouble));
  const double allowed = tolerance(DType::F32, {64, 1});
  CHECK(compare(at::matmul(a, b), exact).error < allowed);
  const auto tf32 = [](const at::Tensor& x) {  // f16 has TF32's ten bits
    return x.to(at::kHalf).to(at::kFloat);
  };
  CHECK(compare(at::matmul(tf32(a), tf32(b)), exact).error > allowed);
}
