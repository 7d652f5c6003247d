// SPDX-License-Identifier: Apache-2.0
// The text encoder against transformers' numbers.
#include "ubique/models/acestep/net/umt5.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/models/acestep/golden.h"
#include "ubique/models/acestep/files/weights.h"

using namespace ubique;
using test::acestep_folder, test::distance, test::Golden;

TEST_CASE("umt5: hidden states of padded, shortest and long texts are transformers'") {
  const auto folder = acestep_folder();
  if (folder.empty()) return;
  const auto config = folder / "umt5" / "config.json";
  acestep::Umt5 network(acestep::parse_umt5_config(test::read_json(config), config.string()));
  acestep::read_weights(network, folder / "umt5" / "model.safetensors");
  network.to(test::kDevice);
  network.refresh();
  const Golden golden(folder / "umt5" / "io.safetensors");
  const at::NoGradGuard no_gradients;
  for (const std::string name : {"a", "b", "c"}) {
    CAPTURE(name);
    const auto hidden =
        network.forward(golden.at(name + ".in.input_ids"), golden.at(name + ".in.attention_mask"));
    CHECK(distance(hidden, golden.at(name + ".out.last_hidden_state")) < 5e-5);
  }
  const auto buckets = golden.at("c.out.bucket").cpu();
  for (std::int64_t i = 0; i < buckets.numel(); ++i) {
    CHECK(acestep::relative_bucket(i - 200, network.config()) == buckets[i].item<std::int64_t>());
  }
}

TEST_CASE("umt5: weakened layers give the golden null branch") {
  const auto folder = acestep_folder();
  if (folder.empty()) return;
  const auto config = folder / "pipeline" / "erg_umt5_config.json";
  acestep::Umt5 network(acestep::parse_umt5_config(test::read_json(config), config.string()));
  test::fill_by_formula(network, folder / "pipeline" / "erg_umt5_weights_spec.json");
  const Golden golden(folder / "pipeline" / "erg_text.safetensors");
  const at::NoGradGuard no_gradients;
  const auto ids = golden.at("input_ids"), mask = at::ones_like(ids);
  CHECK(distance(network.forward(ids, mask), golden.at("normal")) < 5e-5);
  CHECK(distance(network.forward(ids, mask, {.first = 8, .last = 10}), golden.at("weakened")) <
        5e-5);
}

TEST_CASE("umt5: padding does not change the states of the other tokens") {
  acestep::Umt5 network(
      {.vocabulary = 20, .hidden = 8, .head_size = 4, .inner = 12, .layers = 2, .heads = 2});
  const at::NoGradGuard no_gradients;
  std::uint64_t seed = 1;
  for (auto& parameter : network.parameters()) {
    parameter.copy_(test::random_tensor(parameter.sizes(), seed++));
  }
  network.to(test::kDevice);
  network.refresh();
  const auto ids = at::arange(3, 8, at::kLong).unsqueeze(0).to(test::kDevice);  // (1, 5)
  const auto padded = at::cat({ids, at::zeros({1, 4}, ids.options())}, 1);
  const auto mask = padded.ne(0);
  const auto alone = network.forward(ids, at::ones_like(ids));
  CHECK(distance(network.forward(padded, mask).slice(1, 0, 5), alone) < 1e-5);
}
