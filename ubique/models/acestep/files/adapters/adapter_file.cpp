// SPDX-License-Identifier: Apache-2.0
// Reads adapters of three forms as one.
#include "ubique/models/acestep/files/adapters/adapter_file.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "ubique/base/error.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"
#include "ubique/engine/checkpoint/checkpoint.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/engine/checkpoint/tensor_bytes.h"
#include "ubique/engine/walk/open_model.h"
#include "ubique/io/tensors/safetensors_reader.h"
#include "ubique/models/acestep/files/adapters/adapter_names.h"
#include "ubique/models/acestep/files/adapters/peft_config.h"

namespace ubique::acestep {
namespace {

namespace fs = std::filesystem;

bool has_adapter_file(const fs::path& folder, const char* name) {
  std::error_code ignored;
  return fs::is_regular_file(folder / name, ignored);
}

/// Names without what programs put before them.
std::string plain_name(std::string name) {
  for (const std::string_view prefix : {kPeftNames, kDiffusersNames}) {
    if (name.starts_with(prefix)) name.erase(0, prefix.size());
  }
  return name;
}

engine::NamedTensors read_pairs(const io::SafetensorsFile& file) {
  engine::NamedTensors tensors;
  for (const auto& info : file.tensors()) {
    const auto name = plain_name(info.name);
    const bool one = name.ends_with(kNameOfA) || name.ends_with(kNameOfB);
    check(one && info.shape.size() == 2, ErrorKind::Input,
          "[acestep.adapter] {}: the tensor {} is no part of a LoRA adapter; expected matrices "
          "LAYER{} and LAYER{}.",
          file.name(), printable(info.name), kNameOfA, kNameOfB);
    auto tensor = at::empty(info.shape, engine::scalar_type_of(info.dtype));
    file.read(info, engine::writable_bytes_of(tensor));
    tensors.emplace_back(name, tensor.to(at::kFloat));
  }
  return tensors;
}

/// Every layer has both matrices of one rank, the same everywhere.
void set_layers(AdapterFile& adapter) {
  std::map<std::string, std::pair<at::Tensor, at::Tensor>> layers;
  for (const auto& [name, tensor] : adapter.tensors) {
    const bool a = name.ends_with(kNameOfA);
    auto& pair = layers[name.substr(0, name.size() - std::string_view(kNameOfA).size())];
    (a ? pair.first : pair.second) = tensor;
  }
  check(!layers.empty(), ErrorKind::Input, "[acestep.adapter] {} holds no adapter.",
        adapter.source);
  adapter.options.targets.clear();
  std::int64_t rank = 0;
  for (const auto& [layer, pair] : layers) {
    const auto& [a, b] = pair;
    check(a.defined() && b.defined() && a.size(0) == b.size(1), ErrorKind::Input,
          "[acestep.adapter] {}: the layer {} has no pair of matrices (rank, in) and (out, rank).",
          adapter.source, printable(layer));
    if (rank == 0) rank = a.size(0);
    check(a.size(0) == rank, ErrorKind::Input,
          "[acestep.adapter] {}: ranks differ from layer to layer; got {} at {} and {} before, "
          "expected one.",
          adapter.source, a.size(0), printable(layer), rank);
    adapter.options.targets.push_back(layer);
  }
  adapter.options.rank = rank;
}

/// alpha and rslora as our own files have them in their metadata.
void read_metadata(const io::Metadata& metadata, AdapterFile& adapter) {
  const auto alpha = metadata.find("lora_alpha");
  if (alpha == metadata.end()) return;
  const auto value = parse_number(alpha->second);
  check(value && *value > 0, ErrorKind::Input,
        "[acestep.adapter] {}: lora_alpha in its metadata is '{}', expected a number above 0.",
        adapter.source, printable(alpha->second));
  adapter.options.alpha = *value;
  adapter.alpha_known = true;
  const auto stabilized = metadata.find("use_rslora");
  adapter.options.rank_stabilized = stabilized != metadata.end() && stabilized->second == "true";
}

AdapterFile read_safetensors_adapter(const fs::path& path) {
  const io::SafetensorsFile file(path);
  AdapterFile adapter{.source = path.string(), .options = {.rank = 0, .alpha = 0}};
  adapter.tensors = read_pairs(file);
  read_metadata(file.metadata(), adapter);
  return adapter;
}

AdapterFile read_peft_folder(const fs::path& folder) {
  auto adapter = read_safetensors_adapter(folder / kPeftWeights);
  adapter.options = read_peft_config(folder / kPeftConfig);
  adapter.alpha_known = true;
  return adapter;
}

AdapterFile read_checkpoint_adapter(const fs::path& path) {
  const auto checkpoint = engine::load_checkpoint(path, /*with_trainer=*/false);
  const auto options = checkpoint.config.find("adapter");
  check(options != checkpoint.config.end(), ErrorKind::Input,
        "[acestep.adapter] {} holds no adapter: all weights were trained. Expected a run without "
        "--full; give it as --model.",
        path.string());
  AdapterFile adapter{.source = path.string(),
                      .options = parse_adapter_options(*options, path.string()),
                      .alpha_known = true};
  adapter.tensors = checkpoint.model;
  return adapter;
}

AdapterFile read_any_adapter(const fs::path& given) {
  std::error_code ignored;
  check(fs::exists(given, ignored), ErrorKind::Input,
        "[acestep.adapter] {} does not exist; expected an adapter.", given.string());
  const auto path = engine::model_path(given);
  if (engine::is_checkpoint(path)) return read_checkpoint_adapter(path);
  if (fs::is_regular_file(path, ignored)) return read_safetensors_adapter(path);
  if (has_adapter_file(path, kPeftConfig) && has_adapter_file(path, kPeftWeights)) {
    return read_peft_folder(path);
  }
  check(has_adapter_file(path, kOriginalWeights), ErrorKind::Input,
        "[acestep.adapter] {} holds no adapter; expected {}, or {} with {}, or a run of ours.",
        given.string(), kOriginalWeights, kPeftConfig, kPeftWeights);
  return read_safetensors_adapter(path / kOriginalWeights);
}

}  // namespace

bool looks_like_adapter(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored)) return path.filename() == kOriginalWeights;
  return has_adapter_file(path, kOriginalWeights) || has_adapter_file(path, kPeftConfig);
}

