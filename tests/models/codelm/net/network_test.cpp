// SPDX-License-Identifier: Apache-2.0
// Logits, loss, gradients and greedy text of every golden model, as transformers has them.
#include "ubique/models/codelm/net/network.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/models/codelm/golden.h"
#include "ubique/models/codelm/use/decoder.h"
#include "ubique/nn/decode/sampling.h"

using namespace ubique;
using test::codelm_golden, test::distance, test::golden_batch, test::golden_logits,
    test::masked_distance;

namespace {

constexpr const char* kGoldenModels[] = {"bigcode_mqa", "bigcode_mha", "starcoder2_tied",
                                         "starcoder2_untied"};

/// Greedy continuation of a prompt through the KV caches.
std::vector<std::int32_t> greedy_tokens(nn::Decoder& decoder, const at::Tensor& prompt,
                                        std::size_t count) {
  std::vector<std::int32_t> tokens;
  for (std::int64_t i = 0; i < prompt.numel(); ++i) {
    tokens.push_back(static_cast<std::int32_t>(prompt[i].item<std::int64_t>()));
  }
  auto logits = decoder.prefill(tokens);
  while (tokens.size() < count) {
    tokens.push_back(nn::sample_token(logits, {.temperature = 0}, Random(0), 0));
    if (tokens.size() < count) logits = decoder.step(tokens.back());
  }
  return tokens;
}

}  // namespace

TEST_CASE("codelm: logits of packed and padded rows are transformers'") {
  for (const auto* name : kGoldenModels) {
    CAPTURE(name);
    const auto golden = codelm_golden(name, name);
    if (!golden.model) return;
    const at::NoGradGuard no_gradients;
    const auto logits = golden_logits(golden);
    const auto columns = logits.index_select(2, golden.at("logits_col_ids"));
    CHECK(masked_distance(golden, columns, golden.at("logits_cols")) < 2e-5);
    CHECK(distance(logits.slice(1, -2), golden.at("logits_last2")) < 2e-5);
    CHECK(masked_distance(golden, logits.logsumexp(-1), golden.at("logits_logsumexp")) < 2e-5);
    CHECK(masked_distance(golden, logits.argmax(-1), golden.at("logits_argmax")) == 0);
  }
}

TEST_CASE("codelm: loss and gradients are transformers'") {
  for (const auto* name : kGoldenModels) {
    CAPTURE(name);
    const auto golden = codelm_golden(name, name);
    if (!golden.model) return;
    auto& network = golden.model->codelm();
    network.eval();
    const auto step = golden.model->step(golden_batch(golden));
    CHECK(std::abs(step.loss.item<double>() - golden.json.at("loss").get<double>()) < 2e-6);
    step.loss.backward();
    for (const auto& item : network.named_parameters()) {
      CAPTURE(item.key());
      const auto& expected = golden.tensors.at("grad/" + item.key());
      auto gradient = item.value().grad();
      if (expected.size(0) < gradient.size(0)) {  // the file has every n-th row
        const auto stride = golden.json.at("parameters").at(item.key()).at("row_stride");
        gradient = gradient.slice(0, 0, gradient.size(0), stride.get<std::int64_t>());
      }
      CHECK(distance(gradient, expected) < 1e-6);
    }
  }
}

TEST_CASE("codelm: greedy text with KV caches is transformers'") {
  for (const auto* name : kGoldenModels) {
    CAPTURE(name);
    const auto golden = codelm_golden(name, name);
    if (!golden.model) return;
    const auto expected = golden.tensors.at("gen_single")[0];  // the prompt has 10 tokens
    codelm::CodelmDecoder decoder(golden.model->codelm());
    const auto made = greedy_tokens(decoder, expected.slice(0, 0, 10),
                                    static_cast<std::size_t>(expected.numel()));
    for (std::size_t i = 0; i < made.size(); ++i) {
      CHECK(made[i] == expected[static_cast<std::int64_t>(i)].item<std::int64_t>());
    }
  }
}

TEST_CASE("codelm: a prompt in pieces, in one pass and after another text gives the same logits") {
  const auto golden = codelm_golden("starcoder2_tied", "starcoder2_tied");
  if (!golden.model) return;
  const auto row = golden.tensors.at("input_ids")[0];
  std::vector<std::int32_t> tokens;
  for (std::int64_t i = 0; i < row.numel(); ++i) {
    tokens.push_back(static_cast<std::int32_t>(row[i].item<std::int64_t>()));
  }
  codelm::CodelmDecoder whole(golden.model->codelm()), stepwise(golden.model->codelm());
  const auto at_once = whole.prefill(tokens);
  auto by_steps = stepwise.prefill(std::span(tokens).first(3));
  for (std::size_t i = 3; i < tokens.size(); ++i) by_steps = stepwise.step(tokens[i]);
  auto other = tokens;
  other[7] ^= 1;
  stepwise.prefill(other);
  const auto again = stepwise.prefill(tokens);  // shares seven tokens with the other text
  for (std::size_t i = 0; i < at_once.size(); ++i) {
    CHECK(std::abs(at_once[i] - by_steps[i]) < 2e-5);
    CHECK(std::abs(at_once[i] - again[i]) < 2e-5);
  }
}

TEST_CASE("codelm: bf16 weights in f32 arithmetic give transformers' logits") {
  const auto golden = codelm_golden("bigcode_mqa_bf16", "bigcode_mqa_bf16");
  if (!golden.model) return;
  const at::NoGradGuard no_gradients;
  const auto logits = golden_logits(golden);
  const auto columns = logits.index_select(2, golden.at("logits_col_ids"));
  CHECK(masked_distance(golden, columns, golden.at("logits_bf16_weights_fp32_math_cols")) < 2e-5);
}
