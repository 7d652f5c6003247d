// SPDX-License-Identifier: Apache-2.0
// Three AdamW updates of the golden models, as PyTorch makes them.
#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/models/codelm/golden.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/engine/optim/optimizer.h"

using namespace ubique;
using test::codelm_golden, test::distance, test::golden_batch;

namespace {

/// The key's bias has no gradient but rounding, which Adam turns into steps of the learning rate.
bool has_noise_gradient(const std::string& name) { return name.ends_with("c_attn.bias"); }

}  // namespace

TEST_CASE("codelm: three updates with decay on matrices alone are PyTorch's") {
  for (const auto* name : {"bigcode_mqa", "bigcode_mha", "starcoder2_tied", "starcoder2_untied"}) {
    CAPTURE(name);
    const auto golden = codelm_golden(name, name);
    if (!golden.model) return;
    auto& network = golden.model->codelm();
    network.eval();
    const engine::OptimizerOptions options{.lr = 1e-3,
                                           .weight_decay = 0.1,
                                           .decay_matrices_only = true,
                                           .beta1 = 0.9,
                                           .beta2 = 0.95,
                                           .eps = 1e-8};
    const auto optimizer =
        engine::make_optimizer(options, engine::trainable_parameters(network), false);
    const auto losses = golden.json.at("adamw").at("losses_before_each_step_and_after_the_last");
    const auto fine = at::zeros({}, at::TensorOptions(at::kFloat).device(test::kDevice));
    for (std::size_t i = 0; i < 3; ++i) {
      optimizer->zero_grad();
      const auto step = golden.model->step(golden_batch(golden));
      CHECK(std::abs(step.loss.item<double>() - losses[i].get<double>()) < 1e-5);
      step.loss.backward();
      optimizer->prepare({.lr = 1e-3});
      optimizer->step(fine);
    }
    const auto last = golden.model->step(golden_batch(golden)).loss.item<double>();
    CHECK(std::abs(last - losses[3].get<double>()) < 1e-5);
    for (const auto& item : network.named_parameters()) {
      CAPTURE(item.key());
      if (has_noise_gradient(item.key())) continue;
      const auto& expected = golden.tensors.at("after3/" + item.key());
      auto value = item.value().detach();
      if (expected.size(0) < value.size(0)) {
        const auto stride = golden.json.at("parameters").at(item.key()).at("row_stride");
        value = value.slice(0, 0, value.size(0), stride.get<std::int64_t>());
      }
      // Adam turns the rounding of small gradients into steps, which differs between CPUs too:
      // single weights may be some tenths of one step off, most must agree.
      CHECK(distance(value, expected) < 3e-4);
      CHECK((value.cpu() - expected.cpu()).abs().mean().item<double>() < 1e-6);
    }
  }
}
