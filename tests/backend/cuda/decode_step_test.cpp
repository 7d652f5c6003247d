// SPDX-License-Identifier: Apache-2.0
// Decoding steps of code models on NVIDIA cards: our kernels beside plain ops, both against the
// network in f32 on the CPU.
#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/backend/cuda/card.h"
#include "ubique/backend/cuda/runtime/kernel.h"
#include "ubique/models/codelm/net/init.h"
#include "ubique/models/codelm/use/decoder.h"

using namespace ubique;
using namespace ubique::test;

namespace {

using Tokens = std::vector<std::int32_t>;

/// Layouts of small size, with heads as the kernels have them. Most widths are the same: each takes
/// the compiler a second.
std::vector<Json> decoded_layouts() {
  const Json bigcode = {{"model_type", "gpt_bigcode"},
                        {"n_embd", 512},
                        {"n_layer", 2},
                        {"n_head", 8},
                        {"n_inner", 1120},
                        {"n_positions", 1024}};
  const Json grouped = {{"hidden_size", 512},        {"num_hidden_layers", 2},
                        {"num_attention_heads", 8},  {"num_key_value_heads", 2},
                        {"intermediate_size", 1120}, {"max_position_embeddings", 1024}};
  std::vector<Json> all = {bigcode};
  const auto add = [&](Json layout, const char* type) -> Json& {
    layout["model_type"] = type;
    all.push_back(std::move(layout));
    return all.back();
  };
  auto& by_head = add(bigcode, "gpt_bigcode");  // with rows that are staged in pieces
  by_head["multi_query"] = false, by_head["n_inner"] = 4096;
  add(bigcode, "gpt_bigcode")["n_head"] = 4;
  add(grouped, "starcoder2")["sliding_window"] = 200;
  auto& phi = add(grouped, "phi");
  phi["num_key_value_heads"] = 8, phi["partial_rotary_factor"] = 0.5;
  add(grouped, "llama");
  add(grouped, "qwen2");
  add(grouped, "qwen3")["head_dim"] = 128;
  for (auto& layout : all) layout["vocab_size"] = 2048;
  return all;
}

std::unique_ptr<codelm::Codelm> decoded_network(const Json& layout) {
  auto config = codelm::parse_config(layout, "config.json");
  config.initializer_range = 0.05;
  auto network = std::make_unique<codelm::Codelm>(config);
  codelm::initialize(*network, Random(5));
  network->refresh();
  network->eval();
  return network;
}

Tokens text_of(std::int64_t slot, std::int64_t count) {
  Tokens tokens;
  for (std::int64_t i = 0; i < count; ++i) {
    tokens.push_back(static_cast<std::int32_t>((slot * 311 + i * 37 + i * i) % 2039));
  }
  return tokens;
}

/// What a decoder expects after the last of the texts in every slot, and after six tokens more.
at::Tensor logits_of(nn::Decoder& decoder) {
  const auto slots = decoder.slots();
  // One text comes to need a second block of the kernel.
  const auto length = [&](std::int64_t slot) { return slot == 0 ? 509 : 3 + slot * 29 % 90; };
  for (std::int64_t slot = 0; slot < slots; ++slot) {
    decoder.start({slot, text_of(slot, length(slot))}, nn::Wanted::Logits);
  }
  std::vector<at::Tensor> found;
  for (std::int64_t step = 0; step < 6; ++step) {
    std::vector<Tokens> texts;
    std::vector<nn::Extension> all;
    for (std::int64_t slot = 0; slot < slots; ++slot) {
      texts.push_back(text_of(slot, length(slot) + step + 1));
    }
    for (std::int64_t slot = 0; slot < slots; ++slot) {
      all.push_back({slot, std::span(texts[static_cast<std::size_t>(slot)]).last(1)});
    }
    found.push_back(at::tensor(decoder.extend(all, nn::Wanted::Logits).logits));
  }
  return at::cat(found).view({-1, decoder.vocabulary()});
}

bool has_decode_kernels() { return backend::cuda::card_limits(*card()).capability >= 80; }

}  // namespace

TEST_CASE("cuda decode step: logits are as near to f32 as those of plain ops, in every layout") {
  if (!card() || !has_decode_kernels()) return;
  for (const auto& layout : decoded_layouts()) {
    CAPTURE(layout.dump());
    const auto exact = decoded_network(layout), network = decoded_network(layout);
    network->to(*card(), at::kBFloat16);
    network->refresh();
    exact->to(at::kBFloat16);  // the same rounded weights
    exact->to(at::kFloat);
    exact->refresh();
    for (const std::int64_t slots : {1, 3, 16}) {
      CAPTURE(slots);
      codelm::CodelmDecoder wide(*exact, {}, {.slots = slots, .own_steps = false});
      codelm::CodelmDecoder plain(*network, {}, {.slots = slots, .own_steps = false});
      const auto expected = logits_of(wide).to(at::kDouble);
      const auto off = error_of(logits_of(plain), expected);
      for (const bool record : {false, true}) {
        codelm::CodelmDecoder own(*network, {}, {.slots = slots, .record = record});
        REQUIRE(own.has_kernels());
        CHECK(error_of(logits_of(own), expected) <
              std::max(rounding_of(at::kBFloat16), 1.25 * off));
      }
    }
  }
}

TEST_CASE("cuda decode step: greedy texts are those of the logits") {
  if (!card() || !has_decode_kernels()) return;
  for (const auto& layout : decoded_layouts()) {
    CAPTURE(layout.dump());
    const auto network = decoded_network(layout);
    network->to(*card(), at::kBFloat16);
    network->refresh();
    for (const std::int64_t slots : {1, 16}) {
      CAPTURE(slots);
      codelm::CodelmDecoder own(*network, {}, {.slots = slots, .record = true});
      codelm::CodelmDecoder other(*network, {}, {.slots = slots, .record = true});  // never ahead
      codelm::CodelmDecoder plain(*network, {}, {.slots = slots, .own_steps = false});
      Tokens next;
      for (std::int64_t slot = 0; slot < slots; ++slot) {
        const auto prompt = text_of(slot, 40 + 3 * slot);
        other.start({slot, prompt}, nn::Wanted::Likeliest);
        plain.start({slot, prompt}, nn::Wanted::Likeliest);
        next.push_back(own.start({slot, prompt}, nn::Wanted::Likeliest).likeliest.front());
      }
      for (int i = 0; i < 12; ++i) {
        std::vector<nn::Extension> all;
        for (std::int64_t slot = 0; slot < slots; ++slot) {
          all.push_back({slot, {&next[static_cast<std::size_t>(slot)], 1}});
        }
        const auto found = own.extend(all, nn::Wanted::Likeliest).likeliest;  // runs ahead
        const auto rows = [&](nn::Decoder& decoder) {
          const auto logits = decoder.extend(all, nn::Wanted::Logits).logits;
          return at::tensor(logits).view({slots, -1});
        };
        const auto index = at::tensor(at::ArrayRef<std::int32_t>(found)).to(at::kLong);
        CHECK(at::equal(rows(other).argmax(1), index));
        // Equal to plain ops, but for tokens that bf16 cannot tell apart.
        const auto logits = rows(plain);
        const auto behind =
            std::get<0>(logits.max(1)) - logits.gather(1, index.unsqueeze(1)).squeeze(1);
        CHECK(behind.max().item<float>() < 0.03 * logits.abs().max().item<float>());
        next = found;
      }
    }
  }
}
