// SPDX-License-Identifier: Apache-2.0
// What every layout's config.json has in common, checks, and names.
#include "ubique/models/codelm/net/config.h"

#include <fmt/format.h>

#include "ubique/base/text/names.h"
#include "ubique/base/text/printable.h"
#include "ubique/models/codelm/net/config_fields.h"
#include "ubique/models/codelm/net/layout.h"

namespace ubique::codelm {
namespace {

constexpr NameTable<Architecture, 6> kArchitectures{{{Architecture::GptBigCode, "gpt_bigcode"},
                                                     {Architecture::Starcoder2, "starcoder2"},
                                                     {Architecture::Phi, "phi"},
                                                     {Architecture::Llama, "llama"},
                                                     {Architecture::Qwen2, "qwen2"},
                                                     {Architecture::Qwen3, "qwen3"}}};

Architecture read_architecture(const ConfigFields& fields) {
  const auto type = fields.text("model_type", "");
  std::vector<std::string> known;
  for (const auto& [value, name] : kArchitectures) {
    if (type == name) return value;
    known.emplace_back(name);
  }
  fail(ErrorKind::Input,
       "[codelm.config] {}: the model is of another architecture; got model_type {}, expected one "
       "of {}.",
       fields.where(), type.empty() ? "none" : "'" + printable(type) + "'", join(known, ", "));
}

/// "834K", "164M", "1.1B".
std::string short_count(std::int64_t count) {
  const auto value = static_cast<double>(count);
  if (value >= 1e9) return fmt::format("{:.1f}B", value / 1e9);
  if (value >= 1e6) return fmt::format("{:.0f}M", value / 1e6);
  return fmt::format("{:.0f}K", value / 1e3);
}

}  // namespace

std::string_view to_string(Architecture architecture) {
  return name_of(kArchitectures, architecture);
}

std::int64_t CodelmConfig::window_of(std::int64_t layer) const {
  const auto index = static_cast<std::size_t>(layer);
  return windowed_layers.empty() || windowed_layers.at(index) ? window : 0;
}

std::string CodelmConfig::name() const {
  return fmt::format("{}-{}", to_string(architecture), short_count(parameter_count(*this)));
}

CodelmConfig parse_config(const Json& json, const std::string& where) {
  const ConfigFields fields(json, where);
  CodelmConfig config;
  config.architecture = read_architecture(fields);
  config.original = json;
  read_layout(fields, config);
  config.vocabulary = fields.size("vocab_size", config.vocabulary);
  config.end_tokens = fields.tokens("eos_token_id");
  config.dtype = fields.text("dtype", fields.text("torch_dtype", "float32"));
  config.initializer_range = fields.number("initializer_range", 0.02);
  validate(config, where);
  return config;
}

void validate(const CodelmConfig& config, const std::string& where) {
  const auto at_least_one = [&](std::int64_t value, const char* what) {
    check(value >= 1, ErrorKind::Input, "[codelm.config] {}: {} is {}, expected 1 or more.", where,
          what, value);
  };
  at_least_one(config.vocabulary, "vocab_size");
  at_least_one(config.hidden, "the hidden size");
  at_least_one(config.layers, "the number of layers");
  at_least_one(config.heads, "the number of heads");
  at_least_one(config.kv_heads, "the number of key and value heads");
  at_least_one(config.head_size, "the head size");
  at_least_one(config.inner, "the size of the MLP");
  at_least_one(config.context, "the number of positions");
  check(config.heads % config.kv_heads == 0, ErrorKind::Input,
        "[codelm.config] {}: {} heads cannot share {} key and value heads; expected a divisor.",
        where, config.heads, config.kv_heads);
  check(config.rotary_size % 2 == 0 && config.rotary_size <= config.head_size, ErrorKind::Input,
        "[codelm.config] {}: {} of {} values of a head are rotated; expected an even number of "
        "them.",
        where, config.rotary_size, config.head_size);
  check(config.window >= 0, ErrorKind::Input,
        "[codelm.config] {}: the attention window is {}, expected 1 or more, or none.", where,
        config.window);
  const auto windowed = static_cast<std::int64_t>(config.windowed_layers.size());
  check(windowed == 0 || windowed == config.layers, ErrorKind::Input,
        "[codelm.config] {}: layer_types has {} entries, expected one for each of {} layers.",
        where, windowed, config.layers);
  check(parameter_count(config) < kMostParameters, ErrorKind::Input,
        "[codelm.config] {}: the sizes describe a network that no machine can hold.", where);
}

Json config_json(const CodelmConfig& config) {
  return config.original.empty() ? write_layout(config) : config.original;
}

}  // namespace ubique::codelm
