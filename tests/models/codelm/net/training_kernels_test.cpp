// SPDX-License-Identifier: Apache-2.0
// Training under autocast through fake kernels: the gradients of every layout, against those in
// f32.
#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/kernels/decoder/fake_training_kernels.h"
#include "tests/models/codelm/layouts.h"
#include "ubique/engine/step/autocast.h"
#include "ubique/models/codelm/net/model.h"

using namespace ubique;
using test::FakeTrainingKernels;

namespace {

engine::Batch small_batch() {
  const auto ids = at::arange(24, at::kLong).mul(37).remainder(266).view({2, 12});
  engine::Batch batch;
  batch.samples = 2;
  batch.weight = 24;
  batch.tensors = {{"ids", ids},
                   {"labels", ids.roll({-1}, {1}).contiguous()},
                   {"positions", at::arange(12).expand({2, 12}).contiguous()}};
  return batch;
}

/// The gradients of all parameters, with products in `dtype`.
std::vector<at::Tensor> gradients_of(codelm::CodelmModel& model, at::ScalarType dtype) {
  for (auto& parameter : model.network().parameters()) parameter.mutable_grad() = at::Tensor();
  at::Tensor loss;
  {
    const engine::Autocast autocast(c10::kCPU, {dtype != at::kFloat, dtype});
    loss = model.step(small_batch()).loss;
  }
  loss.backward();
  std::vector<at::Tensor> gradients;
  for (const auto& parameter : model.network().parameters()) gradients.push_back(parameter.grad());
  return gradients;
}

/// Relative error of each gradient.
std::vector<double> errors_of(const std::vector<at::Tensor>& got,
                              const std::vector<at::Tensor>& expected) {
  std::vector<double> errors;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto size = expected[i].norm().item<double>();
    errors.push_back(size < 1e-6 ? 0 : (got[i] - expected[i]).norm().item<double>() / size);
  }
  return errors;
}

/// No gradient is much farther off than autocast's own.
void check_errors(const std::vector<double>& got, const std::vector<double>& autocast) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    CHECK(got[i] < 1.6 * autocast[i] + 0.01);
  }
}

codelm::CodelmModel noisy_model(const Json& layout, bool deep) {
  auto changed = layout;
  if (deep) changed["n_layer"] = 5;
  for (const auto* dropout : {"resid_pdrop", "embd_pdrop", "attn_pdrop"}) changed[dropout] = 0;
  codelm::CodelmModel model(
      std::make_shared<codelm::Codelm>(codelm::parse_config(changed, "test")));
  model.initialize(Random(1));
  const at::NoGradGuard no_gradients;
  at::manual_seed(1);
  for (auto& parameter : model.network().parameters()) {
    if (parameter.dim() == 1) parameter.add_(at::randn_like(parameter), 0.3);
    if (parameter.dim() == 2) parameter.mul_(8);  // attention of a new network is nearly even
  }
  model.network().train();
  return model;
}

}  // namespace

TEST_CASE("codelm training kernels: gradients of every layout are those in f32") {
  for (const auto& layout : test::small_layouts()) {
    CAPTURE(layout.dump());
    const bool bigcode = layout.at("model_type") == "gpt_bigcode";
    auto model = noisy_model(layout, bigcode);
    const auto expected = gradients_of(model, at::kFloat);
    const auto autocast = errors_of(gradients_of(model, at::kBFloat16), expected);
    const FakeTrainingKernels kernels;
    gradients_of(model, at::kBFloat16);  // the kernels' checks, too
    const auto before = FakeTrainingKernels::calls();
    check_errors(errors_of(gradients_of(model, at::kBFloat16), expected), autocast);
    const auto after = FakeTrainingKernels::calls();
    CHECK(after.products > before.products);
    CHECK(after.norms > before.norms);
    if (!bigcode) continue;
    CHECK(after.again - before.again == 2);  // of five blocks
    CHECK(after.joined - before.joined == (layout.value("multi_query", true) ? 5 : 0));
  }
}

TEST_CASE("codelm training kernels: a device may have some of them only") {
  auto model = noisy_model(test::small_layouts().front(), true);
  const auto expected = gradients_of(model, at::kFloat);
  const auto autocast = errors_of(gradients_of(model, at::kBFloat16), expected);
  const FakeTrainingKernels kernels(/*norms=*/false);
  check_errors(errors_of(gradients_of(model, at::kBFloat16), expected), autocast);
}

TEST_CASE("codelm training kernels: recomputed blocks have the same gradients") {
  auto model = noisy_model(test::small_layouts().front(), true);
  const auto expected = gradients_of(model, at::kFloat);
  const auto autocast = errors_of(gradients_of(model, at::kBFloat16), expected);
  plan::Plan plan;
  plan.checkpointing.value = true;
  model.apply_plan(plan);
  const FakeTrainingKernels kernels;
  check_errors(errors_of(gradients_of(model, at::kBFloat16), expected), autocast);
}
