// SPDX-License-Identifier: Apache-2.0
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

constexpr const char* kOwnKey = "ubique";

std::int64_t count_layers(const Shapes& shapes) {
  std::int64_t layers = 0;
  while (size_in(shapes, fmt::format("L_level.layers.{}.mlp.down_proj.weight", layers), 0) > 0) {
    ++layers;
  }
  return layers;
}

/// Tokens of the puzzles that have that vocabulary: the original's first, then our smaller sudokus.
std::vector<std::int64_t> usual_lengths(std::int64_t vocabulary) {
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

/// Places that have weights of their own; 0 if none have.
std::int64_t places_in(const Shapes& shapes) {
  return std::max(size_in(shapes, "embed_pos.embedding_weight", 0),
                  size_in(shapes, "L_level.layers.0.mlp_t.gate_up_proj.weight", 1));
}

/// All but what needs a guess: heads, and how many of the places are the puzzle's.
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

/// The one way to divide `places` into the original's prefix and a usual puzzle; 0 if there is
/// none or several.
std::int64_t usual_part(const TrmConfig& config, std::int64_t places) {
  auto filled = config;
  filled.puzzle_emb_len = 0;  // as many tokens as a row of the table fills
  std::set<std::int64_t> found;
  for (const auto length : usual_lengths(config.vocab_size)) {
    if (places - length == config.prefix() || places - length == filled.prefix()) {
      found.insert(length);
    }
  }
  return found.size() == 1 ? *found.begin() : 0;
}

/// The original's values where the shapes leave it open.
TrmConfig guessed(TrmConfig config, std::int64_t places, const fs::path& path) {
  constexpr std::int64_t kHiddenSize = 512;  // of every network of the original's
  std::vector<std::string> missing;
  const auto usual = usual_lengths(config.vocab_size);
  config.seq_len = places > 0 ? usual_part(config, places) : usual.empty() ? 0 : usual.front();
  if (config.seq_len == 0) {
    missing.push_back(places > 0 ? fmt::format("puzzle_emb_len (of {} places)", places)
                                 : fmt::format("seq_len (of {} tokens)", config.vocab_size));
  }
  if (places > 0) config.puzzle_emb_len = places - config.seq_len;
  if (config.puzzle_emb_ndim == 0) config.puzzle_emb_len = 0;
  if (config.mlp_t) {
    config.num_heads = 1;  // there are none to divide
  } else if (config.hidden_size != kHiddenSize) {
    missing.push_back(fmt::format("num_heads (of hidden_size {})", config.hidden_size));
  }
  check(missing.empty(), ErrorKind::Input,
        "[trm.import] {} has no {} beside it, and shapes do not tell {}; expected that file of the "
        "same training, with these keys under arch.",
        path.string(), kConfigFile, join(missing, " and "));
  log::warn(
      "[trm.import] {} has no {} beside it: assuming what shapes do not tell, {} heads, "
      "H_cycles {}, L_cycles {}, halt_max_steps {}, puzzles of {} tokens",
      path.string(), kConfigFile, config.num_heads, config.high_cycles, config.low_cycles,
      config.halt_max_steps, config.seq_len);
  return config;
}

/// Our own key: what the original reads from the data.
void read_own_key(const Config& own, const std::string& where, TrmConfig& config) {
  const auto fixed = [&](const char* key, std::int64_t tensors) {
    const auto said = own.get(key, tensors);
    check(said == tensors, ErrorKind::Input,
          "[trm.import] {} belongs to other weights; got {} {}, expected the tensors' {}.", where,
          key, said, tensors);
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
  const auto places = places_in(shapes);
  const auto beside = path.parent_path() / kConfigFile;
  if (!fs::is_regular_file(beside)) return guessed(config, places, path);
  const auto usual = usual_lengths(config.vocab_size);
  constexpr std::int64_t kChat = 512;
  config.seq_len = usual.empty() ? kChat : usual.front();
  const auto file = Config::from_file(beside);
  config = read_arch(file.section("arch"), config);
  read_own_key(file.section(kOwnKey), beside.string(), config);
  check(places == 0 || places > config.prefix(), ErrorKind::Input,
        "[trm.import] {} belongs to other weights; got {} tokens before the puzzle, expected fewer "
        "than the tensors' {} places.",
        beside.string(), config.prefix(), places);
  if (places > 0) config.seq_len = places - config.prefix();
  return config;
}

std::vector<std::string> different_keys(const TrmConfig& got, const TrmConfig& expected,
                                        std::vector<std::string> keys) {
  const auto ours = to_json(got), theirs = to_json(expected);
  if (keys.empty()) {
    for (const auto& [key, value] : theirs.items()) keys.push_back(key);
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
  std::string own = std::string(kOwnKey) + ":\n";
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
  for (const auto& [key, value] : json.items()) text += line(key, value);
  return text + "  forward_dtype: bfloat16\n  no_ACT_continue: true\n  H_layers: 0\n" + own;
}

}  // namespace ubique::trm
