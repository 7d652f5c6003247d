// SPDX-License-Identifier: Apache-2.0
// Steps of a few tokens on the CPU in code of our own, against the plain ops of the whole network.
#include "ubique/nn/decode/host_step.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/models/codelm/layouts.h"
#include "tests/tensors.h"
#include "ubique/models/codelm/use/decoder.h"

using namespace ubique;

namespace {

/// The layouts, with biases, norms and an unused cache that are not the values of a fresh network.
std::unique_ptr<codelm::Codelm> disturbed_network(const Json& layout, at::ScalarType dtype) {
  auto network = test::small_network(layout);
  const at::NoGradGuard no_gradients;
  std::uint64_t seed = 9;
  for (auto& parameter : network->parameters()) {
    if (parameter.dim() == 1) parameter.add_(0.3 * test::random_tensor(parameter.sizes(), ++seed));
  }
  network->to(dtype);
  network->refresh();
  return network;
}

std::vector<std::int32_t> some_tokens(std::int64_t count) {
  std::vector<std::int32_t> tokens;
  for (std::int64_t i = 0; i < count; ++i) {
    tokens.push_back(static_cast<std::int32_t>((i * 37 + i * i) % 251));
  }
  return tokens;
}

/// Logits of every token after a prompt: one by one, in sixes, in two slots at once.
at::Tensor logits_after(nn::Decoder& decoder, const std::vector<std::int32_t>& tokens,
                        std::size_t prompt, std::size_t width) {
  const std::span<const std::int32_t> all = tokens;
  std::vector<float> logits;
  decoder.start({0, all.first(prompt)}, nn::Wanted::Logits);
  if (decoder.slots() > 1) decoder.start({1, all.subspan(1, prompt / 2)}, nn::Wanted::Logits);
  for (auto at = prompt; at < all.size(); at += width) {
    const auto piece = all.subspan(at, std::min(width, all.size() - at));
    std::vector<nn::Extension> extensions = {{0, piece}};
    if (decoder.slots() > 1) extensions.push_back({1, piece.first(1)});
    const auto found = decoder.extend(extensions, nn::Wanted::Logits).logits;
    logits.insert(logits.end(), found.begin(), found.end());
  }
  return at::tensor(logits).view({-1, decoder.vocabulary()});
}

}  // namespace

TEST_CASE("codelm host step: logits are those of plain ops, in every layout and any grouping") {
  if (test::kDevice != c10::Device(c10::kCPU)) return;
  const auto tokens = some_tokens(60);
  for (const auto& layout : test::small_layouts()) {
    CAPTURE(layout.dump());
    const auto network = disturbed_network(layout, at::kFloat);
    REQUIRE(network->host_network().has_value());
    for (const std::int64_t slots : {1, 3}) {
      for (const std::size_t width : {1, 6}) {
        for (const std::size_t prompt : {5, 30}) {
          codelm::CodelmDecoder plain(*network, {}, {.slots = slots, .own_steps = false});
          codelm::CodelmDecoder own(*network, {}, {.slots = slots});
          const auto expected = logits_after(plain, tokens, prompt, width);
          const auto got = logits_after(own, tokens, prompt, width);
          CHECK(test::relative_distance(got, expected) < 1e-5);
        }
      }
    }
  }
}

TEST_CASE("codelm host step: bf16 weights are computed more exactly than by plain ops in bf16") {
  if (test::kDevice != c10::Device(c10::kCPU)) return;
  const auto tokens = some_tokens(40);
  for (const auto& layout : test::small_layouts()) {
    CAPTURE(layout.dump());
    const auto network = disturbed_network(layout, at::kBFloat16);
    REQUIRE(network->host_network().has_value());
    codelm::CodelmDecoder own(*network), plain(*network, {}, {.own_steps = false});
    const auto got = logits_after(own, tokens, 5, 1), rounded = logits_after(plain, tokens, 5, 1);
    network->to(at::kFloat);
    network->refresh();
    codelm::CodelmDecoder wide(*network, {}, {.own_steps = false});
    const auto exact = logits_after(wide, tokens, 5, 1);
    CHECK(test::relative_distance(got, exact) < 0.04);  // the cache has bf16
    CHECK((got - exact).square().sum().item<float>() <
          (rounded - exact).square().sum().item<float>());
  }
}

