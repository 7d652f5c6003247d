// SPDX-License-Identifier: Apache-2.0
// How each architecture's config.json describes its network.
#include "ubique/models/codelm/net/layout.h"

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"

namespace ubique::codelm {
namespace {

/// Names of activations in config.json files. gelu_new and gelu_fast are the tanh form too.
nn::Activation read_activation(const ConfigFields& fields, const char* key,
                               const std::string& fallback) {
  const auto name = fields.text(key, fallback);
  if (name == "gelu") return nn::Activation::Gelu;
  if (name == "gelu_pytorch_tanh" || name == "gelu_new" || name == "gelu_fast") {
    return nn::Activation::GeluTanh;
  }
  if (name == "silu" || name == "swish") return nn::Activation::Silu;
  fail(ErrorKind::Input,
       "[codelm.config] {}: {} is '{}', expected gelu, gelu_pytorch_tanh, gelu_new, gelu_fast or "
       "silu.",
       fields.where(), key, printable(name));
}

/// YaRN's own keys; its length before stretching is the model's context if it says none.
void read_yarn(const ConfigFields& fields, const CodelmConfig& config, nn::RopeScaling& scaling) {
  scaling.original_length = fields.size("original_max_position_embeddings", config.context);
  scaling.fast_turns = fields.number("beta_fast", 32);
  scaling.slow_turns = fields.number("beta_slow", 1);
  scaling.whole_places = fields.flag("truncate", true);
  scaling.attention_factor =
      fields.number("attention_factor", nn::yarn_attention_factor(scaling.factor));
  for (const char* key : {"mscale", "mscale_all_dim"}) {
    check(!fields.has(key), ErrorKind::Input,
          "[codelm.config] {}: rotary positions of type 'yarn' with {} are not supported; expected "
          "none, or attention_factor.",
          fields.where(), key);
  }
  check(scaling.slow_turns > 0 && scaling.fast_turns > scaling.slow_turns &&
            scaling.attention_factor > 0 && config.rope_theta > 1,
        ErrorKind::Input,
        "[codelm.config] {}: yarn with beta_slow {}, beta_fast {}, attention_factor {}; expected "
        "more than 0, the second above the first.",
        fields.where(), scaling.slow_turns, scaling.fast_turns, scaling.attention_factor);
}

nn::RopeScaling read_scaling(const ConfigFields& fields, const CodelmConfig& config) {
  using Kind = nn::RopeScaling::Kind;
  nn::RopeScaling scaling;
  const auto type = fields.text("rope_type", fields.text("type", "default"));
  if (type == "default") return scaling;
  check(type == "linear" || type == "llama3" || type == "yarn", ErrorKind::Input,
        "[codelm.config] {}: rotary positions of type '{}' are not supported; expected default, "
        "linear, llama3 or yarn.",
        fields.where(), printable(type));
  scaling.kind = type == "linear" ? Kind::Linear : type == "llama3" ? Kind::Llama3 : Kind::Yarn;
  scaling.factor = fields.number("factor", 1);
  scaling.low_factor = fields.number("low_freq_factor", 1);
  scaling.high_factor = fields.number("high_freq_factor", 4);
  scaling.original_length = fields.size("original_max_position_embeddings", 8192);
  check(scaling.factor > 0 && scaling.high_factor > scaling.low_factor, ErrorKind::Input,
        "[codelm.config] {}: rotary positions stretched by {}, with factors {} and {}; expected "
        "more than 0, and the second above the first.",
        fields.where(), scaling.factor, scaling.low_factor, scaling.high_factor);
  if (scaling.kind == Kind::Yarn) read_yarn(fields, config, scaling);
  return scaling;
}

/// transformers 4 has rope_theta and rope_scaling, transformers 5 both in rope_parameters.
void read_rope(const ConfigFields& fields, double partial, CodelmConfig& config) {
  const auto parameters = fields.section("rope_parameters");
  config.rope_theta = parameters.number("rope_theta", fields.number("rope_theta", nn::kRopeTheta));
  check(config.rope_theta > 0, ErrorKind::Input,
        "[codelm.config] {}: rope_theta is {}, expected more than 0.", fields.where(),
        config.rope_theta);
  config.rope_scaling = read_scaling(
      fields.has("rope_parameters") ? parameters : fields.section("rope_scaling"), config);
  const auto& scaling = config.rope_scaling;
  if (scaling.kind == nn::RopeScaling::Kind::Yarn) {
    // Files name the context before or after stretching.
    constexpr double kMostPositions = 1 << 24;
    const auto stretched = scaling.factor * static_cast<double>(scaling.original_length);
    check(stretched <= kMostPositions, ErrorKind::Input,
          "[codelm.config] {}: yarn stretches {} positions by {}, expected at most {} in all.",
          fields.where(), scaling.original_length, scaling.factor, kMostPositions);
    config.context = std::max(config.context, static_cast<std::int64_t>(stretched));
  }
  const auto share =
      parameters.number("partial_rotary_factor", fields.number("partial_rotary_factor", partial));
  check(share > 0 && share <= 1, ErrorKind::Input,
        "[codelm.config] {}: partial_rotary_factor is {}, expected more than 0, at most 1.",
        fields.where(), share);
  config.rotary_size = static_cast<std::int64_t>(share * static_cast<double>(config.head_size));
}

std::int64_t size_per_head(const ConfigFields& fields, const CodelmConfig& config) {
  if (fields.has("head_dim")) return fields.size("head_dim", 0);
  check(config.heads > 0 && config.hidden % config.heads == 0, ErrorKind::Input,
        "[codelm.config] {}: a hidden size of {} does not divide into {} heads.", fields.where(),
        config.hidden, config.heads);
  return config.hidden / config.heads;
}

void read_bigcode(const ConfigFields& fields, CodelmConfig& config) {
  config.vocabulary = 50257;
  config.hidden = fields.size("n_embd", 768);
  config.layers = fields.size("n_layer", 12);
  config.heads = fields.size("n_head", 12);
  config.kv_heads = fields.flag("multi_query", true) ? 1 : config.heads;
  config.head_size = size_per_head(fields, config);
  config.inner = fields.size("n_inner", 4 * config.hidden);
  config.context = fields.size("n_positions", 1024);
  config.norm_eps = fields.number("layer_norm_epsilon", 1e-5);
  config.activation = read_activation(fields, "activation_function", "gelu_pytorch_tanh");
  config.fused_qkv = config.learned_positions = true;
  config.tied = fields.flag("tie_word_embeddings", true);
  config.dropouts = {fields.number("embd_pdrop", 0.1), fields.number("attn_pdrop", 0.1),
                     fields.number("resid_pdrop", 0.1)};
  check(fields.flag("scale_attn_weights", true), ErrorKind::Input,
        "[codelm.config] {}: scale_attn_weights is false, expected true.", fields.where());
}

/// The keys that all later layouts share.
void read_common(const ConfigFields& fields, CodelmConfig& config) {
  config.hidden = fields.size("hidden_size", config.hidden);
  config.layers = fields.size("num_hidden_layers", config.layers);
  config.heads = fields.size("num_attention_heads", config.heads);
  config.kv_heads = fields.size("num_key_value_heads", config.heads);
  config.head_size = size_per_head(fields, config);
  config.inner = fields.size("intermediate_size", config.inner);
  config.context = fields.size("max_position_embeddings", config.context);
  config.dropouts.attention = fields.number("attention_dropout", 0);
}

void read_starcoder2(const ConfigFields& fields, CodelmConfig& config) {
  read_common(fields, config);
  read_rope(fields, 1, config);
  config.norm_eps = fields.number("norm_epsilon", 1e-5);
  config.activation = read_activation(fields, "hidden_act", "gelu_pytorch_tanh");
  config.qkv_bias = config.output_bias = config.mlp_bias = fields.flag("use_bias", true);
  config.window = fields.size("sliding_window", 0);
  config.tied = fields.flag("tie_word_embeddings", true);
  config.dropouts.embedding = fields.number("embedding_dropout", 0);
  config.dropouts.residual = fields.number("residual_dropout", 0);
}

void read_phi(const ConfigFields& fields, CodelmConfig& config) {
  read_common(fields, config);
  read_rope(fields, 0.5, config);
  config.norm_eps = fields.number("layer_norm_eps", 1e-5);
  config.activation = read_activation(fields, "hidden_act", "gelu_new");
  config.parallel = config.head_bias = true;
  config.tied = fields.flag("tie_word_embeddings", false);
  config.dropouts.embedding = fields.number("embd_pdrop", 0);
  config.dropouts.residual = fields.number("resid_pdrop", 0);
  check(!fields.flag("qk_layernorm", false), ErrorKind::Input,
        "[codelm.config] {}: qk_layernorm is not supported for phi; expected false.",
        fields.where());
}

/// Llama, Qwen2 and Qwen3: RMS norm, SwiGLU, no biases unless they say so.
void read_llama_like(const ConfigFields& fields, CodelmConfig& config) {
  read_common(fields, config);
  config.norm = NormKind::Rms;
  config.norm_eps = fields.number("rms_norm_eps", 1e-6);
  config.activation = read_activation(fields, "hidden_act", "silu");
  config.gated = true;
  config.qkv_bias = config.output_bias = fields.flag("attention_bias", false);
  config.mlp_bias = fields.flag("mlp_bias", false);
  config.tied = fields.flag("tie_word_embeddings", false);
}

/// Qwen's window: for the layers that layer_types names, else from max_window_layers on.
void read_qwen_window(const ConfigFields& fields, CodelmConfig& config) {
  if (!fields.flag("use_sliding_window", false)) return;
  config.window = fields.size("sliding_window", 0);
  const auto types = fields.words("layer_types");
  const auto full = fields.size("max_window_layers", 28);
  for (std::int64_t i = 0; i < config.layers && types.empty(); ++i) {
    config.windowed_layers.push_back(i >= full);
  }
  for (const auto& type : types) config.windowed_layers.push_back(type == "sliding_attention");
}

}  // namespace

void read_layout(const ConfigFields& fields, CodelmConfig& config) {
  switch (config.architecture) {
    case Architecture::GptBigCode:
      return read_bigcode(fields, config);
    case Architecture::Starcoder2:
      return read_starcoder2(fields, config);
    case Architecture::Phi:
      return read_phi(fields, config);
    case Architecture::Llama:
      read_llama_like(fields, config);
      return read_rope(fields, 1, config);
    case Architecture::Qwen2:
      read_llama_like(fields, config);
      config.qkv_bias = true;
      config.output_bias = false;
      read_qwen_window(fields, config);
      return read_rope(fields, 1, config);
    case Architecture::Qwen3:
      config.head_size = 128;
      read_llama_like(fields, config);
      config.head_norms = true;
      read_qwen_window(fields, config);
      return read_rope(fields, 1, config);
  }
  fail(ErrorKind::Internal, "[codelm.config] unknown architecture {}.",
       static_cast<int>(config.architecture));
}

Json write_layout(const CodelmConfig& config) {
  check(config.architecture == Architecture::GptBigCode, ErrorKind::Internal,
        "[codelm.config] a new network is a gpt_bigcode; got {}.", to_string(config.architecture));
  return {{"architectures", {"GPTBigCodeForCausalLM"}},
          {"model_type", "gpt_bigcode"},
          {"activation_function",
           config.activation == nn::Activation::Gelu ? "gelu" : "gelu_pytorch_tanh"},
          {"attn_pdrop", config.dropouts.attention},
          {"embd_pdrop", config.dropouts.embedding},
          {"resid_pdrop", config.dropouts.residual},
          {"initializer_range", config.initializer_range},
          {"layer_norm_epsilon", config.norm_eps},
          {"multi_query", config.kv_heads == 1},
          {"n_embd", config.hidden},
          {"n_head", config.heads},
          {"n_inner", config.inner},
          {"n_layer", config.layers},
          {"n_positions", config.context},
          {"scale_attn_weights", true},
          {"tie_word_embeddings", config.tied},
          {"bos_token_id", config.end_tokens.empty() ? Json() : Json(config.end_tokens.front())},
          {"eos_token_id", config.end_tokens.empty() ? Json() : Json(config.end_tokens.front())},
          {"torch_dtype", config.dtype},
          {"vocab_size", config.vocabulary}};
}

}  // namespace ubique::codelm
