// SPDX-License-Identifier: Apache-2.0
// Reads wishes from our own keys; adopted_keys.cpp reads those of older projects.
#include "ubique/plan/wishes.h"

#include <algorithm>
#include <utility>

#include "ubique/base/error.h"
#include "ubique/base/text/text.h"

namespace ubique::plan {
namespace {

constexpr int kMostThreads = 1024;  // more is a typing error; creating them would end the program

struct AttentionName {
  const char* name;
  std::optional<Attention> value;
};

const AttentionName kAttentionNames[] = {
    {"auto", std::nullopt},
    {"flash", Attention::Flash},
    {"efficient", Attention::Efficient},
    {"math", Attention::Math},
    {"explicit_mask", Attention::ExplicitMask},
    // What other projects call it. The first three name a library that chooses by itself.
    {"sdpa", std::nullopt},
    {"xformers", std::nullopt},
    {"metal", std::nullopt},
    {"flash_attention_2", Attention::Flash},
    {"mem_efficient", Attention::Efficient},
    {"native", Attention::Math},
    {"eager", Attention::Math},
};

template <typename T>
T parse_word(const Config& config, std::string_view key,
             const std::vector<std::pair<std::string, T>>& words, T fallback) {
  const auto text = config.find<std::string>(key);
  if (!text) return fallback;
  std::vector<std::string> names;
  for (const auto& [name, value] : words) {
    if (name == lowercase(*text)) return value;
    names.push_back(name);
  }
  fail(ErrorKind::Usage, "[plan.wishes] {}: unknown value of {}; got '{}', expected {}.{}",
       config.where(key), key, *text, join(names, ", "), hint(*text, names));
}

Toggle read_toggle(const Config& config, std::string_view key) {
  return parse_word<Toggle>(config, key,
                            {{"auto", Toggle::Auto},
                             {"on", Toggle::On},
                             {"off", Toggle::Off},
                             {"true", Toggle::On},
                             {"false", Toggle::Off},
                             {"yes", Toggle::On},
                             {"no", Toggle::Off}},
                            Toggle::Auto);
}

template <typename T>
T read_count(const Config& config, std::string_view key, T fallback, T least,
             T most = kMostSamples) {
  if (config.get<std::string>(key, "auto") == "auto") return fallback;
  const auto value = config.get<T>(key, fallback);
  check(value >= least && value <= most, ErrorKind::Usage,
        "[plan.wishes] {}: {} is out of range; got {}, expected {} to {}, or auto.",
        config.where(key), key, value, least, most);
  return value;
}

}  // namespace

std::string_view to_string(Toggle toggle) {
  switch (toggle) {
    case Toggle::On:
      return "on";
    case Toggle::Off:
      return "off";
    case Toggle::Auto:
      break;
  }
  return "auto";
}

std::string_view to_string(Numerics numerics) {
  switch (numerics) {
    case Numerics::Strict:
      return "strict";
    case Numerics::Fast:
      return "fast";
    case Numerics::Balanced:
      break;
  }
  return "balanced";
}

std::string_view to_string(Shard shard) {
  switch (shard) {
    case Shard::Optimizer:
      return "optimizer";
    case Shard::Weights:
      return "weights";
    case Shard::None:
      break;
  }
  return "none";
}

std::string_view to_string(Attention attention) {
  switch (attention) {
    case Attention::Flash:
      return "flash";
    case Attention::Efficient:
      return "efficient";
    case Attention::Math:
      return "math";
    case Attention::ExplicitMask:
      return "explicit_mask";
    case Attention::None:
      break;
  }
  return "none";
}

std::vector<std::string> attention_names() {
  std::vector<std::string> names;
  for (const auto& row : kAttentionNames) names.emplace_back(row.name);
  return names;
}

std::optional<Attention> parse_attention(const Config& config, std::string_view key) {
  const auto text = config.find<std::string>(key);
  if (!text) return std::nullopt;
  for (const auto& row : kAttentionNames) {
    if (lowercase(*text) == row.name) return row.value;
  }
  const auto names = attention_names();
  fail(ErrorKind::Usage, "[plan.wishes] {}: unknown attention backend; got '{}', expected {}.{}",
       config.where(key), *text, join(names, ", "), hint(*text, names));
}

DType parse_wished_dtype(const std::string& text, const std::string& where) {
  std::string_view name = text;
  if (name.starts_with("torch.")) name.remove_prefix(6);
  const auto dtype = parse_dtype(name);
  constexpr DType kUsable[] = {DType::F16, DType::BF16, DType::F32, DType::F64};
  const bool usable =
      dtype && std::find(std::begin(kUsable), std::end(kUsable), *dtype) != std::end(kUsable);
  check(usable, ErrorKind::Usage,
        "[plan.wishes] {}: not a dtype to compute in; got '{}', expected auto, f32, bf16, f16 or "
        "f64.",
        where, text);
  return *dtype;
}

Wishes read_wishes(const Config& config) {
  Wishes wishes;
  wishes.mode =
      parse_word<Mode>(config, "mode", {{"train", Mode::Train}, {"run", Mode::Run}}, Mode::Train);
  wishes.device = config.get<std::string>("device", "auto");
  const auto dtype = config.get<std::string>("dtype", "auto");
  if (dtype != "auto") wishes.dtype = parse_wished_dtype(dtype, config.where("dtype"));
  wishes.attention = parse_attention(config, "attention");
  wishes.batch = read_count<std::int64_t>(config, "batch", 0, 1);
  wishes.effective_batch = read_count<std::int64_t>(config, "effective_batch", 0, 1);
  wishes.accumulation = read_count<std::int64_t>(config, "accumulation", 0, 1);
  wishes.checkpointing = read_toggle(config, "checkpointing");
  wishes.channels_last = read_toggle(config, "channels_last");
  wishes.graph_capture = read_toggle(config, "graph_capture");
  wishes.fused = read_toggle(config, "fused");
  wishes.pin_memory = read_toggle(config, "pin_memory");
  wishes.memory = config.get_bytes("memory", 0);
  check(wishes.memory >= 0, ErrorKind::Usage,
        "[plan.wishes] {}: memory is a size; got {}, expected e.g. 8GiB.", config.where("memory"),
        wishes.memory);
  wishes.deterministic = config.get("deterministic", false);
  wishes.numerics = parse_word<Numerics>(
      config, "numerics",
      {{"strict", Numerics::Strict}, {"balanced", Numerics::Balanced}, {"fast", Numerics::Fast}},
      Numerics::Balanced);
  wishes.world_size = read_count<int>(config, "world_size", 1, 1);
  wishes.shard = parse_word<std::optional<Shard>>(config, "shard",
                                                  {{"auto", std::nullopt},
                                                   {"none", Shard::None},
                                                   {"optimizer", Shard::Optimizer},
                                                   {"weights", Shard::Weights}},
                                                  std::nullopt);
  wishes.threads = read_count<int>(config, "threads", 0, 1, kMostThreads);
  wishes.prefetch_threads = read_count<int>(config, "prefetch_threads", -1, 0, kMostThreads);
  read_adopted_keys(config, wishes);
  return wishes;
}

std::vector<std::string> wish_keys() {
  Config nothing;  // reading it records the keys, so that no second list can fall behind
  nothing.set_environment({});
  read_wishes(nothing);
  std::vector<std::string> keys;
  for (const auto& value : nothing.resolved()) keys.push_back(value.key);
  return keys;
}

}  // namespace ubique::plan
