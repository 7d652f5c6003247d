// SPDX-License-Identifier: Apache-2.0
// Steps by a device's kernels, here fake ones of the CPU: the walk over every layout, and the steps
// that run ahead of the host, against plain ops.
#include "ubique/nn/steps/device_step.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/data/chat/chat_samples.h"
#include "tests/models/codelm/layouts.h"
#include "tests/models/codelm/use/fake_decode_kernels.h"
#include "tests/tensors.h"
#include "ubique/models/codelm/use/decoder.h"
#include "ubique/nn/decode/generate.h"

using namespace ubique;

namespace {

/// The layouts in sizes that kernels can have: whole groups of 32 columns and 8 features.
std::unique_ptr<codelm::Codelm> network_for_kernels(Json layout, std::int64_t tokens = 264) {
  layout["vocab_size"] = tokens;
  auto network = test::small_network(layout);
  const at::NoGradGuard no_gradients;
  std::uint64_t seed = 9;
  for (auto& parameter : network->parameters()) {
    if (parameter.dim() == 1) parameter.add_(0.3 * test::random_tensor(parameter.sizes(), ++seed));
  }
  network->refresh();
  return network;
}

std::vector<std::int32_t> spread_tokens(std::int64_t count) {
  std::vector<std::int32_t> tokens;
  for (std::int64_t i = 0; i < count; ++i) {
    tokens.push_back(static_cast<std::int32_t>((i * 37 + i * i) % 251));
  }
  return tokens;
}

using Tokens = std::vector<std::int32_t>;

Tokens step_all(nn::Decoder& decoder, const std::vector<std::int64_t>& slots, const Tokens& next) {
  std::vector<nn::Extension> all;
  for (std::size_t i = 0; i < slots.size(); ++i) all.push_back({slots[i], {&next[i], 1}});
  return decoder.extend(all, nn::Wanted::Likeliest).likeliest;
}

/// Greedy text of several slots, with what makes a step that ran ahead useless: a token that was
/// not the likeliest, another text in a slot, a slot that rests, a shorter text.
Tokens eventful_text(nn::Decoder& decoder) {
  const auto prompt = spread_tokens(40);
  const std::span<const std::int32_t> all = prompt;
  Tokens made, next(3);
  const auto add = [&](const Tokens& more) { made.insert(made.end(), more.begin(), more.end()); };
  const auto begin = [&](std::int64_t slot, std::size_t length) {
    const auto first = all.subspan(static_cast<std::size_t>(slot), length);
    return decoder.start({slot, first}, nn::Wanted::Likeliest).likeliest.front();
  };
  for (std::int64_t slot = 0; slot < 3; ++slot) {
    next[static_cast<std::size_t>(slot)] = begin(slot, 5 + 7 * static_cast<std::size_t>(slot));
  }
  const auto go = [&](int times) {
    for (int i = 0; i < times; ++i) add(next = step_all(decoder, {0, 1, 2}, next));
  };
  go(6);
  next[1] = 17;  // somebody else's choice
  go(4);
  Tokens two = {next[0], next[2]};
  for (int i = 0; i < 3; ++i) add(two = step_all(decoder, {0, 2}, two));
  next = {two[0], next[1], two[1]};
  go(3);
  next[2] = begin(2, 9);
  go(4);
  const auto length = static_cast<std::int64_t>(decoder.tokens(1).size());
  decoder.shorten(1, length - 2);
  next[1] = 5;
  go(4);
  const nn::Extension pair{0, all.first(2)};
  add(decoder.extend({&pair, 1}, nn::Wanted::Likeliest).likeliest);
  go(3);
  return made;
}

}  // namespace

TEST_CASE("codelm device step: logits are those of plain ops, in every layout") {
  if (test::kDevice != c10::Device(c10::kCPU)) return;
  const test::FakeDecodeKernels kernels;
  const auto tokens = spread_tokens(50);
  const std::span<const std::int32_t> all = tokens;
  for (const auto& layout : test::small_layouts()) {
    CAPTURE(layout.dump());
    const auto network = network_for_kernels(layout);
    for (const std::int64_t slots : {1, 3}) {
      codelm::CodelmDecoder plain(*network, {}, {.slots = slots, .own_steps = false});
      codelm::CodelmDecoder own(*network, {}, {.slots = slots});
      CHECK_FALSE(plain.has_kernels());
      REQUIRE(own.has_kernels());
      for (auto* decoder : {&plain, &own}) decoder->start({0, all.first(30)}, nn::Wanted::Logits);
      for (std::size_t i = 30; i < tokens.size(); ++i) {
        const nn::Extension one{0, all.subspan(i, 1)};
        const auto before = test::FakeDecodeKernels::steps();
        const auto got = own.extend({&one, 1}, nn::Wanted::Logits).logits;
        CHECK(test::FakeDecodeKernels::steps() == before + 1);
        const auto expected = plain.extend({&one, 1}, nn::Wanted::Logits).logits;
        CHECK(test::relative_distance(at::tensor(got), at::tensor(expected)) < 1e-5);
      }
    }
  }
}