TEST_CASE("codelm host step: quantised weights give the same numbers as through plain ops") {
  if (test::kDevice != c10::Device(c10::kCPU)) return;
  const auto tokens = some_tokens(40);
  for (const auto format : {kernels::QuantFormat::Int8, kernels::QuantFormat::Int4}) {
    for (const auto& layout : test::small_layouts()) {
      CAPTURE(layout.dump());
      const auto network = disturbed_network(layout, at::kFloat);
      network->quantize(format, false, true);
      REQUIRE(network->host_network().has_value());
      for (const std::size_t width : {1, 6}) {
        codelm::CodelmDecoder plain(*network, {}, {.own_steps = false}), own(*network);
        const auto expected = logits_after(plain, tokens, 5, width);
        const auto got = logits_after(own, tokens, 5, width);
        // A value on the border of two 8-bit numbers may fall to the other side; most do not.
        CHECK(test::relative_distance(got, expected) < 0.03);
        CHECK((got - expected).abs().mean().item<double>() <
              1e-3 * expected.abs().max().item<double>());
      }
    }
  }
}

TEST_CASE("codelm host step: the likeliest tokens are those of the logits") {
  if (test::kDevice != c10::Device(c10::kCPU)) return;
  const auto network = disturbed_network(test::small_layouts().front(), at::kFloat);
  const auto tokens = some_tokens(24);
  codelm::CodelmDecoder one(*network), other(*network);
  one.start({0, std::span(tokens).first(8)}, nn::Wanted::Likeliest);
  other.start({0, std::span(tokens).first(8)}, nn::Wanted::Logits);
  const nn::Extension rest{0, std::span(tokens).subspan(8)};
  const auto likeliest = one.extend({&rest, 1}, nn::Wanted::Likeliest).likeliest;
  const auto logits = other.extend({&rest, 1}, nn::Wanted::Logits).logits;
  const auto expected = at::tensor(logits).view({16, -1}).argmax(-1);
  for (std::int64_t i = 0; i < 16; ++i) {
    CHECK(likeliest.at(static_cast<std::size_t>(i)) == expected[i].item<std::int64_t>());
  }
}

TEST_CASE("codelm host step: weights that are no numbers are an input error") {
  if (test::kDevice != c10::Device(c10::kCPU)) return;
  const auto network = disturbed_network(test::small_layouts().front(), at::kFloat);
  {
    const at::NoGradGuard no_gradients;
    network->parameters().back().fill_(NAN);
  }
  codelm::CodelmDecoder decoder(*network);
  const std::vector<std::int32_t> tokens = {1, 2, 3};
  CHECK_THROWS_AS(decoder.start({0, tokens}, nn::Wanted::Likeliest), Error);
}

TEST_CASE("codelm host step: nf4 weights and attached adapters go through plain ops") {
  if (test::kDevice != c10::Device(c10::kCPU)) return;
  auto layout = test::small_layouts().front();
  layout["n_embd"] = 64;
  const auto network = disturbed_network(layout, at::kFloat);
  auto* layer = network->linear_layers().front().second;
  layer->adapters.push_back(nn::make_lora(layer->weight, {.rank = 2}, Random(1)));
  CHECK_FALSE(network->host_network().has_value());
  layer->adapters.clear();
  CHECK(network->host_network().has_value());
  network->quantize(kernels::QuantFormat::Nf4, false, false);
  CHECK_FALSE(network->host_network().has_value());
  codelm::CodelmDecoder decoder(*network);
  const std::vector<std::int32_t> tokens = {1, 2, 3};
  CHECK(decoder.start({0, tokens}, nn::Wanted::Likeliest).likeliest.size() == 1);
}
