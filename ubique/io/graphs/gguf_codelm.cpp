// SPDX-License-Identifier: Apache-2.0
// Metadata keys of models and tokenizers.
#include "ubique/io/graphs/gguf_codelm.h"

#include <fmt/format.h>

#include <algorithm>

#include "ubique/base/error.h"

namespace ubique::io {
namespace {

struct ArchFacts {
  GgufArch arch;
  std::string_view name, model_type, split;
};

constexpr ArchFacts kArchFacts[] = {
    {GgufArch::Starcoder, "starcoder", "gpt_bigcode", "starcoder"},
    {GgufArch::Starcoder2, "starcoder2", "starcoder2", "starcoder"},
    {GgufArch::Phi2, "phi2", "phi", "phi-2"},
    {GgufArch::Llama, "llama", "llama", "llama-bpe"},
    {GgufArch::Qwen2, "qwen2", "qwen2", "qwen2"},
    {GgufArch::Qwen3, "qwen3", "qwen3", "qwen2"},
};

const ArchFacts& facts_of(GgufArch arch) {
  for (const auto& facts : kArchFacts) {
    if (facts.arch == arch) return facts;
  }
  fail(ErrorKind::Internal, "[io.gguf] no such architecture.");
}

/// llama.cpp's number of a file's usual tensor type.
std::uint32_t file_type(GgufType type) {
  switch (type) {
    case GgufType::F32:
      return 0;
    case GgufType::F16:
      return 1;
    case GgufType::Q4_0:
      return 2;
    case GgufType::Q8_0:
      return 7;
    case GgufType::BF16:
      return 32;
  }
  fail(ErrorKind::Internal, "[io.gguf] no such tensor type.");
}

bool has_rms_norm(GgufArch arch) {
  return arch == GgufArch::Llama || arch == GgufArch::Qwen2 || arch == GgufArch::Qwen3;
}

void check_language_model(const GgufLanguageModel& model) {
  const auto sizes = {model.context, model.width,    model.layers,    model.inner,
                      model.heads,   model.kv_heads, model.vocabulary};
  const bool sound = std::all_of(sizes.begin(), sizes.end(),
                                 [](auto size) { return size > 0 && size < 1LL << 31; });
  check(
      sound && model.heads % model.kv_heads == 0 &&
          (model.head_size > 0 || model.width % model.heads == 0),
      ErrorKind::Input,
      "[io.gguf] the sizes of the model do not fit together; got width {}, {} heads, {} KV heads, "
      "{} layers, inner {}, context {}, vocabulary {}.",
      model.width, model.heads, model.kv_heads, model.layers, model.inner, model.context,
      model.vocabulary);
}

}  // namespace

std::string_view to_string(GgufArch arch) { return facts_of(arch).name; }

std::optional<GgufArch> gguf_arch_of(std::string_view model_type) {
  for (const auto& facts : kArchFacts) {
    if (facts.model_type == model_type) return facts.arch;
  }
  return std::nullopt;
}

std::string_view gguf_usual_split(GgufArch arch) { return facts_of(arch).split; }

std::optional<std::string_view> gguf_split_of(const WordSplit& steps) {
  using enum SplitStep;
  if (steps == WordSplit{EachNumber, Words}) return "starcoder";
  if (steps == WordSplit{Words}) return "gpt-2";
  if (steps == WordSplit{Llama3Words}) return "llama-bpe";
  if (steps == WordSplit{Qwen2Words}) return "qwen2";
  return std::nullopt;
}

GgufMetadata gguf_metadata(const GgufLanguageModel& model) {
  check_language_model(model);
  const std::string arch(to_string(model.arch));
  GgufMetadata metadata = {{"general.architecture", arch}, {"general.type", std::string("model")}};
  if (!model.name.empty()) metadata.emplace_back("general.name", model.name);
  const auto count = [&](const char* key, std::int64_t value) {
    metadata.emplace_back(arch + key, static_cast<std::uint32_t>(value));
  };
  const auto real = [&](const char* key, double value) {
    metadata.emplace_back(arch + key, static_cast<float>(value));
  };
  const auto head_size = model.head_size > 0 ? model.head_size : model.width / model.heads;
  count(".block_count", model.layers);
  count(".context_length", model.context);
  count(".embedding_length", model.width);
  count(".feed_forward_length", model.inner);
  count(".attention.head_count", model.heads);
  count(".attention.head_count_kv", model.kv_heads);
  count(".vocab_size", model.vocabulary);
  real(has_rms_norm(model.arch) ? ".attention.layer_norm_rms_epsilon"
                                : ".attention.layer_norm_epsilon",
       model.norm_epsilon);
  if (model.head_size > 0) {
    count(".attention.key_length", head_size);
    count(".attention.value_length", head_size);
  }
  if (model.arch != GgufArch::Starcoder) {
    real(".rope.freq_base", model.rope_theta);
    count(".rope.dimension_count", model.rotary_size > 0 ? model.rotary_size : head_size);
  }
  if (model.rope_factor != 1) {
    const bool yarn = model.rope_original > 0;
    metadata.emplace_back(arch + ".rope.scaling.type", std::string(yarn ? "yarn" : "linear"));
    real(".rope.scaling.factor", model.rope_factor);
    if (yarn) count(".rope.scaling.original_context_length", model.rope_original);
  }
  metadata.emplace_back("general.file_type", file_type(model.type));
  metadata.emplace_back("general.quantization_version", std::uint32_t{2});
  return metadata;
}

GgufType gguf_stored_type(const GgufLanguageModel& model, std::string_view target,
                          const Shape& shape) {
  if (shape.size() < 2 || target == "position_embd.weight") return GgufType::F32;
  return gguf_byte_count(model.type, shape) ? model.type : GgufType::F16;
}

GgufMetadata gguf_metadata(const GgufTokenizer& tokenizer) {
  check(!tokenizer.tokens.empty() && tokenizer.types.size() == tokenizer.tokens.size(),
        ErrorKind::Input,
        "[io.gguf] the tokenizer is incomplete; got {} tokens and {} types, expected one type a "
        "token.",
        tokenizer.tokens.size(), tokenizer.types.size());
  std::vector<std::int32_t> types;
  for (const auto type : tokenizer.types) types.push_back(static_cast<std::int32_t>(type));
  GgufMetadata metadata = {{"tokenizer.ggml.model", std::string("gpt2")},
                           {"tokenizer.ggml.pre", tokenizer.split},
                           {"tokenizer.ggml.tokens", tokenizer.tokens},
                           {"tokenizer.ggml.token_type", std::move(types)},
                           {"tokenizer.ggml.merges", tokenizer.merges}};
  const auto id = [&](const char* key, std::optional<std::int64_t> value) {
    if (!value) return;
    check(*value >= 0 && *value < static_cast<std::int64_t>(tokenizer.tokens.size()),
          ErrorKind::Input, "[io.gguf] {} is no token; got {}, expected 0 to {}.", key, *value,
          tokenizer.tokens.size() - 1);
    metadata.emplace_back(key, static_cast<std::uint32_t>(*value));
  };
  id("tokenizer.ggml.bos_token_id", tokenizer.bos);
  id("tokenizer.ggml.eos_token_id", tokenizer.eos);
  id("tokenizer.ggml.unknown_token_id", tokenizer.unknown);
  id("tokenizer.ggml.padding_token_id", tokenizer.pad);
  if (tokenizer.add_bos) metadata.emplace_back("tokenizer.ggml.add_bos_token", *tokenizer.add_bos);
  if (!tokenizer.chat_template.empty()) {
    metadata.emplace_back("tokenizer.chat_template", tokenizer.chat_template);
  }
  return metadata;
}

}  // namespace ubique::io
