// SPDX-License-Identifier: Apache-2.0
// Recognises the format of a file or folder and builds config and weights from it.
#include "ubique/models/meshnet/files/import.h"

#include <algorithm>

#include "ubique/base/files/file.h"
#include "ubique/io/archive/file_type.h"
#include "ubique/io/tensors/safetensors_reader.h"
#include "ubique/io/torch/torch_file.h"
#include "ubique/models/meshnet/files/export.h"
#include "ubique/models/meshnet/files/import_brainchop.h"
#include "ubique/models/meshnet/files/import_layers.h"
#include "ubique/models/meshnet/files/import_onnx.h"
#include "ubique/models/meshnet/files/import_recipe.h"

namespace ubique::meshnet {
namespace {

namespace fs = std::filesystem;

/// Tensors under the names of the file's state dict, and the config that our own exports carry.
struct WeightFile {
  std::vector<io::HostTensor> tensors;
  std::optional<Json> config;
  std::string format;  // ".pt", "safetensors"
};

bool is_torch(const std::string& start) {
  return start.starts_with("PK\x03\x04") ||
         io::looks_like_torch_file(std::as_bytes(std::span(start)));
}

bool is_safetensors(const std::string& start) {
  return io::starts_like_safetensors(std::as_bytes(std::span(start)));
}

/// The key that a checkpoint nests its state dict under; empty if the file is a state dict.
template <typename Tensors>
std::string state_prefix(const Tensors& tensors) {
  for (const std::string under : {"model_state_dict/", "state_dict/", "model/"}) {
    const auto inside = [&](const auto& tensor) { return tensor.name.starts_with(under); };
    if (std::any_of(tensors.begin(), tensors.end(), inside)) return under;
  }
  return {};
}

WeightFile read_torch_weights(const fs::path& path) {
  auto file = io::read_torch_file(path);
  WeightFile weights{{}, std::nullopt, ".pt"};
  const auto prefix = state_prefix(file.tensors);
  for (auto& tensor : file.tensors) {
    if (!tensor.name.starts_with(prefix)) continue;
    tensor.name = tensor.name.substr(prefix.size());
    weights.tensors.push_back(std::move(tensor));
  }
  if (file.tree.is_object() && file.tree.contains(kConfigKey)) {
    weights.config = file.tree.at(kConfigKey);
  }
  return weights;
}

WeightFile read_safetensors_weights(const fs::path& path) {
  const io::SafetensorsFile file(path);
  WeightFile weights{{}, std::nullopt, "safetensors"};
  for (const auto& info : file.tensors()) {
    io::HostTensor tensor{info.name, info.dtype, info.shape, {}};
    tensor.bytes.resize(info.size());
    file.read(info, tensor.bytes);
    weights.tensors.push_back(std::move(tensor));
  }
  const auto config = file.metadata().find(kConfigKey);
  if (config != file.metadata().end()) {
    weights.config = parse_json(config->second, path.string() + " (its header)");
  }
  return weights;
}

LayerRecipe find_recipe(const MeshNetConfig& config, const ImportedLayers& layers,
                        const fs::path& path) {
  const auto count = layers.layers.size() - 1;
  if (layers.naming != "arc-meshchop") {
    if (const auto json = recipe_beside(path)) {
      const auto where = path.string() + "'s configuration";
      auto recipe = is_tfjs_document(*json) ? tfjs_recipe(*json, where)
                                            : enmesh_recipe(*json, config.norm, where);
      check(recipe.dilations.size() == count, ErrorKind::Input,
            "[meshnet.import] {} describes another network; got {} layers and a classifier, "
            "expected {} as in the weights.",
            where, recipe.dilations.size(), count);
      return recipe;
    }
  }
  return known_recipe(config, layers.naming, count, path.string());
}

/// The configuration in the file's header. Biases and norms that it denies would be left out
/// without a word; shapes are compared when all is assembled.
MeshNetConfig said_config(const Json& json, const MeshNetConfig& inferred, const fs::path& path) {
  auto config = from_json(json, path.string());
  const auto text = [](const MeshNetConfig& c) {
    return fmt::format("{} biases and {} batch norms", c.bias ? "with" : "no",
                       c.norm == Norm::Batch ? "with" : "no");
  };
  check(text(config) == text(inferred), ErrorKind::Input,
        "[meshnet.import] {} holds another network than its header says; got weights {}, expected "
        "{}.",
        path.string(), text(inferred), text(config));
  return config;
}

MeshNetFile assemble(const WeightFile& weights, const fs::path& path) {
  check(!weights.tensors.empty(), ErrorKind::Input,
        "[meshnet.import] {} holds no tensors; expected the weights of a MeshNet.", path.string());
  const auto layers = sort_layers(weights.tensors, path.string());
  auto config = infer_config(layers, path.string());
  if (weights.config) {
    config = said_config(*weights.config, config, path);
  } else {
    const auto recipe = find_recipe(config, layers, path);
    config.dilations = recipe.dilations;
    config.activation = recipe.activation.value_or(Activation::Relu);
    config.dropout = recipe.dropout;
    if (layers.naming != "arc-meshchop") {
      config.preprocessing = brainchop_preprocessing(config);
      config.labels = read_colormap(path.parent_path(), config.classes);
    }
  }
  check(config.layers() + 1 == layers.layers.size(), ErrorKind::Input,
        "[meshnet.import] {} says it has {} layers and a classifier; got weights of {}.",
        path.string(), config.layers(), layers.layers.size());
  validate(config, ErrorKind::Input);
  return {config, arc_state(layers, config), layers.naming + " " + weights.format};
}

MeshNetFile load_weight_file(const fs::path& path) {
  const auto start = read_start(path, io::kTellingBytes);
  if (is_torch(start)) return assemble(read_torch_weights(path), path);
  if (is_safetensors(start)) return assemble(read_safetensors_weights(path), path);
  const auto what = io::looks_like(std::as_bytes(std::span(start)));
  fail(ErrorKind::Input,
       "[meshnet.import] {} is not a MeshNet; got {}, expected PyTorch's .pt or .pth, "
       "safetensors, .onnx or a BrainChop folder.",
       path.string(), what.empty() ? "a file of unknown kind" : what);
}

/// The weight file of a folder with enMesh's model.json.
fs::path weights_in(const fs::path& folder) {
  for (const auto* name : {"model.pth", "model.pt", "model.safetensors", "model.bin"}) {
    if (fs::is_regular_file(folder / name)) return folder / name;
  }
  fail(ErrorKind::Input,
       "[meshnet.import] {} has a model.json but no weights; expected model.pth, model.pt or "
       "model.safetensors beside it.",
       folder.string());
}

MeshNetFile load_folder(const fs::path& folder) {
  const auto path = folder / "model.json";
  check(fs::is_regular_file(path), ErrorKind::Input,
        "[meshnet.import] {} is not a MeshNet; got a folder without model.json, expected a "
        "BrainChop folder or a checkpoint.",
        folder.string());
  const auto json = parse_json(read_file(path), path.string());
  if (is_enmesh_document(json)) return load_weight_file(weights_in(folder));
  return import_brainchop(path);
}

bool is_model_json(const fs::path& path) {
  try {
    const auto text = read_file(path, 16 << 20);
    const auto json = parse_json(text, path.string());
    const bool is_3d = text.find("Conv3D") != std::string::npos;  // other networks are TFJS too
    return (is_tfjs_document(json) && is_3d) || is_enmesh_document(json);
  } catch (const Error&) {
    return false;  // unreadable: not a MeshNet
  }
}

/// True if all names are names of layers and one tensor is the kernel of a 3D convolution.
bool has_layer_names(const std::vector<io::TensorInfo>& tensors) {
  const auto prefix = state_prefix(tensors);
  bool kernel = false;
  for (const auto& tensor : tensors) {
    if (!tensor.name.starts_with(prefix)) continue;
    if (!is_layer_name(tensor.name.substr(prefix.size()))) return false;
    kernel = kernel || tensor.shape.size() == 5;
  }
  return kernel;
}

bool is_meshnet_file(const fs::path& path, const std::string& start) {
  try {
    if (is_safetensors(start)) return has_layer_names(io::SafetensorsFile(path).tensors());
    return is_torch(start) && has_layer_names(io::list_torch_file(path));
  } catch (const Error&) {
    return false;  // unreadable: not a MeshNet
  }
}

}  // namespace

bool looks_like_meshnet(const fs::path& path) {
  if (fs::is_directory(path)) {
    return fs::is_regular_file(path / "model.json") && is_model_json(path / "model.json");
  }
  if (!fs::is_regular_file(path)) return false;
  if (path.extension() == ".json") return is_model_json(path);
  if (path.extension() == ".onnx") return looks_like_meshnet_onnx(path);
  return is_meshnet_file(path, read_start(path, io::kTellingBytes));
}

namespace {

MeshNetFile load_format(const fs::path& path) {
  if (fs::is_directory(path)) return load_folder(path);
  if (path.extension() == ".json") {
    check(path.filename() == "model.json", ErrorKind::Input,
          "[meshnet.import] {} is not a MeshNet; got a JSON file of another name, expected "
          "model.json or the folder it is in.",
          path.string());
    return load_folder(path.parent_path());
  }
  if (path.extension() == ".onnx") return import_onnx(path);
  return load_weight_file(path);
}

}  // namespace

MeshNetFile load_any(const fs::path& path) {
  check_readable(path);
  check(fs::exists(path), ErrorKind::Input, "[meshnet.import] {} does not exist.", path.string());
  auto file = load_format(path);
  check_weights(file.config, file.tensors, path.string());
  return file;
}

}  // namespace ubique::meshnet
