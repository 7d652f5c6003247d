// SPDX-License-Identifier: Apache-2.0
// A small network of each layout with random weights, for a tokenizer of bytes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/device.h"
#include "ubique/models/codelm/net/init.h"
#include "ubique/models/codelm/net/network.h"

namespace ubique::test {

inline const std::vector<Json>& small_layouts() {
  static const std::vector<Json> layouts = [] {
    const Json bigcode = {
        {"model_type", "gpt_bigcode"}, {"n_embd", 32}, {"n_layer", 2}, {"n_head", 4},
        {"n_positions", 300},          {"n_inner", 64}};
    const Json grouped = {{"hidden_size", 32},        {"num_hidden_layers", 3},
                          {"num_attention_heads", 4}, {"num_key_value_heads", 2},
                          {"intermediate_size", 64},  {"max_position_embeddings", 300}};
    std::vector<Json> all = {bigcode};
    const auto add = [&](Json layout, const char* type) -> Json& {
      layout["model_type"] = type;
      all.push_back(layout);
      return all.back();
    };
    add(bigcode, "gpt_bigcode")["multi_query"] = false;
    add(grouped, "starcoder2")["sliding_window"] = 8;
    auto& phi = add(grouped, "phi");
    phi["num_key_value_heads"] = 4;
    phi["partial_rotary_factor"] = 0.5;
    add(grouped, "llama");
    add(grouped, "qwen2");
    add(grouped, "qwen3")["head_dim"] = 16;
    for (auto& layout : all) layout["vocab_size"] = 266;
    return all;
  }();
  return layouts;
}

/// On the device under test, with weights so large that its greedy text wanders.
inline std::unique_ptr<codelm::Codelm> small_network(const Json& layout) {
  auto config = codelm::parse_config(layout, "config.json");
  config.initializer_range = 0.3;
  auto network = std::make_unique<codelm::Codelm>(config);
  codelm::initialize(*network, Random(5));
  network->to(kDevice);
  network->refresh();
  network->eval();
  return network;
}

}  // namespace ubique::test
