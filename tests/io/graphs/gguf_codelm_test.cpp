// SPDX-License-Identifier: Apache-2.0
// Metadata and tensor names of language models in GGUF files.
#include "ubique/io/graphs/gguf_codelm.h"

#include <doctest/doctest.h>

#include "tests/base/scratch.h"

using namespace ubique;
using io::GgufArch;
using test::contains;
using test::refusal_of;

namespace {

io::GgufLanguageModel small_model(GgufArch arch) {
  return {.arch = arch,
          .name = "tiny",
          .context = 128,
          .width = 16,
          .layers = 3,
          .inner = 64,
          .vocabulary = 100,
          .heads = 4,
          .kv_heads = arch == GgufArch::Starcoder ? 1 : 2};
}

std::string target_name(GgufArch arch, const std::string& name) {
  const auto target = io::gguf_target(small_model(arch), name);
  return target ? target->name : "none";
}

}  // namespace

TEST_CASE("gguf: tensors of every architecture get llama.cpp's names") {
  CHECK(target_name(GgufArch::Starcoder, "transformer.wte.weight") == "token_embd.weight");
  CHECK(target_name(GgufArch::Starcoder, "transformer.wpe.weight") == "position_embd.weight");
  CHECK(target_name(GgufArch::Starcoder, "transformer.h.2.attn.c_attn.bias") ==
        "blk.2.attn_qkv.bias");
  CHECK(target_name(GgufArch::Starcoder, "transformer.ln_f.bias") == "output_norm.bias");
  CHECK(target_name(GgufArch::Starcoder, "lm_head.weight") == "output.weight");
  CHECK(target_name(GgufArch::Starcoder, "transformer.h.0.attn.bias") == "none");
  CHECK(target_name(GgufArch::Starcoder2, "model.layers.1.mlp.c_proj.bias") ==
        "blk.1.ffn_down.bias");
  CHECK(target_name(GgufArch::Phi2, "model.layers.0.self_attn.dense.weight") ==
        "blk.0.attn_output.weight");
  CHECK(target_name(GgufArch::Phi2, "lm_head.bias") == "output.bias");
  CHECK(target_name(GgufArch::Llama, "model.norm.weight") == "output_norm.weight");
  CHECK(target_name(GgufArch::Llama, "model.layers.0.self_attn.rotary_emb.inv_freq") == "none");
  CHECK(target_name(GgufArch::Qwen2, "model.layers.0.mlp.gate_proj.weight") ==
        "blk.0.ffn_gate.weight");
  CHECK(target_name(GgufArch::Qwen3, "model.layers.0.self_attn.q_norm.weight") ==
        "blk.0.attn_q_norm.weight");
  auto tied = small_model(GgufArch::Qwen2);
  tied.tied_head = true;
  CHECK_FALSE(io::gguf_target(tied, "lm_head.weight").has_value());
}

TEST_CASE("gguf: names that an architecture does not have are refused") {
  for (const std::string name :
       {"model.layers.0.self_attn.q_norm.weight", "model.layers.3.input_layernorm.weight",
        "model.layers.0.norm.weight", "model.input_layernorm.weight", "model.layers.x.norm.weight",
        "model.norm.scale", "norm", "", "lm_head.", "model.layers.-1.input_layernorm.weight",
        "model.layers.99999999999999999999.input_layernorm.weight"}) {
    CAPTURE(name);
    CHECK(contains(refusal_of(ErrorKind::Input, [&] { target_name(GgufArch::Llama, name); }),
                   "llama has no place for the tensor"));
  }
}

TEST_CASE("gguf: llama's q and k have their rotary pairs side by side") {
  const auto q =
      io::gguf_target(small_model(GgufArch::Llama), "model.layers.0.self_attn.q_proj.weight");
  REQUIRE(q->row_order.size() == 16);
  CHECK((std::vector(q->row_order.begin(), q->row_order.begin() + 8) ==
         std::vector<std::int64_t>{0, 2, 1, 3, 4, 6, 5, 7}));
  const auto k =
      io::gguf_target(small_model(GgufArch::Llama), "model.layers.0.self_attn.k_proj.bias");
  CHECK(k->row_order.size() == 8);
  const auto v =
      io::gguf_target(small_model(GgufArch::Llama), "model.layers.0.self_attn.v_proj.weight");
  CHECK(v->row_order.empty());
  const auto other =
      io::gguf_target(small_model(GgufArch::Qwen2), "model.layers.0.self_attn.q_proj.weight");
  CHECK(other->row_order.empty());
}

TEST_CASE("gguf: multi-head GPT-BigCode has all q, all k, all v; multi-query stays as it is") {
  auto model = small_model(GgufArch::Starcoder);
  const std::string name = "transformer.h.0.attn.c_attn.weight";
  CHECK(io::gguf_target(model, name)->row_order.empty());
  model.heads = model.kv_heads = 2;
  model.width = 4;
  CHECK((io::gguf_target(model, name)->row_order ==
         std::vector<std::int64_t>{0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11}));
}

