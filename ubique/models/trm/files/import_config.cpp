// SPDX-License-Identifier: Apache-2.0
// The configuration from shapes and all_config.yaml, and all_config.yaml for an export.
#include "ubique/models/trm/files/import_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "ubique/base/terminal/log.h"
#include "ubique/base/text/text.h"
#include "ubique/models/trm/files/weights.h"

namespace ubique::trm {
namespace {

namespace fs = std::filesystem;

constexpr const char* kUbiqueKey = "ubique";

std::int64_t count_layers(const Shapes& shapes) {
  std::int64_t layers = 0;
  while (size_in(shapes, fmt::format("L_level.layers.{}.mlp.down_proj.weight", layers), 0) > 0) {
    ++layers;
  }
  return layers;
}

/// Lengths of puzzles with this vocabulary: the original's first, then our smaller sudokus.
std::vector<std::int64_t> usual_seq_lens(std::int64_t vocabulary) {
  switch (vocabulary) {
    case 6:
      return {900, 16};
    case 8:
      return {36};
    case 11:
      return {81};
    case 12:
      return {900};
    default:
      return {};
  }
}

/// Number of positions that have their own weights; 0 if none have.
std::int64_t positions_in(const Shapes& shapes) {
  return std::max(size_in(shapes, "embed_pos.embedding_weight", 0),
                  size_in(shapes, "L_level.layers.0.mlp_t.gate_up_proj.weight", 1));
}

/// Everything that shapes determine: not the heads, nor which positions belong to the prefix.
TrmConfig config_from_shapes(const Shapes& shapes) {
  TrmConfig config;
  config.vocab_size = size_in(shapes, "embed_tokens.embedding_weight", 0);
  config.hidden_size = size_in(shapes, "embed_tokens.embedding_weight", 1);
  config.puzzle_emb_ndim = size_in(shapes, "puzzle_emb.weights", 1);
  config.num_puzzle_identifiers =
      std::max<std::int64_t>(1, size_in(shapes, "puzzle_emb.weights", 0));
  if (config.puzzle_emb_ndim == 0) config.puzzle_emb_len = 0;
  config.layers = count_layers(shapes);
  config.mlp_t = size_in(shapes, "L_level.layers.0.mlp_t.gate_up_proj.weight", 1) > 0;
  if (config.mlp_t) config.positions = Positions::None;
  if (size_in(shapes, "embed_pos.embedding_weight", 0) > 0) config.positions = Positions::Learned;
  const auto inner = size_in(shapes, "L_level.layers.0.mlp.down_proj.weight", 1);
  if (config.hidden_size > 0 && config.inner_size(config.hidden_size) != inner) {
    config.expansion = 1.5 * static_cast<double>(inner) / static_cast<double>(config.hidden_size);
  }
  return config;
}

/// The seq_len of a usual puzzle that together with the original's prefix has `positions` tokens; 0
/// if there is none or several.
std::int64_t usual_seq_len(const TrmConfig& config, std::int64_t positions) {
  auto filled = config;
  filled.puzzle_emb_len = 0;  // the prefix that a row of the table fills
  std::set<std::int64_t> found;
  for (const auto length : usual_seq_lens(config.vocab_size)) {
    if (positions - length == config.prefix() || positions - length == filled.prefix()) {
      found.insert(length);
    }
  }
  return found.size() == 1 ? *found.begin() : 0;
}

/// Rotary positions, or none, leave no trace of the puzzles' length in the tensors.
void warn_of_assumed_length(const TrmConfig& config, const fs::path& path) {
  log::warn(
      "[trm.import] {} does not say how long its puzzles are: assuming {} tokens, as is usual for "
      "a vocabulary of {}. For another length write `ubique: {{seq_len: N}}` into {}.",
      path.string(), config.seq_len, config.vocab_size,
      (path.parent_path() / kConfigFile).string());
}

/// The original's values for what shapes do not determine.
TrmConfig with_assumed_values(TrmConfig config, std::int64_t positions, const fs::path& path) {
  constexpr std::int64_t kHiddenSize = 512;  // of all the original's networks
  std::vector<std::string> missing;
  const auto usual = usual_seq_lens(config.vocab_size);
  config.seq_len = positions > 0   ? usual_seq_len(config, positions)
                   : usual.empty() ? 0
                                   : usual.front();
  if (config.seq_len == 0) {
    missing.push_back(positions > 0 ? fmt::format("puzzle_emb_len (of {} positions)", positions)
                                    : fmt::format("seq_len (of {} tokens)", config.vocab_size));
  }
  if (positions > 0) config.puzzle_emb_len = positions - config.seq_len;
  if (config.puzzle_emb_ndim == 0) config.puzzle_emb_len = 0;
  if (config.mlp_t) {
    config.num_heads = 1;  // no attention
  } else if (config.hidden_size != kHiddenSize) {
    missing.push_back(fmt::format("num_heads (of hidden_size {})", config.hidden_size));
  }
  check(
      missing.empty(), ErrorKind::Input,
      "[trm.import] {} has no {} beside it, and shapes do not determine {}; expected that file of "
      "the same training run, with these keys under arch.",
      path.string(), kConfigFile, join(missing, " and "));
  log::warn(
      "[trm.import] {} has no {} beside it: assuming what shapes do not determine, {} heads, "
      "H_cycles {}, L_cycles {}, halt_max_steps {}, puzzles of {} tokens",
      path.string(), kConfigFile, config.num_heads, config.high_cycles, config.low_cycles,
      config.halt_max_steps, config.seq_len);
  if (positions == 0) warn_of_assumed_length(config, path);
  return config;
}

/// The section `ubique`: what the original reads from the data set.
void read_ubique_key(const Config& own, const std::string& where, TrmConfig& config) {
  const auto fixed = [&](const char* key, std::int64_t tensors) {
    const auto given = own.get(key, tensors);
    check(given == tensors, ErrorKind::Input,
          "[trm.import] {} belongs to other weights; got {} {}, expected the tensors' {}.", where,
          key, given, tensors);
  };
  fixed("vocab_size", config.vocab_size);
  if (config.puzzle_emb_ndim > 0) fixed("num_puzzle_identifiers", config.num_puzzle_identifiers);
  config.seq_len = own.get("seq_len", config.seq_len);
  config.kind = own.get("kind", config.kind);
  config.rows = own.get("rows", config.rows);
  config.cols = own.get("cols", config.cols);
}

}  // namespace

std::int64_t size_in(const Shapes& shapes, const std::string& name, std::size_t dimension) {
  const auto found = shapes.find(std::string(kInnerPrefix) + name);
  return found == shapes.end() || dimension >= found->second.size() ? 0 : found->second[dimension];
}

TrmConfig imported_config(const fs::path& path, const Shapes& shapes) {
  auto config = config_from_shapes(shapes);
  const auto positions = positions_in(shapes);
  const auto beside = path.parent_path() / kConfigFile;
  if (!fs::is_regular_file(beside)) return with_assumed_values(config, positions, path);
  const auto usual = usual_seq_lens(config.vocab_size);
  constexpr std::int64_t kChat = 512;
  config.seq_len = usual.empty() ? kChat : usual.front();
  const auto file = Config::from_file(beside);
  config = read_arch(file.section("arch"), config);
  const auto own = file.section(kUbiqueKey);
  read_ubique_key(own, beside.string(), config);
  if (positions == 0 && !own.has("seq_len")) warn_of_assumed_length(config, path);
  check(positions == 0 || positions > config.prefix(), ErrorKind::Input,
        "[trm.import] {} belongs to other weights; got {} tokens before the puzzle, expected fewer "
        "than the tensors' {} positions.",
        beside.string(), config.prefix(), positions);
  if (positions > 0) config.seq_len = positions - config.prefix();
  return config;
}

std::vector<std::string> different_keys(const TrmConfig& got, const TrmConfig& expected,
                                        std::vector<std::string> keys) {
  const auto ours = to_json(got), theirs = to_json(expected);
  if (keys.empty()) {
    for (const auto& [key, value] : theirs.items()) keys.push_back(key);
    for (const auto& [key, value] : ours.items()) {
      if (!theirs.contains(key)) keys.push_back(key);
    }
  }
  std::vector<std::string> differences;
  for (const auto& key : keys) {
    const auto value = ours.value(key, Json()), wanted = theirs.value(key, Json());
    if (value == wanted) continue;
    differences.push_back(fmt::format("{} {}, expected {}", key, value.dump(), wanted.dump()));
  }
  return differences;
}

std::string config_yaml(const TrmConfig& config) {
  std::string text = "arch:\n  name: recursive_reasoning.trm@TinyRecursiveReasoningModel_ACTV1\n";
  text += fmt::format("  loss:\n    name: losses@ACTLossHead\n    loss_type: {}\n",
                      to_string(config.loss));
  auto json = to_json(config);
  std::string own = std::string(kUbiqueKey) + ":\n";
  const auto line = [](const std::string& key, const Json& value) {
    return fmt::format("  {}: {}\n", key,
                       value.is_string() ? value.get<std::string>() : value.dump());
  };
  for (const char* key :
       {"seq_len", "vocab_size", "num_puzzle_identifiers", "kind", "rows", "cols"}) {
    if (json.contains(key) && json[key] != Json("")) own += line(key, json[key]);
    json.erase(key);
  }
  json.erase("loss_type");
  json["forward_dtype"] = config.forward_dtype;
  for (const auto& [key, value] : json.items()) text += line(key, value);
  return text + "  no_ACT_continue: true\n  H_layers: 0\n" + own;
}

}  // namespace ubique::trm
