// SPDX-License-Identifier: Apache-2.0
// Stablemax cross entropy against float64 and the original's numbers.
#include "ubique/kernels/mixer/stablemax.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/shared.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"

namespace ubique::kernels {
namespace {

double largest_relative_error(const at::Tensor& value, const at::Tensor& expected) {
  const auto exact = expected.to(at::kDouble);
  return ((value.to(at::kDouble) - exact).abs() / exact.abs().clamp_min(1e-30))
      .max()
      .item<double>();
}

/// The original's formula, in float64: log(s / sum(s)).
at::Tensor in_float64(const at::Tensor& logits, const at::Tensor& labels) {
  const auto x = logits.to(at::kDouble);
  const auto s = at::where(x.lt(0), (1 - x).reciprocal(), x + 1);
  const auto logs = at::log(s / s.sum(-1, true));
  return -logs.gather(-1, labels.unsqueeze(-1)).squeeze(-1);
}

}  // namespace

TEST_CASE("stablemax: f32 agrees with float64 to a millionth, value and gradient") {
  for (const double scale : {0.1, 3.0, 40.0, 1000.0}) {
    auto logits = at::randn({200, 11}) * scale;
    const auto labels = at::randint(0, 11, {200}, at::kLong);
    auto wide = logits.to(at::kDouble).set_requires_grad(true);
    logits.set_requires_grad(true);
    const auto loss = stablemax_cross_entropy(logits, labels);
    const auto expected = in_float64(wide, labels);
    CHECK(largest_relative_error(loss, expected) < 1e-6);
    loss.sum().backward();
    expected.sum().backward();
    const auto gap = (logits.grad().to(at::kDouble) - wide.grad()).abs().max().item<double>();
    CHECK(gap / wide.grad().abs().max().item<double>() < 1e-6);
  }
}

TEST_CASE("stablemax: the original's numbers, in f64 and in f32") {
  const auto folder = test::shared_folder("golden/trm");
  if (folder.empty()) return;
  const auto golden = Json::parse(read_file(folder / "stablemax.json"));
  for (const auto& item : golden["vectors"]) {
    const auto values = item["logits"].get<std::vector<double>>();
    const auto label = at::scalar_tensor(item["label"].get<std::int64_t>(), at::kLong);
    for (const auto dtype : {at::kDouble, at::kFloat}) {
      auto logits = at::tensor(values, at::kDouble).to(dtype).set_requires_grad(true);
      const auto loss = stablemax_cross_entropy(logits, label);
      const double expected = item["cross_entropy"].get<double>();
      CHECK(loss.item<double>() ==
            doctest::Approx(expected).epsilon(dtype == at::kDouble ? 1e-12 : 1e-6));
      loss.backward();
      const auto gradient =
          at::tensor(item["grad_of_cross_entropy"].get<std::vector<double>>(), at::kDouble);
      CHECK((logits.grad().to(at::kDouble) - gradient).abs().max().item<double>() <
            (dtype == at::kDouble ? 1e-12 : 1e-6));
    }
  }
}

TEST_CASE("stablemax: an ignored label has no loss and no gradient") {
  auto logits = at::randn({3, 5}).set_requires_grad(true);
  const auto labels = at::tensor({1, -100, 4}, at::kInt);
  const auto loss = stablemax_cross_entropy(logits, labels);
  CHECK(loss[1].item<double>() == 0);
  loss.sum().backward();
  CHECK(logits.grad()[1].eq(0).all().item<bool>());
  CHECK(logits.grad()[0].ne(0).all().item<bool>());
}

}  // namespace ubique::kernels
