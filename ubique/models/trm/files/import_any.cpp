// SPDX-License-Identifier: Apache-2.0
// Reading weights of the original system from torch files and safetensors.
#include <ATen/ATen.h>

#include <algorithm>

#include "ubique/base/files/file.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/text.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/engine/checkpoint/tensor_bytes.h"
#include "ubique/io/archive/file_type.h"
#include "ubique/io/tensor_list.h"
#include "ubique/io/tensors/safetensors_reader.h"
#include "ubique/io/torch/torch_file.h"
#include "ubique/models/trm/files/import_config.h"
#include "ubique/models/trm/files/weights.h"

namespace ubique::trm {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTokens = "model.inner.embed_tokens.embedding_weight";
constexpr const char* kTable = "model.inner.puzzle_emb.weights";

/// The name in the network: without a compiled model's prefix, with the prefix model.inner.
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

std::unique_ptr<TrmModel> assemble(const TrmConfig& config, const engine::NamedTensors& tensors,
                                   const fs::path& path) {
  validate(config, ErrorKind::Input);
  engine::check_stored_size(stored_count(config), tensors, path.string());
  auto model = std::make_unique<TrmModel>(config);
  engine::load_state(model->network(), tensors, path.string());
  model->set_initialized();
  return model;
}

/// Configuration keys that determine the shapes of tensors.
const std::vector<std::string> kShapeKeys = {
    "seq_len",  "vocab_size", "hidden_size",   "num_heads",       "expansion",
    "L_layers", "mlp_t",      "pos_encodings", "puzzle_emb_ndim", "puzzle_emb_len"};

}  // namespace

bool looks_like_trm(const fs::path& path) {
  if (!fs::is_regular_file(path)) return false;
  const auto start = read_start(path, io::kTellingBytes);
  const auto bytes = std::as_bytes(std::span(start));
  if (!io::starts_like_safetensors(bytes) && !io::looks_like_torch_file(bytes)) return false;
  try {
    const auto tensors = io::list_tensors(path);
    return std::ranges::any_of(
        tensors, [](const io::TensorInfo& info) { return plain_name(info.name) == kTokens; });
  } catch (const Error&) {  // unreadable: not a TRM
    return false;
  }
}

std::unique_ptr<TrmModel> load_any(const fs::path& path) {
  check(fs::is_regular_file(path), ErrorKind::Input,
        "[trm.import] {} is not a file; expected weights of a TRM.", path.string());
  const auto start = read_start(path, io::kTellingBytes);
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
  if (!config) config = imported_config(path, shapes);
  return assemble(*config, tensors, path);
}

std::unique_ptr<TrmModel> with_weights_of(const TrmConfig& config, TrmModel& other,
                                          const std::string& where) {
  auto values = engine::state_dict(other.network());
  const auto& had = other.settings();
  for (auto& [name, value] : values) {
    if (name != kTable || had.num_puzzle_identifiers == config.num_puzzle_identifiers) continue;
    log::info("the puzzle table had {} rows and gets {}: each starts as the mean of the old ones",
              had.num_puzzle_identifiers, config.num_puzzle_identifiers);
    value = value.mean(0, true).expand({config.num_puzzle_identifiers, value.size(1)});
  }
  try {
    auto model = std::make_unique<TrmModel>(config);
    engine::load_state(model->network(), values, where);
    model->set_initialized();
    return model;
  } catch (const Error&) {
    const auto differences = different_keys(had, config, kShapeKeys);
    if (differences.empty()) throw;
    fail(ErrorKind::Input,
         "[trm.start] {} is a TRM of another shape; got {}. Leave those keys out to "
         "use the file's own.",
         where, join(differences, "; "));
  }
}

}  // namespace ubique::trm
