// SPDX-License-Identifier: Apache-2.0
// The transformer with its large weights in 8 and 4 bits: how far its velocity moves, and adapters
// on it.
#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/models/acestep/random_codec.h"
#include "ubique/base/error.h"
#include "ubique/kernels/quant/quantized_weight.h"
#include "ubique/models/acestep/net/config/networks.h"
#include "ubique/nn/layers/lora_module.h"

using namespace ubique;
using kernels::QuantFormat;

namespace {

/// A transformer of 128 values, 2 blocks and random weights.
std::unique_ptr<acestep::Dit> random_dit() {
  auto config = acestep::tiny_networks().transformer;
  config.layers = 2;
  config.projectors = false;
  auto dit = std::make_unique<acestep::Dit>(config);
  test::fill_randomly(*dit);
  return dit;
}

struct Asked {
  acestep::DitCondition condition;
  acestep::DitInput input;
};

Asked asked_of(const acestep::DitConfig& config) {
  const auto on = [](const at::Tensor& x) { return x.to(test::kDevice); };
  const auto options = at::TensorOptions(at::kLong).device(test::kDevice);
  return {.condition = {.text = on(test::random_tensor({2, 5, config.text_size}, 1)),
                        .text_mask = at::ones({2, 5}, options),
                        .speaker = on(at::zeros({2, config.speaker_size})),
                        .lyric_ids = at::arange(2, 16, options).view({2, 7}),
                        .lyric_mask = at::ones({2, 7}, options)},
          .input = {.latents = on(test::random_tensor({2, 8, 16, 24}, 2)),
                    .timestep = on(at::full({2}, 700.0))}};
}

at::Tensor velocity_of(const acestep::Dit& dit) {
  const auto asked = asked_of(dit.config());
  return dit.forward(asked.input, dit.encode(asked.condition)).velocity;
}

double relative_error(const at::Tensor& a, const at::Tensor& b) {
  return ((a - b).norm() / b.norm()).item<double>();
}

}  // namespace

TEST_CASE(
    "acestep: the velocity of a transformer in 8 and 4 bits stays near, the more bits the nearer") {
  const at::NoGradGuard no_gradients;
  const auto exact = velocity_of(*random_dit());
  const auto error_of = [&](QuantFormat format) {
    auto dit = random_dit();
    const auto count = acestep::quantized_values(dit->config(), format);
    // A small network is mostly its table of lyric tokens, which stays as it is.
    CHECK(count > nn::count_values(acestep::parameter_shapes(dit->config())) / 3);
    dit->quantize(format);
    dit->move_quantized(test::kDevice);
    CHECK(dit->weights().blocks[0].expand.quantized != nullptr);
    CHECK(dit->weights().blocks[0].expand.weight.numel() == 0);
    return relative_error(velocity_of(*dit), exact);
  };
  const auto int8 = error_of(QuantFormat::Int8), int4 = error_of(QuantFormat::Int4);
  const auto nf4 = error_of(QuantFormat::Nf4);
  CAPTURE(int8);
  CAPTURE(int4);
  CAPTURE(nf4);
  CHECK(int8 > 0);
  CHECK(int8 < 0.02);
  CHECK(int4 < 0.25);
  CHECK(nf4 < 0.25);
  CHECK(4 * int8 < int4);
}

TEST_CASE("acestep: adapters act on quantised weights as on plain ones, and cannot be merged") {
  const at::NoGradGuard no_gradients;
  const auto adapted = [](bool before) {
    auto dit = random_dit();
    const auto quantize = [&] {
      dit->quantize(QuantFormat::Int8);
      dit->move_quantized(test::kDevice);
    };
    if (before) quantize();
    nn::LoraModule lora(*dit, {.rank = 4, .targets = {"to_q", "to_out.0", "linear_q"}});
    lora.initialize(Random(3));
    for (auto& item : lora.named_parameters()) {
      if (item.key().ends_with("lora_B.weight")) {
        item.value().copy_(test::random_tensor(item.value().sizes(), 8) * 0.1);
      }
    }
    if (!before) quantize();
    const auto velocity = velocity_of(*dit);
    CHECK_THROWS_AS(lora.merge(), Error);
    lora.detach();
    return std::pair{velocity, velocity_of(*dit)};
  };
  const auto [first, base] = adapted(true);
  const auto [second, same_base] = adapted(false);
  CHECK(test::distance(first, second) < 1e-5);
  CHECK(test::distance(base, same_base) < 1e-5);
  CHECK(relative_error(first, base) > 0.01);
}
