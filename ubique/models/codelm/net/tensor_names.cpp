// SPDX-License-Identifier: Apache-2.0
// Names of the tensors in the files of each architecture.
#include <fmt/format.h>

#include "ubique/models/codelm/net/layout.h"

namespace ubique::codelm {
namespace {

TensorNames bigcode_names() {
  TensorNames names;
  names.tokens = "transformer.wte";
  names.positions = "transformer.wpe";
  names.layer = "transformer.h.";
  names.final_norm = "transformer.ln_f";
  names.first_norm = "ln_1";
  names.second_norm = "ln_2";
  names.qkv = "attn.c_attn";
  names.output = "attn.c_proj";
  names.up = "mlp.c_fc";
  names.down = "mlp.c_proj";
  return names;
}

/// What StarCoder2, Phi, Llama and Qwen share.
TensorNames common_names() {
  TensorNames names;
  names.tokens = "model.embed_tokens";
  names.layer = "model.layers.";
  names.final_norm = "model.norm";
  names.first_norm = "input_layernorm";
  names.second_norm = "post_attention_layernorm";
  names.q = "self_attn.q_proj";
  names.k = "self_attn.k_proj";
  names.v = "self_attn.v_proj";
  names.output = "self_attn.o_proj";
  return names;
}

TensorNames names_of(Architecture architecture) {
  if (architecture == Architecture::GptBigCode) return bigcode_names();
  auto names = common_names();
  switch (architecture) {
    case Architecture::Starcoder2:
      names.up = "mlp.c_fc";
      names.down = "mlp.c_proj";
      return names;
    case Architecture::Phi:
      names.final_norm = "model.final_layernorm";
      names.second_norm.clear();
      names.output = "self_attn.dense";
      names.up = "mlp.fc1";
      names.down = "mlp.fc2";
      return names;
    case Architecture::Qwen3:
      names.q_norm = "self_attn.q_norm";
      names.k_norm = "self_attn.k_norm";
      [[fallthrough]];
    default:
      names.gate = "mlp.gate_proj";
      names.up = "mlp.up_proj";
      names.down = "mlp.down_proj";
      return names;
  }
}

}  // namespace

TensorNames tensor_names(const CodelmConfig& config) {
  auto names = names_of(config.architecture);
  names.head = config.tied ? names.tokens : "lm_head";
  return names;
}

std::string layer_name(const TensorNames& names, std::int64_t layer, const std::string& part) {
  return part.empty() ? part : fmt::format("{}{}.{}", names.layer, layer, part);
}

}  // namespace ubique::codelm