TEST_CASE("codelm device step: texts are the same whatever happens to steps that run ahead") {
  if (test::kDevice != c10::Device(c10::kCPU)) return;
  const test::FakeDecodeKernels kernels;
  for (const auto& layout : {test::small_layouts().front(), test::small_layouts().back()}) {
    const auto network = network_for_kernels(layout);
    codelm::CodelmDecoder plain(*network, {}, {.slots = 3, .own_steps = false});
    codelm::CodelmDecoder own(*network, {}, {.slots = 3});
    REQUIRE(own.has_kernels());
    CHECK(eventful_text(own) == eventful_text(plain));
  }
}

TEST_CASE("codelm device step: a step is made ahead of the host, and used if it was right") {
  if (test::kDevice != c10::Device(c10::kCPU)) return;
  const test::FakeDecodeKernels kernels;
  const auto network = network_for_kernels(test::small_layouts().front());
  codelm::CodelmDecoder decoder(*network);
  const auto prompt = spread_tokens(8);
  Tokens next = decoder.start({0, prompt}, nn::Wanted::Likeliest).likeliest;
  const auto before = test::FakeDecodeKernels::steps();
  for (int i = 0; i < 10; ++i) next = step_all(decoder, {0}, next);
  CHECK(test::FakeDecodeKernels::steps() - before == 11);
}

TEST_CASE("codelm device step: slots that rest are not computed") {
  if (test::kDevice != c10::Device(c10::kCPU)) return;
  const test::FakeDecodeKernels kernels;
  const auto network = network_for_kernels(test::small_layouts().front());
  codelm::CodelmDecoder decoder(*network, {}, {.slots = 16});
  const auto prompt = spread_tokens(8);
  Tokens next = {3, decoder.start({12, prompt}, nn::Wanted::Likeliest).likeliest.front()};
  auto before = test::FakeDecodeKernels::rows();
  for (int i = 0; i < 4; ++i) next[1] = step_all(decoder, {12}, {next[1]}).front();
  CHECK(test::FakeDecodeKernels::rows() - before == 5);  // one runs ahead
  // The same text again: only its last token is computed, as a step.
  before = test::FakeDecodeKernels::rows();
  decoder.start({12, prompt}, nn::Wanted::Likeliest);
  CHECK(test::FakeDecodeKernels::rows() - before == 1);
  next[0] = decoder.start({4, prompt}, nn::Wanted::Likeliest).likeliest.front();
  before = test::FakeDecodeKernels::rows();
  step_all(decoder, {4}, next);
  CHECK(test::FakeDecodeKernels::rows() - before == 1);
  before = test::FakeDecodeKernels::rows();
  step_all(decoder, {4, 12}, next);
  CHECK((test::FakeDecodeKernels::rows() - before) % 16 == 0);
}

TEST_CASE("codelm device step: a text may fill its context, and no further step is begun") {
  if (test::kDevice != c10::Device(c10::kCPU)) return;
  const test::FakeDecodeKernels kernels;
  const auto network = network_for_kernels(test::small_layouts().front());
  const codelm::DecoderOptions options{.slots = 2, .most_tokens = 12};
  codelm::CodelmDecoder own(*network, {}, options);
  codelm::CodelmDecoder plain(*network, {}, {.slots = 2, .most_tokens = 12, .own_steps = false});
  std::vector<Tokens> made;
  for (auto* decoder : {&own, &plain}) {
    const auto prompt = spread_tokens(8);
    Tokens text, one = decoder->start({1, prompt}, nn::Wanted::Likeliest).likeliest;
    for (int i = 0; i < 4; ++i) {
      one = step_all(*decoder, {1}, one);
      text.push_back(one.front());
    }
    // The end of the full text is still what it was.
    decoder->shorten(1, 11);
    text.push_back(step_all(*decoder, {1}, {text[2]}).front());
    made.push_back(text);
  }
  CHECK(made[0] == made[1]);
  CHECK(made[0][3] == made[0][4]);
}

TEST_CASE("codelm device step: what kernels cannot compute goes through plain ops") {
  if (test::kDevice != c10::Device(c10::kCPU)) return;
  const test::FakeDecodeKernels kernels;
  const auto odd = network_for_kernels(test::small_layouts().front(), 266);
  CHECK_FALSE(codelm::CodelmDecoder(*odd).has_kernels());
  const auto network = network_for_kernels(test::small_layouts().front());
  CHECK_FALSE(codelm::CodelmDecoder(*network, {}, {.slots = 17}).has_kernels());
  network->quantize(kernels::QuantFormat::Int8, false, true);
  CHECK_FALSE(codelm::CodelmDecoder(*network).has_kernels());
}

TEST_CASE("codelm device step: sampled texts need only the largest logits from the device") {
  if (test::kDevice != c10::Device(c10::kCPU)) return;
  const auto tokenizer = test::byte_tokenizer();
  const auto network = network_for_kernels(test::small_layouts().front(), tokenizer.size());
  nn::GenerateOptions options{.max_new_tokens = 40, .seed = 4, .special_ends = false};
  const auto prompt = spread_tokens(12);
  for (const std::int64_t top_k : {3, 50, 0}) {
    options.sampling = {.temperature = 1, .top_k = top_k, .top_p = 0.95};
    codelm::CodelmDecoder host(*network), plain(*network, {}, {.own_steps = false});
    const auto expected = nn::generate(host, prompt, tokenizer, options);  // from all logits
    CHECK(nn::generate(plain, prompt, tokenizer, options).tokens == expected.tokens);
  }
}
