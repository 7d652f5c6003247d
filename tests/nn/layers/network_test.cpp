// SPDX-License-Identifier: Apache-2.0
// A network's parameters by one walk, and adapters on its layers.
#include "ubique/nn/layers/network.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/tensors.h"
#include "ubique/base/error.h"
#include "ubique/nn/layers/lora_module.h"
#include "ubique/nn/layers/rope.h"

using namespace ubique;
using test::distance, test::random_tensor;

namespace {

class TwoLayers final : public nn::Network {
 public:
  explicit TwoLayers(const at::TensorOptions& options = {}) { create(options); }
  at::Tensor forward(const at::Tensor& x) const { return nn::linear(nn::linear(x, first), second); }
  void visit(nn::ParameterWalk& walk) override {
    walk.linear("part.0.to_q", 4, 3, first);
    walk.linear("part.1.to_out.0", 2, 4, second, false);
    walk.weights("norm", {5}, norm);
  }
  nn::LinearWeights first, second;
  nn::WeightAndBias norm;
};

}  // namespace

TEST_CASE("network: one walk gives shapes, creates parameters and finds them after a cast") {
  TwoLayers network;
  const nn::NamedShapes expected = {{"part.0.to_q.weight", {4, 3}},
                                    {"part.0.to_q.bias", {4}},
                                    {"part.1.to_out.0.weight", {2, 4}},
                                    {"norm.weight", {5}},
                                    {"norm.bias", {5}}};
  nn::ParameterWalk walk;
  network.visit(walk);
  CHECK((walk.shapes() == expected));
  CHECK(nn::count_values(expected) == 12 + 4 + 8 + 5 + 5);
  CHECK(network.named_parameters().size() == expected.size());
  CHECK(!network.second.bias.defined());
  network.to(at::kDouble);
  network.refresh();
  CHECK((network.first.weight.scalar_type() == at::kDouble));
  CHECK(network.first.weight.is_same(network.named_parameters()["part.0.to_q.weight"]));
}

TEST_CASE("lora module: only the targets are adapted and trained; a merge gives the same numbers") {
  TwoLayers network;
  {
    const at::NoGradGuard no_gradients;
    std::uint64_t seed = 1;
    for (auto& parameter : network.parameters()) {
      parameter.copy_(random_tensor(parameter.sizes(), seed++));
    }
  }
  nn::LoraModule lora(network, {.rank = 2, .scale = 0.5, .targets = {"to_out.0"}});
  REQUIRE(lora.layers().size() == 1);
  CHECK(lora.layers()[0] == "part.1.to_out.0");
  const auto x = random_tensor({6, 3}, 9);
  lora.detach();
  const auto base = network.forward(x);
  lora.initialize(Random(3));
  lora.attach();
  CHECK(distance(network.forward(x), base) == 0);  // B is zero
  {
    const at::NoGradGuard no_gradients;
    lora.named_parameters()["part.1.to_out.0.lora_B.weight"].copy_(random_tensor({2, 2}, 4));
  }
  const auto adapted = network.forward(x);
  CHECK(distance(adapted, base) > 0.01);
  adapted.sum().backward();
  CHECK(lora.named_parameters()["part.1.to_out.0.lora_A.weight"].grad().defined());
  CHECK(!network.first.weight.grad().defined());
  lora.detach();
  lora.merge();
  CHECK(distance(network.forward(x), adapted) < 1e-5);
  CHECK_THROWS_AS(nn::LoraModule(network, {.targets = {"to_k"}}), Error);
  CHECK_THROWS_AS(nn::LoraModule(network, {.rank = 0, .targets = {"to_q"}}), Error);
  CHECK(nn::lora_scale(256, 32, true) == 2);
  CHECK(nn::lora_scale(16, 32, false) == 2);
}

TEST_CASE("rope: neighbours are turned, each value by the column of its own") {
  const std::int64_t length = 3, size = 6;
  const auto [cos, sin] = nn::rope_tables(length, size, at::kCPU);
  const auto x = random_tensor({2, 1, length, size}, 5);
  const auto y = nn::apply_rope_neighbours(x, cos, sin);
  for (std::int64_t t = 0; t < length; ++t) {
    for (std::int64_t i = 0; i < size; i += 2) {
      const auto value = [&](const at::Tensor& a, std::int64_t j) {
        return a[1][0][t][j].item<double>();
      };
      const auto c = [&](std::int64_t j) { return cos[t][j].item<double>(); };
      const auto s = [&](std::int64_t j) { return sin[t][j].item<double>(); };
      CHECK(std::abs(value(y, i) - (value(x, i) * c(i) - value(x, i + 1) * s(i))) < 1e-6);
      CHECK(std::abs(value(y, i + 1) - (value(x, i + 1) * c(i + 1) + value(x, i) * s(i + 1))) <
            1e-6);
    }
  }
}
