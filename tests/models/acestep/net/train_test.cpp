// SPDX-License-Identifier: Apache-2.0
// Four steps of LoRA training against the original trainer: losses, and the adapter afterwards.
#include <ATen/ATen.h>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/models/acestep/golden.h"
#include "ubique/models/acestep/net/loss/flow_loss.h"
#include "ubique/models/acestep/net/loss/ssl_loss.h"
#include "ubique/nn/layers/lora_module.h"

using namespace ubique;
using test::acestep_folder, test::distance, test::formula_input, test::Golden;

namespace {

struct TrainLosses {
  at::Tensor denoising, total;
  std::vector<at::Tensor> ssl;
};

/// The losses of golden step s.
TrainLosses train_losses(const acestep::Dit& dit, const Golden& golden, int step) {
  const auto stored = [&](const char* name) {
    return golden.at(fmt::format("step{}.{}", step, name));
  };
  const auto made = [&](const char* name, at::IntArrayRef shape) {
    return formula_input(fmt::format("train.{}.{}", name, step), shape).to(test::kDevice);
  };
  const auto clean = made("x0", {2, 8, 16, 9});
  const auto sigmas = stored("sigmas");
  const auto noisy = acestep::noisy_latents(clean, stored("noise"), sigmas);
  const auto context = dit.encode({.text = made("text", {2, 5, 64}),
                                   .text_mask = golden.at("text_mask"),
                                   .speaker = made("spk", {2, 512}),
                                   .lyric_ids = stored("lyric_ids"),
                                   .lyric_mask = golden.at("lyric_mask")});
  const auto frames = stored("attention_mask");
  const auto output = dit.forward(
      {.latents = noisy, .timestep = stored("timesteps"), .frames = frames}, context, {}, true);
  TrainLosses losses;
  losses.denoising = acestep::flow_loss(output.velocity, noisy, clean, sigmas, frames);
  losses.total = losses.denoising;
  for (std::size_t i = 0; i < output.projections.size(); ++i) {
    std::vector<at::Tensor> features;
    for (std::int64_t item = 0; item < 2; ++item) {
      const auto length = 13 + 5 * item + 2 * static_cast<std::int64_t>(i);
      features.push_back(formula_input(fmt::format("train.ssl.{}.{}.{}", step, i, item),
                                       {length, dit.config().ssl_sizes[i]})
                             .to(test::kDevice));
    }
    losses.ssl.push_back(acestep::ssl_loss(output.projections[i], features));
    losses.total =
        losses.total + losses.ssl.back() / static_cast<double>(output.projections.size());
  }
  return losses;
}

/// AdamW as the golden run has it, with the gradient clipped to a norm first.
class GoldenAdamW {
 public:
  GoldenAdamW(std::vector<at::Tensor> parameters, const Json& meta)
      : parameters_(std::move(parameters)), meta_(meta) {
    for (const auto& parameter : parameters_) {
      first_.push_back(at::zeros_like(parameter));
      second_.push_back(at::zeros_like(parameter));
    }
  }

  void step(double rate) {
    const at::NoGradGuard no_gradients;
    double square = 0;
    for (const auto& parameter : parameters_) {
      square += parameter.grad().square().sum().item<double>();
    }
    const auto clip = std::min(1.0, number("grad_clip_norm") / (std::sqrt(square) + 1e-6));
    const auto b1 = meta_.at("betas").at(0).get<double>(),
               b2 = meta_.at("betas").at(1).get<double>();
    ++count_;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      auto& parameter = parameters_[i];
      const auto gradient = parameter.grad() * clip;
      first_[i] = first_[i] * b1 + gradient * (1 - b1);
      second_[i] = second_[i] * b2 + gradient.square() * (1 - b2);
      const auto mean = first_[i] / (1 - std::pow(b1, count_));
      const auto size = (second_[i] / (1 - std::pow(b2, count_))).sqrt() + number("eps");
      parameter.mul_(1 - rate * number("weight_decay")).sub_(mean / size * rate);
      parameter.mutable_grad() = at::Tensor();
    }
  }

 private:
  double number(const char* key) const { return meta_.at(key).get<double>(); }

  std::vector<at::Tensor> parameters_, first_, second_;
  const Json& meta_;
  int count_ = 0;
};

}  // namespace

TEST_CASE("acestep: four steps of adapter training are the original's") {
  const auto folder = acestep_folder();
  if (folder.empty()) return;
  const auto meta = test::read_json(folder / "train" / "meta.json");
  const auto& config = meta.at("lora_config");
  const auto rank = config.at("r").get<std::int64_t>();
  const Golden golden(folder / "train" / "steps.safetensors");
  auto dit = test::golden_dit(folder / "dit" / "config.json", folder / "dit" / "weights_spec.json");
  nn::LoraModule lora(*dit,
                      {.rank = rank,
                       .scale = nn::lora_scale(rank, config.at("lora_alpha").get<double>(), false),
                       .targets = config.at("target_modules").get<std::vector<std::string>>()});
  {
    const at::NoGradGuard no_gradients;
    const auto spec = test::read_json(folder / "train" / "weights_spec.json");
    REQUIRE(spec.at("tensors").size() == lora.parameters().size());
    for (const auto& entry : spec.at("tensors")) {
      lora.named_parameters()[entry.at("name").get<std::string>()].copy_(test::spec_tensor(entry));
    }
  }
  GoldenAdamW optimizer(lora.parameters(), meta);
  for (int step = 0; step < 4; ++step) {
    CAPTURE(step);
    const auto losses = train_losses(*dit, golden, step);
    const auto expected = [&](const char* name) {
      return golden.at(fmt::format("step{}.log.train/{}", step, name));
    };
    CHECK(distance(losses.denoising, expected("denoising_loss")) < 5e-5);
    CHECK(distance(losses.ssl[0], expected("mert_loss")) < 5e-5);
    CHECK(distance(losses.ssl[1], expected("m-hubert_loss")) < 5e-5);
    CHECK(distance(losses.total, expected("loss")) < 5e-5);
    losses.total.backward();
    const auto index = static_cast<std::size_t>(step);
    optimizer.step(meta.at("steps").at(index).at("lr").get<double>());
  }
  for (const auto& [name, tensor] : golden.all()) {
    if (!name.starts_with("after.")) continue;
    CAPTURE(name);
    CHECK(distance(lora.named_parameters()[name.substr(6)], tensor) < 1e-4);
  }
}
