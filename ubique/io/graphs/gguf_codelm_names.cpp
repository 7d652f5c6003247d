// SPDX-License-Identifier: Apache-2.0
// Names and row orders of tensors, from Hugging Face to GGUF.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"
#include "ubique/io/graphs/gguf_codelm.h"

namespace ubique::io {
namespace {

struct NamePair {
  std::string_view from, to;  // without ".weight" and ".bias"
};

constexpr NamePair kStarcoderNames[] = {
    {"wte", "token_embd"}, {"wpe", "position_embd"},    {"ln_f", "output_norm"},
    {"ln_1", "attn_norm"}, {"attn.c_attn", "attn_qkv"}, {"attn.c_proj", "attn_output"},
    {"ln_2", "ffn_norm"},  {"mlp.c_fc", "ffn_up"},      {"mlp.c_proj", "ffn_down"}};

constexpr NamePair kStarcoder2Names[] = {{"embed_tokens", "token_embd"},
                                         {"norm", "output_norm"},
                                         {"input_layernorm", "attn_norm"},
                                         {"self_attn.q_proj", "attn_q"},
                                         {"self_attn.k_proj", "attn_k"},
                                         {"self_attn.v_proj", "attn_v"},
                                         {"self_attn.o_proj", "attn_output"},
                                         {"post_attention_layernorm", "ffn_norm"},
                                         {"mlp.c_fc", "ffn_up"},
                                         {"mlp.c_proj", "ffn_down"}};

constexpr NamePair kPhiNames[] = {{"embed_tokens", "token_embd"},
                                  {"final_layernorm", "output_norm"},
                                  {"input_layernorm", "attn_norm"},
                                  {"self_attn.q_proj", "attn_q"},
                                  {"self_attn.k_proj", "attn_k"},
                                  {"self_attn.v_proj", "attn_v"},
                                  {"self_attn.dense", "attn_output"},
                                  {"mlp.fc1", "ffn_up"},
                                  {"mlp.fc2", "ffn_down"}};

constexpr NamePair kLlamaNames[] = {
    {"embed_tokens", "token_embd"},      {"norm", "output_norm"},
    {"input_layernorm", "attn_norm"},    {"self_attn.q_proj", "attn_q"},
    {"self_attn.k_proj", "attn_k"},      {"self_attn.v_proj", "attn_v"},
    {"self_attn.o_proj", "attn_output"}, {"post_attention_layernorm", "ffn_norm"},
    {"mlp.gate_proj", "ffn_gate"},       {"mlp.up_proj", "ffn_up"},
    {"mlp.down_proj", "ffn_down"},       {"self_attn.q_norm", "attn_q_norm"},
    {"self_attn.k_norm", "attn_k_norm"}};

std::span<const NamePair> names_of(GgufArch arch) {
  if (arch == GgufArch::Starcoder) return kStarcoderNames;
  if (arch == GgufArch::Starcoder2) return kStarcoder2Names;
  if (arch == GgufArch::Phi2) return kPhiNames;
  if (arch == GgufArch::Qwen3) return kLlamaNames;
  return std::span(kLlamaNames).first(std::size(kLlamaNames) - 2);  // only Qwen3 norms q and k
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// "layers.7." at the front, as the number.
std::optional<std::int64_t> take_layer(std::string_view& name) {
  auto rest = name;
  if (!take_prefix(rest, "h.") && !take_prefix(rest, "layers.")) return std::nullopt;
  std::int64_t layer = -1;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), layer);
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  if (error != std::errc() || layer < 0 || !take_prefix(rest, ".")) return std::nullopt;
  name = rest;
  return layer;
}

/// Masks and tables that old files carry along.
bool is_derived(std::string_view name) {
  return name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias") ||
         name.ends_with("rotary_emb.inv_freq");
}

/// A head's first and second half, which are rotated together, become neighbours.
std::vector<std::int64_t> rotary_pairs(std::int64_t heads, std::int64_t head_size) {
  std::vector<std::int64_t> order;
  for (std::int64_t head = 0; head < heads; ++head) {
    for (std::int64_t i = 0; i < head_size; ++i) {
      order.push_back(head * head_size + i % 2 * (head_size / 2) + i / 2);
    }
  }
  return order;
}

/// From q, k and v of each head in turn to all q, all k, all v.
std::vector<std::int64_t> split_heads(std::int64_t heads, std::int64_t head_size) {
  std::vector<std::int64_t> order;
  for (std::int64_t part = 0; part < 3; ++part) {
    for (std::int64_t head = 0; head < heads; ++head) {
      for (std::int64_t i = 0; i < head_size; ++i) {
        order.push_back((head * 3 + part) * head_size + i);
      }
    }
  }
  return order;
}

std::vector<std::int64_t> row_order_of(const GgufLanguageModel& model, std::string_view target) {
  const auto head_size = model.head_size > 0 ? model.head_size : model.width / model.heads;
  if (model.arch == GgufArch::Llama && target == "attn_q") {
    return rotary_pairs(model.heads, head_size);
  }
  if (model.arch == GgufArch::Llama && target == "attn_k") {
    return rotary_pairs(model.kv_heads, head_size);
  }
  // With one KV head the model has them in this order already.
  if (target == "attn_qkv" && model.kv_heads > 1) return split_heads(model.heads, head_size);
  return {};
}

}  // namespace

std::optional<GgufTarget> gguf_target(const GgufLanguageModel& model, std::string_view name) {
  if (is_derived(name)) return std::nullopt;
  auto rest = name;
  const bool head = take_prefix(rest, "lm_head.");
  if (!head && !take_prefix(rest, "transformer.")) take_prefix(rest, "model.");
  const auto layer = head ? std::nullopt : take_layer(rest);
  const auto dot = head ? 0 : rest.rfind('.');
  const auto kind =
      head ? rest : rest.substr(dot == std::string_view::npos ? rest.size() : dot + 1);
  const auto module = head ? std::string_view() : rest.substr(0, dot);
  const bool known_kind = kind == "weight" || kind == "bias";
  if (head && known_kind) {
    if (model.tied_head) return std::nullopt;
    return GgufTarget{fmt::format("output.{}", kind), {}};
  }
  const auto names = names_of(model.arch);
  const auto found = std::find_if(names.begin(), names.end(),
                                  [&](const NamePair& pair) { return pair.from == module; });
  const bool of_layer =
      found != names.end() && !found->to.ends_with("_embd") && found->to != "output_norm";
  check(known_kind && found != names.end() && of_layer == layer.has_value() &&
            (!layer || *layer < model.layers),
        ErrorKind::Input, "[io.gguf] {} has no place for the tensor '{}'.", to_string(model.arch),
        printable(name));
  if (!layer) return GgufTarget{fmt::format("{}.{}", found->to, kind), {}};
  return GgufTarget{fmt::format("blk.{}.{}.{}", *layer, found->to, kind),
                    row_order_of(model, found->to)};
}

}  // namespace ubique::io
