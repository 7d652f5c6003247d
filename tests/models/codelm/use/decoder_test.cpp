// SPDX-License-Identifier: Apache-2.0
// Texts decoded together, joining and leaving at any time, recorded, and with guesses ahead: each
// is the text that its request gets alone.
#include "ubique/models/codelm/use/decoder.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/data/chat/chat_samples.h"
#include "tests/models/codelm/layouts.h"
#include "tests/recording_cpu.h"
#include "ubique/nn/decode/generator.h"

using namespace ubique;

namespace {

struct Asked {
  std::string prompt;
  nn::GenerateOptions options;
};

/// Requests of different lengths and kinds: greedy, sampled, penalised, with a stop text.
std::vector<Asked> some_requests() {
  const nn::SamplingOptions greedy{.temperature = 0};
  const nn::SamplingOptions sampled{.temperature = 0.8, .top_k = 20};
  const nn::SamplingOptions penalized{.temperature = 0, .repetition_penalty = 1.3};
  return {
      {"def add(a, b):", {.sampling = greedy, .max_new_tokens = 20}},
      {"x", {.sampling = greedy, .max_new_tokens = 9}},
      {"class Point:\n    def __init__", {.sampling = sampled, .max_new_tokens = 17, .seed = 3}},
      {"def add(a, b, c):", {.sampling = greedy, .max_new_tokens = 30}},
      {"import", {.sampling = penalized, .max_new_tokens = 12, .stop_texts = {"q"}}},
      {"def", {.sampling = sampled, .max_new_tokens = 25, .seed = 8}}};
}

std::vector<std::vector<std::int32_t>> alone(const codelm::Codelm& network,
                                             const std::vector<Asked>& requests) {
  const auto tokenizer = test::byte_tokenizer();
  std::vector<std::vector<std::int32_t>> made;
  for (const auto& [prompt, options] : requests) {
    codelm::CodelmDecoder decoder(network);
    made.push_back(nn::generate(decoder, tokenizer.encode(prompt), tokenizer, options).tokens);
  }
  return made;
}

/// All requests through one decoder: two at first, one more every third step.
std::vector<std::vector<std::int32_t>> together(nn::Decoder& decoder,
                                                const std::vector<Asked>& requests,
                                                std::int64_t lookup = 0) {
  const auto tokenizer = test::byte_tokenizer();
  nn::Generator generator(decoder, tokenizer);
  std::vector<std::vector<std::int32_t>> made(requests.size());
  std::size_t next = 0;
  const auto submit = [&] {
    const auto index = next++;
    auto options = requests[index].options;
    options.lookup = lookup;
    generator.submit({.prompt = tokenizer.encode(requests[index].prompt),
                      .options = options,
                      .finished = [&made, index](const nn::Completion& completion) {
                        made[index] = completion.tokens;
                      }});
  };
  submit();
  submit();
  for (int step = 1; generator.step() || next < requests.size(); ++step) {
    if (step % 3 == 0 && next < requests.size()) submit();
  }
  return made;
}

}  // namespace

TEST_CASE("codelm decoder: requests that join and leave get the texts they get alone") {
  for (const auto& layout : test::small_layouts()) {
    CAPTURE(layout.dump());
    const auto network = test::small_network(layout);
    const auto requests = some_requests();
    const auto expected = alone(*network, requests);
    for (const std::int64_t slots : {1, 2, 4}) {
      CAPTURE(slots);
      codelm::CodelmDecoder decoder(*network, {}, {.slots = slots});
      CHECK(together(decoder, requests) == expected);
    }
  }
}

TEST_CASE("codelm decoder: a recorded step gives the same texts, also when caches grow") {
  if (test::kDevice != c10::Device(c10::kCPU)) return;  // the CPU pretends to record
  for (const auto& layout : test::small_layouts()) {
    CAPTURE(layout.dump());
    const auto network = test::small_network(layout);
    auto requests = some_requests();
    requests[0].options.max_new_tokens = requests[2].options.max_new_tokens = 280;
    const auto expected = alone(*network, requests);
    const test::CpuRecords records;
    codelm::CodelmDecoder decoder(*network, {}, {.slots = 3, .record = true});
    CHECK(together(decoder, requests, 3) == expected);
    CHECK(records.replays() > 20);
  }
}

