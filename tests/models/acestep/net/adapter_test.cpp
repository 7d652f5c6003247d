// SPDX-License-Identifier: Apache-2.0
// LoRA on the diffusion transformer, against the original trainer and loader.
#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include <fmt/format.h>

#include "tests/models/acestep/golden.h"
#include "ubique/base/error.h"
#include "ubique/nn/layers/lora_module.h"

using namespace ubique;
using test::acestep_folder, test::distance, test::Golden, test::relative_distance;

namespace {

struct AdapterCase {
  std::string name;
  Json json;
  std::unique_ptr<acestep::Dit> dit;
  std::unique_ptr<nn::LoraModule> lora;

  double train_scale() const {
    const auto& config = json.at("lora_config");
    return nn::lora_scale(config.at("r").get<std::int64_t>(), config.at("lora_alpha").get<double>(),
                          config.value("use_rslora", false));
  }
};

/// The golden adapter on the golden transformer, scale 1 at weight 1.
AdapterCase adapter_case(const std::filesystem::path& folder, const std::string& name) {
  AdapterCase made;
  made.name = name;
  made.json = test::read_json(folder / "lora" / (name + "_keys.json"));
  made.dit = test::golden_dit(folder / "dit" / "config.json", folder / "dit" / "weights_spec.json");
  const auto& config = made.json.at("lora_config");
  made.lora = std::make_unique<nn::LoraModule>(
      *made.dit, nn::LoraModuleOptions{
                     .rank = config.at("r").get<std::int64_t>(),
                     .targets = config.at("target_modules").get<std::vector<std::string>>()});
  const at::NoGradGuard no_gradients;
  auto parameters = made.lora->named_parameters();
  CHECK(parameters.size() == made.json.at("tensors").size());
  for (const auto& entry : made.json.at("tensors")) {
    auto* parameter = parameters.find(entry.at("name").get<std::string>());
    REQUIRE(parameter != nullptr);
    parameter->copy_(test::spec_tensor(entry));
  }
  return made;
}

at::Tensor velocity(const acestep::Dit& dit, const Golden& golden) {
  return dit.forward(test::golden_input(golden), dit.encode(test::golden_condition(golden)))
      .velocity;
}

void check_adapter_gradients(const AdapterCase& made, const Golden& golden) {
  for (const auto& entry : made.json.at("tensors")) {
    const auto key = entry.at("name").get<std::string>();
    CAPTURE(key);
    const auto gradient = made.lora->named_parameters()[key].grad();
    REQUIRE(gradient.defined());
    const auto norm = entry.at("grad_norm").get<double>();
    CHECK(std::abs(gradient.norm().item<double>() - norm) < 1e-4 * norm);
    const auto stored = made.name + ".grad." + key;
    if (golden.has(stored)) CHECK(relative_distance(gradient, golden.at(stored)) < 1e-4);
  }
  for (const auto& parameter : made.dit->parameters()) CHECK(!parameter.grad().defined());
}

}  // namespace

TEST_CASE("acestep lora: the trainer's scale, loss and gradients") {
  const auto folder = acestep_folder();
  if (folder.empty()) return;
  const Golden golden(folder / "lora" / "io.safetensors");
  for (const std::string name : {"small_r16", "zh_rap_r256"}) {
    CAPTURE(name);
    const auto made = adapter_case(folder, name);
    CHECK(made.train_scale() == made.json.at("train_scaling").at(0).get<double>());
    made.lora->attach(made.train_scale());
    const auto sample = velocity(*made.dit, golden);
    CHECK(distance(sample, golden.at(name + ".train.sample")) < 5e-5);
    const auto loss = (sample - golden.at("in.target")).square().mean();
    CHECK(distance(loss, golden.at(name + ".train.loss")) < 2e-5);
    loss.backward();
    check_adapter_gradients(made, golden);
  }
}

TEST_CASE("acestep lora: the loader's scale is the user's weight; 0 is the base to the bit") {
  const auto folder = acestep_folder();
  if (folder.empty()) return;
  const Golden golden(folder / "lora" / "io.safetensors");
  const at::NoGradGuard no_gradients;
  for (const std::string name : {"small_r16", "zh_rap_r256"}) {
    const auto made = adapter_case(folder, name);
    std::size_t compared = 0;
    for (const double weight : {-1.0, 0.0, 0.5, 0.75, 1.0, 1.5, 2.0}) {
      const auto key = fmt::format("{}.loaded.w{:.1f}.sample", name, weight);
      if (!golden.has(key)) continue;
      CAPTURE(key);
      made.lora->attach(weight);
      CHECK(distance(velocity(*made.dit, golden), golden.at(key)) < 5e-5);
      ++compared;
    }
    CHECK(compared >= 1);
    made.lora->attach(0);
    const auto silent = velocity(*made.dit, golden);
    made.lora->attach(0.7);
    const auto adapted = velocity(*made.dit, golden);
    made.lora->detach();
    const auto base = velocity(*made.dit, golden);
    CHECK(distance(silent, base) == 0);
    CHECK(distance(base, golden.at("base.sample")) < 5e-5);
    made.lora->merge(0.7);
    CHECK(distance(velocity(*made.dit, golden), adapted) < 5e-5);
  }
}

TEST_CASE("acestep lora: a target that matches no layer is refused with those there are") {
  acestep::DitConfig config;
  config.layers = 1;
  config.ssl_depths = {0, 0};
  acestep::Dit dit(config, at::TensorOptions(at::kMeta));
  try {
    const nn::LoraModule lora(dit, {.targets = {"to_q", "qkv"}});
    FAIL("accepted");
  } catch (const Error& error) {
    const std::string message = error.what();
    CHECK(message.find("'qkv' matches no layer") != std::string::npos);
    CHECK(message.find("to_out.0") != std::string::npos);
  }
}
