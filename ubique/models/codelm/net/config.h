// SPDX-License-Identifier: Apache-2.0
// The configuration of a code language model: one description for all supported layouts, read from
// and written as the config.json of Hugging Face folders.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/base/text/json.h"
#include "ubique/nn/layers/mlp.h"
#include "ubique/nn/layers/rope.h"

namespace ubique::codelm {

enum class Architecture { GptBigCode, Starcoder2, Phi, Llama, Qwen2, Qwen3 };

std::string_view to_string(Architecture architecture);  ///< config.json's model_type

enum class NormKind { Layer, Rms };

struct Dropouts {
  double embedding = 0, attention = 0, residual = 0;
  bool operator==(const Dropouts&) const = default;
};

struct CodelmConfig {
  Architecture architecture = Architecture::GptBigCode;
  std::int64_t vocabulary = 49152;
  std::int64_t hidden = 768, layers = 20, heads = 12, kv_heads = 1;
  std::int64_t head_size = 64;
  std::int64_t inner = 3072;    ///< of the MLP
  std::int64_t context = 8192;  ///< positions

  NormKind norm = NormKind::Layer;
  double norm_eps = 1e-5;
  nn::Activation activation = nn::Activation::GeluTanh;
  bool gated = false;       ///< SwiGLU: gate and up projections
  bool parallel = false;    ///< attention and MLP read the same norm and are added together
  bool fused_qkv = false;   ///< one projection for queries, keys and values
  bool head_norms = false;  ///< RMS norm of each query and key head
  bool qkv_bias = true, output_bias = true, mlp_bias = true, head_bias = false;

  bool learned_positions = false;
  std::int64_t rotary_size = 0;  ///< values of each head that are rotated; 0 = no rotation
  double rope_theta = nn::kRopeTheta;
  nn::RopeScaling rope_scaling = {};

  std::int64_t window = 0;                 ///< sliding attention window; 0 = none
  std::vector<bool> windowed_layers = {};  ///< layers with the window; empty = all
  bool tied = true;                        ///< the head is the token embedding
  Dropouts dropouts = {};
  double initializer_range = 0.02;
  std::vector<std::int32_t> end_tokens = {};
  std::string dtype = "float32";   ///< of the files
  Json original = Json::object();  ///< config.json as it was read

  std::int64_t window_of(std::int64_t layer) const;  ///< 0 = none
  std::string name() const;                          ///< "gpt_bigcode-164M"
};

/// Reads a config.json in the style of transformers 4 and 5. Input error that names `where`, the
/// key and what is supported, for another architecture and for values that cannot be.
CodelmConfig parse_config(const Json& json, const std::string& where);

/// The config.json of a network: `original` where it was read from one, else made from the fields.
Json config_json(const CodelmConfig& config);

/// Input error for sizes that do not fit together, naming `where`.
void validate(const CodelmConfig& config, const std::string& where);

}  // namespace ubique::codelm