TEST_CASE("codelm decoder: prompts that start together are those that start alone") {
  if (test::kDevice != c10::Device(c10::kCPU)) return;
  const auto tokenizer = test::byte_tokenizer();
  const test::CpuRecords records;
  for (const auto& layout : test::small_layouts()) {
    CAPTURE(layout.dump());
    const auto network = test::small_network(layout);
    codelm::CodelmDecoder alone(*network, {}, {.slots = 3});
    codelm::CodelmDecoder together(*network, {}, {.slots = 3, .record = true});
    for (const auto* ends : {"abc", "xyz", "xya"}) {  // once as it is, then recorded
      std::vector<std::vector<std::int32_t>> texts;
      std::vector<nn::Extension> all;
      for (std::size_t i = 0; i < 3; ++i) {
        texts.push_back(tokenizer.encode(std::string(3 + 9 * i, 'a') + ends[i]));
      }
      nn::Predictions expected;
      for (std::int64_t slot = 0; slot < 3; ++slot) {
        all.push_back({slot, texts[static_cast<std::size_t>(slot)]});
        expected.add(alone.start(all.back(), nn::Wanted::Logits));
      }
      const auto found = together.start_each(all, nn::Wanted::Logits);
      REQUIRE(found.logits.size() == expected.logits.size());
      for (std::size_t i = 0; i < found.logits.size(); ++i) {
        REQUIRE(found.logits[i] == doctest::Approx(expected.logits[i]).epsilon(1e-4));
      }
      for (std::int64_t slot = 0; slot < 3; ++slot) {
        CHECK(together.tokens(slot) == texts[static_cast<std::size_t>(slot)]);
      }
    }
  }
  CHECK(records.replays() > 0);
}

TEST_CASE("codelm decoder: a long text that rests is not changed by prompts beside it") {
  if (test::kDevice != c10::Device(c10::kCPU)) return;
  const test::CpuRecords records;
  for (const auto& layout : test::small_layouts()) {
    CAPTURE(layout.dump());
    const auto network = test::small_network(layout);
    codelm::CodelmDecoder alone(*network, {}, {.slots = 3});
    codelm::CodelmDecoder together(*network, {}, {.slots = 3, .record = true});
    const auto text = test::byte_tokenizer().encode(std::string(270, 'a') + "bcdefgh");
    const std::span<const std::int32_t> all = text;
    alone.start({1, all}, nn::Wanted::Likeliest);
    together.start({1, all}, nn::Wanted::Likeliest);
    const std::vector<nn::Extension> prompts = {{0, all.last(5)}, {2, all.last(7)}};
    together.start_each(prompts, nn::Wanted::Likeliest);
    const nn::Extension next{1, all.last(1)};
    const auto expected = alone.extend({&next, 1}, nn::Wanted::Logits).logits;
    const auto found = together.extend({&next, 1}, nn::Wanted::Logits).logits;
    for (std::size_t i = 0; i < found.size(); ++i) {
      REQUIRE(found[i] == doctest::Approx(expected[i]).epsilon(1e-4));
    }
  }
}

TEST_CASE("codelm decoder: guesses by look-up change the passes, never the text") {
  for (const auto& layout : test::small_layouts()) {
    CAPTURE(layout.dump());
    const auto network = test::small_network(layout);
    const auto requests = some_requests();
    const auto expected = alone(*network, requests);
    for (const std::int64_t lookup : {1, 4, 16}) {
      CAPTURE(lookup);
      codelm::CodelmDecoder one(*network), several(*network, {}, {.slots = 3});
      CHECK(together(one, requests, lookup) == expected);
      CHECK(together(several, requests, lookup) == expected);
    }
  }
}

TEST_CASE("codelm decoder: a prompt goes to the slot that already holds most of it") {
  const auto network = test::small_network(test::small_layouts().front());
  const auto tokenizer = test::byte_tokenizer();
  codelm::CodelmDecoder decoder(*network, {}, {.slots = 2});
  const auto first = tokenizer.encode("first text"), second = tokenizer.encode("second text");
  decoder.start({0, first}, nn::Wanted::Likeliest);
  decoder.start({1, second}, nn::Wanted::Likeliest);
  nn::generate(decoder, tokenizer.encode("second text, longer"), tokenizer, {.max_new_tokens = 1});
  CHECK(decoder.tokens(0) == first);
  CHECK(decoder.tokens(1).size() == 19);
}
