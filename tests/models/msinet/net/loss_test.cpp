// SPDX-License-Identifier: Apache-2.0
// The loss, including maps and targets of zeros.
#include "ubique/models/msinet/net/loss.h"

#include "tests/base/scratch.h"
#include "tests/models/msinet/net/network_samples.h"

using namespace ubique;
using namespace ubique::msinet;
using namespace ubique::test;

namespace {

/// The definition, pixel by pixel.
double divergence(const at::Tensor& map, const at::Tensor& target) {
  const double eps = 1e-7;
  const auto p = map.to(at::kDouble).flatten(), t = target.to(at::kDouble).flatten();
  const double sum_p = p.sum().item<double>(), sum_t = t.sum().item<double>();
  double total = 0;
  for (std::int64_t i = 0; i < p.numel(); ++i) {
    const double q = t[i].item<double>() / (eps + sum_t);
    total += q * std::log(eps + q / (eps + p[i].item<double>() / (eps + sum_p)));
  }
  return total;
}

}  // namespace

TEST_CASE("loss: the mean over a batch, for any type of the target") {
  const auto map = random_tensor({3, 1, 6, 8}, 1).abs();
  const auto target = random_picture({3, 6, 8}, 2);
  double mean = 0;
  for (std::int64_t i = 0; i < 3; ++i) mean += divergence(map[i], target[i]) / 3;
  CHECK(kld_loss(map, target).item<double>() == doctest::Approx(mean).epsilon(1e-5));
  CHECK(kld_loss(map, target.to(at::kFloat).unsqueeze(1)).item<double>() ==
        doctest::Approx(mean).epsilon(1e-5));
  CHECK(kld_loss(map.to(at::kDouble), target).item<double>() ==
        doctest::Approx(mean).epsilon(1e-12));
}

TEST_CASE("loss: nearly 0 if the map equals the target") {
  const auto map = random_tensor({1, 1, 20, 20}, 3).abs();
  const auto loss = kld_loss(map, map).item<double>();
  CHECK(loss < 1e-3);
  CHECK(loss > -1e-3);
}

TEST_CASE("loss: targets of zeros have loss 0 and finite gradients") {
  const auto map = random_tensor({2, 1, 6, 8}, 4).abs().requires_grad_();
  auto target = at::zeros({2, 6, 8});
  const auto loss = kld_loss(map, target);
  CHECK(loss.item<double>() == 0);
  loss.backward();
  CHECK(map.grad().abs().max().item<double>() == 0);
  target[1].fill_(1);  // one of two
  const auto half = kld_loss(map.detach(), target).item<double>();
  CHECK(half == doctest::Approx(divergence(map.detach()[1], target[1]) / 2).epsilon(1e-5));
}

TEST_CASE("loss: a map of zeros gives a finite loss and finite gradients") {
  const auto map = at::zeros({1, 1, 6, 8}).requires_grad_();
  const auto loss = kld_loss(map, random_picture({1, 6, 8}, 5));
  CHECK(std::isfinite(loss.item<double>()));
  loss.backward();
  CHECK(at::isfinite(map.grad()).all().item<bool>());
}

TEST_CASE("loss: a target of another size is refused with both") {
  const auto text = refusal_of(ErrorKind::Input, [] {
    kld_loss(at::zeros({1, 1, 6, 8}), at::zeros({1, 8, 6}));
  });
  CHECK(contains(text, "(1, 8, 6)"));
  CHECK(contains(text, "(1, 1, 6, 8)"));
}