TEST_CASE("gguf: the metadata of a model has what llama.cpp asks for") {
  auto model = small_model(GgufArch::Llama);
  model.norm_epsilon = 1e-6;
  model.type = io::GgufType::Q8_0;
  const auto metadata = io::gguf_metadata(model);
  const auto value = [&](const char* key) {
    const auto* found = io::find_value(metadata, key);
    REQUIRE_MESSAGE(found != nullptr, key);
    return *found;
  };
  CHECK(std::get<std::string>(value("general.architecture")) == "llama");
  CHECK(std::get<std::uint32_t>(value("llama.attention.head_count_kv")) == 2);
  CHECK(std::get<float>(value("llama.attention.layer_norm_rms_epsilon")) == 1e-6F);
  CHECK(std::get<std::uint32_t>(value("llama.rope.dimension_count")) == 4);
  CHECK(std::get<std::uint32_t>(value("general.file_type")) == 7);
  const auto learned = io::gguf_metadata(small_model(GgufArch::Starcoder));
  CHECK(io::find_value(learned, "starcoder.rope.freq_base") == nullptr);
  CHECK(io::find_value(learned, "starcoder.attention.layer_norm_epsilon") != nullptr);
  model.kv_heads = 3;
  CHECK(contains(refusal_of(ErrorKind::Input, [&] { io::gguf_metadata(model); }),
                 "do not fit together"));
}

TEST_CASE("gguf: positions that are stretched evenly have a factor") {
  auto model = small_model(GgufArch::Qwen2);
  CHECK(io::find_value(io::gguf_metadata(model), "qwen2.rope.scaling.type") == nullptr);
  model.rope_factor = 4;
  const auto metadata = io::gguf_metadata(model);
  CHECK(std::get<std::string>(*io::find_value(metadata, "qwen2.rope.scaling.type")) == "linear");
  CHECK(std::get<float>(*io::find_value(metadata, "qwen2.rope.scaling.factor")) == 4);
  CHECK(io::find_value(metadata, "qwen2.rope.scaling.original_context_length") == nullptr);
  model.rope_original = 32768;
  const auto yarn = io::gguf_metadata(model);
  CHECK(std::get<std::string>(*io::find_value(yarn, "qwen2.rope.scaling.type")) == "yarn");
  CHECK(std::get<std::uint32_t>(
            *io::find_value(yarn, "qwen2.rope.scaling.original_context_length")) == 32768);
}

TEST_CASE("gguf: a rule that splits words has llama.cpp's name, or none") {
  using enum io::SplitStep;
  CHECK(io::gguf_split_of({EachNumber, Words}) == "starcoder");
  CHECK(io::gguf_split_of({Words}) == "gpt-2");
  CHECK(io::gguf_split_of({Llama3Words}) == "llama-bpe");
  CHECK(io::gguf_split_of({Qwen2Words}) == "qwen2");
  CHECK(!io::gguf_split_of({MarkFirst}));
}

TEST_CASE("gguf: matrices take the model's type, vectors and learned positions f32") {
  auto model = small_model(GgufArch::Starcoder);
  model.type = io::GgufType::Q4_0;
  CHECK(io::gguf_stored_type(model, "blk.0.ffn_up.weight", {64, 32}) == io::GgufType::Q4_0);
  CHECK(io::gguf_stored_type(model, "blk.0.ffn_up.weight", {64, 16}) == io::GgufType::F16);
  CHECK(io::gguf_stored_type(model, "blk.0.ffn_up.bias", {64}) == io::GgufType::F32);
  CHECK(io::gguf_stored_type(model, "position_embd.weight", {64, 32}) == io::GgufType::F32);
}

TEST_CASE("gguf: a tokenizer's ids must be tokens") {
  io::GgufTokenizer tokenizer;
  tokenizer.split = "starcoder";
  tokenizer.tokens = {"<|endoftext|>", "a"};
  tokenizer.types = {io::GgufTokenType::Control, io::GgufTokenType::Normal};
  tokenizer.bos = tokenizer.eos = 0;
  const auto metadata = io::gguf_metadata(tokenizer);
  CHECK((std::get<std::vector<std::int32_t>>(*io::find_value(
             metadata, "tokenizer.ggml.token_type")) == std::vector<std::int32_t>{3, 1}));
  CHECK(std::get<std::uint32_t>(*io::find_value(metadata, "tokenizer.ggml.eos_token_id")) == 0);
  tokenizer.eos = 2;
  CHECK(contains(refusal_of(ErrorKind::Input, [&] { io::gguf_metadata(tokenizer); }),
                 "eos_token_id is no token; got 2, expected 0 to 1"));
  tokenizer.types.pop_back();
  CHECK(contains(refusal_of(ErrorKind::Input, [&] { io::gguf_metadata(tokenizer); }),
                 "2 tokens and 1 types"));
}