AdapterFile read_adapter(const fs::path& path, std::optional<double> alpha) {
  check(!alpha || (std::isfinite(*alpha) && *alpha > 0), ErrorKind::Usage,
        "[acestep.adapter] alpha is out of range; got {}, expected more than 0.",
        alpha.value_or(0));
  auto adapter = read_any_adapter(path);
  set_layers(adapter);
  if (alpha) {
    adapter.options.alpha = *alpha;
    adapter.alpha_known = true;
  } else if (!adapter.alpha_known) {
    adapter.options.alpha = static_cast<double>(adapter.options.rank);
    adapter.options.rank_stabilized = false;
    log::info("{} does not say its alpha: scale 1 is taken, as other programs do", adapter.source);
  }
  return adapter;
}

std::unique_ptr<nn::LoraModule> attach_adapter(Dit& dit, const AdapterFile& file, double weight) {
  auto options = file.options;
  options.targets = fitting_layers(dit, file);
  auto adapter = make_adapter(dit, options, /*attached=*/false);
  load_adapter(*adapter, file);
  if (weight != 0) adapter->append(weight);
  return adapter;
}

void load_adapter(nn::LoraModule& adapter, const AdapterFile& file) {
  const at::NoGradGuard no_gradients;
  for (auto& item : adapter.named_parameters()) {
    const auto stored = engine::find_tensor(file.tensors, item.key());
    check(
        stored.defined() && stored.sizes() == item.value().sizes(), ErrorKind::Input,
        "[acestep.adapter] {} does not fit: {} {}, expected shape ({}). The same rank and targets "
        "are needed.",
        file.source, item.key(),
        stored.defined() ? fmt::format("has shape ({})", fmt::join(stored.sizes(), ", "))
                         : "is missing",
        fmt::join(item.value().sizes(), ", "));
    item.value().copy_(stored);
  }
}

}  // namespace ubique::acestep
