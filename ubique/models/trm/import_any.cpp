// SPDX-License-Identifier: Apache-2.0
// Weights of the original system, whatever wrote them.
#include <ATen/ATen.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "ubique/base/log.h"
#include "ubique/base/text.h"
#include "ubique/engine/state_dict.h"
#include "ubique/engine/tensor_bytes.h"
#include "ubique/io/magic.h"
#include "ubique/io/safetensors.h"
#include "ubique/io/tensor_list.h"
#include "ubique/io/torch_file.h"
#include "ubique/models/trm/weights.h"

namespace ubique::trm {
namespace {

namespace fs = std::filesystem;
using Shapes = std::map<std::string, std::vector<std::int64_t>>;

constexpr std::string_view kInnerPrefix = "model.inner.";
constexpr const char* kTokens = "model.inner.embed_tokens.embedding_weight";
constexpr const char* kTable = "model.inner.puzzle_emb.weights";

std::string first_bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string start(512, '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(file.gcount()));
  return start;
}

/// The name in the network: without a compiled model's prefix, with that of the loss head.
std::string plain_name(std::string name) {
  for (const std::string_view prefix : {"_orig_mod.", "model.", "inner."}) {
    if (name.starts_with(prefix)) name.erase(0, prefix.size());
  }
  return std::string(kInnerPrefix) + name;
}

engine::NamedTensors read_torch(const fs::path& path) {
  engine::NamedTensors tensors;
  for (const auto& tensor : io::read_torch_file(path).tensors) {
    tensors.emplace_back(plain_name(tensor.name), engine::torch_tensor(tensor));
  }
  return tensors;
}

engine::NamedTensors read_safetensors(const io::SafetensorsFile& file) {
  engine::NamedTensors tensors;
  for (const auto& info : file.tensors()) {
    auto tensor = at::empty(info.shape, engine::scalar_type_of(info.dtype));
    file.read(info, engine::writable_bytes_of(tensor));
    tensors.emplace_back(plain_name(info.name), tensor);
  }
  return tensors;
}

/// A tensor's size along a dimension; 0 if it is not there.
std::int64_t size_in(const Shapes& shapes, const std::string& name, std::size_t dimension) {
  const auto found = shapes.find(std::string(kInnerPrefix) + name);
  return found == shapes.end() || dimension >= found->second.size() ? 0 : found->second[dimension];
}

std::int64_t count_layers(const Shapes& shapes) {
  std::int64_t layers = 0;
  while (size_in(shapes, fmt::format("L_level.layers.{}.mlp.down_proj.weight", layers), 0) > 0) {
    ++layers;
  }
  return layers;
}

/// Puzzles of that vocabulary, as the original's builders make them.
std::int64_t usual_length(std::int64_t vocabulary) {
  constexpr std::int64_t kSudoku = 81, kGrid = 900, kChat = 512;
  if (vocabulary == 6 || vocabulary == 12) return kGrid;
  return vocabulary > 256 ? kChat : kSudoku;
}

TrmConfig config_from_shapes(const Shapes& shapes) {
  constexpr std::int64_t kHeadSize = 64;
  TrmConfig config;
  config.vocab_size = size_in(shapes, "embed_tokens.embedding_weight", 0);
  config.hidden_size = size_in(shapes, "embed_tokens.embedding_weight", 1);
  config.puzzle_emb_ndim = size_in(shapes, "puzzle_emb.weights", 1);
  config.num_puzzle_identifiers =
      std::max<std::int64_t>(1, size_in(shapes, "puzzle_emb.weights", 0));
  if (config.puzzle_emb_ndim == 0) config.puzzle_emb_len = 0;
  config.layers = count_layers(shapes);
  config.num_heads =
      config.hidden_size % kHeadSize == 0 ? config.hidden_size / kHeadSize : config.num_heads;
  const auto length = size_in(shapes, "embed_pos.embedding_weight", 0);
  const auto mixed = size_in(shapes, "L_level.layers.0.mlp_t.gate_up_proj.weight", 1);
  config.mlp_t = mixed > 0;
  if (config.mlp_t) config.positions = Positions::None;
  if (length > 0) config.positions = Positions::Learned;
  const auto inner = size_in(shapes, "L_level.layers.0.mlp.down_proj.weight", 1);
  if (config.hidden_size > 0 && config.inner_size(config.hidden_size) != inner) {
    config.expansion = 1.5 * static_cast<double>(inner) / static_cast<double>(config.hidden_size);
  }
  const auto places = std::max(length, mixed);
  config.seq_len =
      places > config.puzzle_emb_len ? places - config.prefix() : usual_length(config.vocab_size);
  return config;
}

/// all_config.yaml's arch over what the shapes tell.
TrmConfig config_beside(const fs::path& path, const Shapes& shapes) {
  auto config = config_from_shapes(shapes);
  const auto beside = path.parent_path() / kConfigFile;
  if (!fs::is_regular_file(beside)) {
    log::warn(
        "[trm.import] {} has no {} beside it: assuming what shapes do not tell, {} heads, "
        "H_cycles {}, L_cycles {}, halt_max_steps {}, puzzles of {} tokens",
        path.string(), kConfigFile, config.num_heads, config.high_cycles, config.low_cycles,
        config.halt_max_steps, config.seq_len);
    return config;
  }
  const auto places = config.length();
  const bool known = config.mlp_t || config.positions == Positions::Learned;
  config = read_arch(Config::from_file(beside).section("arch"), config);
  if (known) config.seq_len = places - config.prefix();
  return config;
}

std::unique_ptr<TrmModel> assemble(const TrmConfig& config, const engine::NamedTensors& tensors,
                                   const fs::path& path) {
  validate(config, ErrorKind::Input);
  auto model = std::make_unique<TrmModel>(config);
  engine::load_state(model->network(), tensors, path.string());
  model->set_initialized();
  return model;
}

}  // namespace

bool looks_like_trm(const fs::path& path) {
  if (!fs::is_regular_file(path)) return false;
  const auto start = first_bytes(path);
  const auto bytes = std::as_bytes(std::span(start));
  if (!io::starts_like_safetensors(bytes) && !io::looks_like_torch_file(bytes)) return false;
  try {
    const auto tensors = io::list_tensors(path);
    return std::ranges::any_of(
        tensors, [](const io::TensorInfo& info) { return plain_name(info.name) == kTokens; });
  } catch (const Error&) {  // the question was whether it is one
    return false;
  }
}

std::unique_ptr<TrmModel> load_any(const fs::path& path) {
  check(fs::is_regular_file(path), ErrorKind::Input,
        "[trm.import] {} is no file; expected weights of a TRM.", path.string());
  const auto start = first_bytes(path);
  const bool safetensors = io::starts_like_safetensors(std::as_bytes(std::span(start)));
  std::optional<TrmConfig> config;
  engine::NamedTensors tensors;
  if (safetensors) {
    const io::SafetensorsFile file(path);
    tensors = read_safetensors(file);
    const auto header = file.metadata().find(kConfigKey);
    if (header != file.metadata().end()) {
      config =
          from_json(parse_json(header->second, path.string() + " (its header)"), path.string());
    }
  } else {
    tensors = read_torch(path);
  }
  Shapes shapes;
  for (const auto& [name, tensor] : tensors) shapes[name] = tensor.sizes().vec();
  check(size_in(shapes, "embed_tokens.embedding_weight", 1) > 0, ErrorKind::Input,
        "[trm.import] {} is not a TRM; got {}, expected {} among them.", path.string(),
        io::contents_text(path), kTokens);
  if (!config) config = config_beside(path, shapes);
  return assemble(*config, tensors, path);
}

std::unique_ptr<TrmModel> with_weights_of(const TrmConfig& config, TrmModel& other,
                                          const std::string& where) {
  auto values = engine::state_dict(other.network());
  const auto& had = other.settings();
  for (auto& [name, value] : values) {
    if (name != kTable || had.num_puzzle_identifiers == config.num_puzzle_identifiers) continue;
    log::info("the table of puzzles had {} rows and gets {}: all begin as the mean of the old ones",
              had.num_puzzle_identifiers, config.num_puzzle_identifiers);
    value = value.mean(0, true).expand({config.num_puzzle_identifiers, value.size(1)});
  }
  auto model = std::make_unique<TrmModel>(config);
  try {
    engine::load_state(model->network(), values, where);
  } catch (const Error& error) {
    std::vector<std::string> differences;
    const auto saved = to_json(had), wanted = to_json(config);
    for (const auto& [key, value] : wanted.items()) {
      if (saved.at(key) != value) {
        differences.push_back(
            fmt::format("{} {}, expected {}", key, saved.at(key).dump(), value.dump()));
      }
    }
    fail(error.kind(),
         "[trm.start] {} is a TRM of another form; got {}. Leave those keys out to "
         "take its own.",
         where, join(differences, "; "));
  }
  model->set_initialized();
  return model;
}

}  // namespace ubique::trm
