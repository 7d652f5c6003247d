// SPDX-License-Identifier: Apache-2.0
// config.json files in both styles of transformers, and what is refused in them.
#include "ubique/models/codelm/net/config.h"

#include <doctest/doctest.h>

#include "ubique/base/error.h"
#include "ubique/models/codelm/net/layout.h"

using namespace ubique;

namespace {

Json small_llama() {
  return {{"model_type", "llama"},          {"hidden_size", 64},        {"num_hidden_layers", 2},
          {"num_attention_heads", 4},       {"num_key_value_heads", 2}, {"intermediate_size", 160},
          {"max_position_embeddings", 256}, {"vocab_size", 300}};
}

std::string refusal(const Json& json) {
  try {
    codelm::parse_config(json, "config.json");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::Input);
    return error.what();
  }
  return "accepted";
}

std::string refusal_with(const char* key, const Json& value) {
  auto json = small_llama();
  json[key] = value;
  return refusal(json);
}

}  // namespace

TEST_CASE("codelm config: sizes and names of the published StarCoder models") {
  const auto tiny = codelm::parse_config({{"model_type", "gpt_bigcode"},
                                          {"n_embd", 768},
                                          {"n_layer", 20},
                                          {"n_head", 12},
                                          {"n_inner", 3072},
                                          {"n_positions", 8192},
                                          {"vocab_size", 49152}},
                                         "config.json");
  CHECK(codelm::parameter_count(tiny) == 164144128);
  CHECK(codelm::parameter_shapes(tiny).size() == 244);
  CHECK(tiny.name() == "gpt_bigcode-164M");
  auto three = codelm::parse_config({{"model_type", "starcoder2"},
                                     {"hidden_size", 3072},
                                     {"num_hidden_layers", 30},
                                     {"num_attention_heads", 24},
                                     {"num_key_value_heads", 2},
                                     {"intermediate_size", 12288},
                                     {"max_position_embeddings", 16384},
                                     {"sliding_window", 4096},
                                     {"rope_theta", 999999.4420358813},
                                     {"vocab_size", 49152}},
                                    "config.json");
  CHECK(codelm::parameter_count(three) == 3030371328);
  CHECK(three.tied);
  CHECK(three.window_of(29) == 4096);
}

TEST_CASE("codelm config: rotary settings of transformers 4 and 5 are the same") {
  auto old_style = small_llama(), new_style = small_llama();
  const Json scaling = {{"rope_type", "llama3"},
                        {"factor", 8.0},
                        {"low_freq_factor", 1.0},
                        {"high_freq_factor", 4.0},
                        {"original_max_position_embeddings", 64}};
  old_style["rope_theta"] = 500000.0;
  old_style["rope_scaling"] = scaling;
  new_style["rope_parameters"] = scaling;
  new_style["rope_parameters"]["rope_theta"] = 500000.0;
  const auto a = codelm::parse_config(old_style, "a"), b = codelm::parse_config(new_style, "b");
  CHECK(a.rope_theta == b.rope_theta);
  CHECK(a.rope_scaling == b.rope_scaling);
  CHECK(a.rope_scaling.kind == nn::RopeScaling::Kind::Llama3);
}

TEST_CASE("codelm config: yarn has its own length, and stretches the context") {
  auto json = small_llama();
  json["max_position_embeddings"] = 100;
  json["rope_scaling"] = {{"type", "yarn"}, {"factor", 4.0}};
  const auto config = codelm::parse_config(json, "config.json");
  CHECK(config.rope_scaling.original_length == 100);
  CHECK(config.context == 400);
  CHECK(config.rope_scaling.attention_factor == doctest::Approx(1.1386294));
  json["rope_scaling"]["original_max_position_embeddings"] = 25;
  CHECK(codelm::parse_config(json, "config.json").context == 100);
}

TEST_CASE("codelm config: lies and other models are refused with the key") {
  CHECK(refusal(small_llama()) == "accepted");
  CHECK(refusal(Json::array()).find("expected an object") != std::string::npos);
  CHECK(refusal_with("model_type", "mamba").find("'mamba', expected one of gpt_bigcode") !=
        std::string::npos);
  CHECK(refusal_with("hidden_size", -64).find("hidden_size is -64") != std::string::npos);
  CHECK(refusal_with("hidden_size", 1e300).find("hidden_size is") != std::string::npos);
  CHECK(refusal_with("hidden_size", "64").find("hidden_size is \"64\"") != std::string::npos);
  CHECK(refusal_with("num_attention_heads", 0) != "accepted");
  CHECK(refusal_with("num_key_value_heads", 3).find("cannot share 3") != std::string::npos);
  CHECK(refusal_with("num_hidden_layers", 0).find("number of layers is 0") != std::string::npos);
  CHECK(refusal_with("hidden_act", "relu6").find("'relu6'") != std::string::npos);
  const auto scaled = [](Json scaling) { return refusal_with("rope_scaling", std::move(scaling)); };
  CHECK(scaled({{"rope_type", "dynamic"}}).find("'dynamic'") != std::string::npos);
  CHECK(scaled({{"type", "yarn"}, {"factor", 1e9}}).find("yarn stretches") != std::string::npos);
  CHECK(scaled({{"type", "yarn"}, {"mscale", 1}}).find("with mscale") != std::string::npos);
  CHECK(scaled({{"type", "yarn"}, {"beta_fast", 0.5}}).find("beta_fast 0.5") != std::string::npos);
  CHECK(refusal_with("rope_theta", 0).find("rope_theta is 0") != std::string::npos);
  auto huge = small_llama();
  for (const char* key : {"hidden_size", "num_hidden_layers", "num_attention_heads", "head_dim",
                          "num_key_value_heads", "intermediate_size", "vocab_size"}) {
    huge[key] = 1 << 20;
  }
  CHECK(refusal(huge).find("no machine can hold") != std::string::npos);
}
