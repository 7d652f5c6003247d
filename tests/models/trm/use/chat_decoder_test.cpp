// SPDX-License-Identifier: Apache-2.0
// Incremental decoding against the full pass, and the networks it refuses.
#include "ubique/models/trm/use/chat_decoder.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "tests/models/trm/chat_samples.h"

namespace ubique::trm {
namespace {

std::vector<std::int32_t> some_tokens(std::int64_t count, std::uint64_t seed = 1) {
  std::vector<std::int32_t> tokens;
  for (std::int64_t i = 0; i < count; ++i) {
    tokens.push_back(
        static_cast<std::int32_t>(Random(seed).below(static_cast<std::uint64_t>(i), 266)));
  }
  return tokens;
}

/// Logits after each token of a whole text as training computes them: (S, V).
at::Tensor whole_logits(const Trm& network, std::vector<std::int32_t> tokens) {
  const at::NoGradGuard no_gradients;
  const auto& config = network.config();
  tokens.resize(static_cast<std::size_t>(config.seq_len), 0);  // padded on the right
  const auto inputs =
      at::tensor(at::ArrayRef<int>(tokens.data(), tokens.size()), at::kInt).unsqueeze(0);
  const auto weights = network.cast(at::kFloat);
  const auto x = network.embed(weights, inputs, {});
  auto latents = network.start(weights, 1);
  Answer answer;
  for (std::int64_t i = 0; i < config.halt_max_steps; ++i)
    answer = network.step(weights, x, latents);
  return answer.logits[0];
}

double distance_to(const std::vector<float>& logits, const at::Tensor& row) {
  const auto mine = at::tensor(at::ArrayRef<float>(logits.data(), logits.size()));
  return (mine - row).abs().max().item<double>();
}

}  // namespace

TEST_CASE("chat decoder: one token at a time gives the logits of the whole text") {
  for (const auto positions : {Positions::Rope, Positions::Learned, Positions::None}) {
    for (const std::int64_t cycles : {1, 3}) {
      auto config = test::chat_config(positions);
      config.high_cycles = cycles;
      config.low_cycles = 3 - cycles / 2;
      config.halt_max_steps = cycles == 3 ? 2 : 1;
      test::ChatSample sample(config);
      const auto tokens = some_tokens(config.seq_len);
      const auto whole = whole_logits(sample.network, tokens);
      ChatDecoder decoder(sample.network, at::kFloat);
      CAPTURE(to_string(positions));
      CAPTURE(cycles);
      CHECK(distance_to(decoder.prefill(std::span(tokens).first(5)), whole[4]) < 2e-5);
      for (std::size_t i = 5; i < tokens.size(); ++i) {
        CHECK(distance_to(decoder.step(tokens[i]), whole[static_cast<std::int64_t>(i)]) < 2e-5);
      }
    }
  }
}

TEST_CASE("chat decoder: another text reuses the shared prefix and nothing else") {
  test::ChatSample sample;
  ChatDecoder decoder(sample.network, at::kFloat);
  auto tokens = some_tokens(20);
  (void)decoder.prefill(tokens);
  auto changed = tokens;
  changed[7] = (changed[7] + 1) % 266;
  changed.resize(12);
  CHECK(distance_to(decoder.prefill(changed), whole_logits(sample.network, changed)[11]) < 2e-5);
  CHECK(decoder.tokens() == changed);
  // The same text again, and a prefix of it: the logits of the last token are needed.
  CHECK(distance_to(decoder.prefill(changed), whole_logits(sample.network, changed)[11]) < 2e-5);
  const auto beginning = std::span<const std::int32_t>(changed).first(3);
  CHECK(distance_to(decoder.prefill(beginning), whole_logits(sample.network, changed)[2]) < 2e-5);
}

TEST_CASE("chat decoder: later tokens do not change the logits of earlier ones") {
  test::ChatSample sample;
  auto tokens = some_tokens(24);
  const auto before = whole_logits(sample.network, tokens);
  tokens[20] = (tokens[20] + 1) % 266;
  const auto after = whole_logits(sample.network, tokens);
  CHECK((before.slice(0, 0, 20) - after.slice(0, 0, 20)).abs().max().item<double>() == 0);
  CHECK((before[20] - after[20]).abs().max().item<double>() > 1e-3);
}

TEST_CASE("chat decoder: puzzle solvers are refused with the reason") {
  auto config = test::chat_config();
  config.causal = false;
  const Trm not_causal(config);
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Input, [&] { ChatDecoder(not_causal, at::kFloat); }),
      "its tokens see later ones"));
  config.causal = true;
  config.puzzle_emb_ndim = 32;
  config.puzzle_emb_len = 4;
  const Trm has_prefix(config);
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Input, [&] { ChatDecoder(has_prefix, at::kFloat); }),
      "no prefix before the text; got 4"));
}

}  // namespace ubique::trm
