// SPDX-License-Identifier: Apache-2.0
// load_any() and looks_like_msinet(): recognises the file format and calls its reader.
#include <algorithm>

#include "ubique/base/files/file.h"
#include "ubique/base/text/printable.h"
#include "ubique/io/archive/file_type.h"
#include "ubique/io/arrays/npz.h"
#include "ubique/io/tensor_list.h"
#include "ubique/io/tensors/safetensors_reader.h"
#include "ubique/io/torch/torch_file.h"
#include "ubique/models/msinet/files/import_graph.h"
#include "ubique/models/msinet/files/import_keras.h"
#include "ubique/models/msinet/files/named_weights.h"
#include "ubique/models/msinet/files/weight_files.h"

namespace ubique::msinet {
namespace {

namespace fs = std::filesystem;

enum class WeightFormat { Unknown, Safetensors, Torch, Npz, Hdf5, TfGraph };

WeightFormat format_of_file(const fs::path& path, const std::string& start) {
  const auto bytes = std::as_bytes(std::span(start));
  if (start.starts_with("\x89HDF\r\n\x1a\n")) return WeightFormat::Hdf5;
  if (io::starts_like_safetensors(bytes)) return WeightFormat::Safetensors;
  if (path.extension() == ".npz") return WeightFormat::Npz;
  if (path.extension() == ".pb") return WeightFormat::TfGraph;
  return io::looks_like_torch_file(bytes) ? WeightFormat::Torch : WeightFormat::Unknown;
}

KernelOrder kernel_order(const io::SafetensorsFile& file, const std::string& where) {
  const auto order = file.metadata().find(kKernelOrderKey);
  if (order == file.metadata().end() || order->second == kTorchOrder) return KernelOrder::Torch;
  check(order->second == kChannelsLastOrder, ErrorKind::Input,
        "[msinet.import] {} has kernels in an unknown order; got '{}', expected {} or {}.", where,
        printable(order->second), kTorchOrder, kChannelsLastOrder);
  return KernelOrder::ChannelsLast;
}

FoundLayers read_safetensors_layers(const fs::path& path) {
  const io::SafetensorsFile file(path);
  std::vector<io::HostTensor> tensors;
  for (const auto& info : file.tensors()) {
    auto& tensor = tensors.emplace_back(io::HostTensor{info.name, info.dtype, info.shape, {}});
    tensor.bytes.resize(info.size());
    file.read(info, tensor.bytes);
  }
  auto found = sort_layers(tensors, kernel_order(file, path.string()), path.string());
  found.form += " in safetensors";
  const auto config = file.metadata().find(kConfigKey);
  if (config != file.metadata().end()) {
    found.config = parse_json(config->second, path.string() + " (its header)");
  }
  return found;
}

/// Training checkpoints nest the state dict under one of these keys, beside other tensors.
std::string state_prefix(std::span<const std::string> names) {
  for (const std::string under : {"model_state_dict/", "state_dict/", "model/"}) {
    const auto inside = [&](const std::string& name) { return name.starts_with(under); };
    if (std::any_of(names.begin(), names.end(), inside)) return under;
  }
  return {};
}

std::vector<std::string> names_of(const std::vector<io::TensorInfo>& tensors) {
  std::vector<std::string> names;
  for (const auto& tensor : tensors) names.push_back(tensor.name);
  return names;
}

/// Reads only the values of known layers: a VGG16's classifier is nine tenths of its file.
FoundLayers read_torch_layers(const fs::path& path) {
  const auto prefix = state_prefix(names_of(io::list_torch_file(path)));
  auto file = io::read_torch_file(path, [&](const std::string& name) {
    return name.starts_with(prefix) && is_layer_name(name.substr(prefix.size()));
  });
  std::erase_if(file.tensors,
                [&](const io::HostTensor& tensor) { return !tensor.name.starts_with(prefix); });
  for (auto& tensor : file.tensors) tensor.name.erase(0, prefix.size());
  auto found = sort_layers(file.tensors, KernelOrder::Torch, path.string());
  found.form += " in .pth";
  return found;
}

FoundLayers read_npz_layers(const fs::path& path) {
  auto found = sort_layers(io::read_npz(path), KernelOrder::TensorFlow, path.string());
  found.form += " in TensorFlow 1's names";
  return found;
}

/// Tensor names as the format's reader returns them; none for an unknown format.
std::vector<std::string> layer_names(const fs::path& path, WeightFormat format) {
  if (format == WeightFormat::Unknown) return {};
  auto names = names_of(io::list_tensors(path));
  if (format != WeightFormat::Torch) return names;
  const auto prefix = state_prefix(names);
  std::erase_if(names, [&](const std::string& name) { return !name.starts_with(prefix); });
  for (auto& name : names) name.erase(0, prefix.size());
  return names;
}

/// The file itself, or the graph of a SavedModel's folder.
fs::path weights_of(const fs::path& path) {
  const auto graph = path / "saved_model.pb";
  return fs::is_regular_file(graph) ? graph : path;
}

}  // namespace

bool looks_like_msinet(const fs::path& given) {
  if (holds_named_weights(given)) return true;
  const auto path = weights_of(given);
  if (!fs::is_regular_file(path)) return false;
  try {
    const auto format = format_of_file(path, read_start(path, io::kTellingBytes));
    if (format == WeightFormat::Hdf5) return looks_like_keras(io::Hdf5File(path));
    if (format == WeightFormat::TfGraph) return looks_like_graph(path);
    return are_layer_names(layer_names(path, format));
  } catch (const Error&) {  // unreadable, so not one
    return false;
  }
}

MsiNetFile load_any(const fs::path& given) {
  if (holds_named_weights(given)) return load_any(find_best(given, "", ""));
  const auto path = weights_of(given);
  check(fs::is_regular_file(path), ErrorKind::Input,
        "[msinet.import] {} is not a file; expected weights of an MSI-Net.", path.string());
  const auto start = read_start(path, io::kTellingBytes);
  switch (format_of_file(path, start)) {
    case WeightFormat::Hdf5:
      return assemble(read_keras(path), path);
    case WeightFormat::Safetensors:
      return assemble(read_safetensors_layers(path), path);
    case WeightFormat::Torch:
      return assemble(read_torch_layers(path), path);
    case WeightFormat::Npz:
      return assemble(read_npz_layers(path), path);
    case WeightFormat::TfGraph:
      return assemble(read_graph_layers(path), given);
    case WeightFormat::Unknown:
      break;
  }
  const auto what = io::looks_like(std::as_bytes(std::span(start)));
  fail(ErrorKind::Input,
       "[msinet.import] {} is not an MSI-Net; got {}, expected Keras's .h5, safetensors, a .npz of "
       "TensorFlow's variables, a frozen graph in .pb, or a VGG16 in .pth.",
       path.string(), what.empty() ? "a file of unknown kind" : what);
}

}  // namespace ubique::msinet
