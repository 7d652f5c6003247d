// SPDX-License-Identifier: Apache-2.0
// Any file that holds an MSI-Net, or a VGG16 to begin with.
#include <algorithm>
#include <fstream>

#include "ubique/io/magic.h"
#include "ubique/io/npz.h"
#include "ubique/io/safetensors.h"
#include "ubique/io/torch_file.h"
#include "ubique/models/msinet/import_keras.h"
#include "ubique/models/msinet/results.h"

namespace ubique::msinet {
namespace {

namespace fs = std::filesystem;

enum class WeightFormat { Unknown, Safetensors, Torch, Npz, Hdf5 };

std::string first_bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string start(512, '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(file.gcount()));
  return start;
}

WeightFormat format_of_file(const fs::path& path, const std::string& start) {
  const auto bytes = std::as_bytes(std::span(start));
  if (start.starts_with("\x89HDF\r\n\x1a\n")) return WeightFormat::Hdf5;
  if (io::starts_like_safetensors(bytes)) return WeightFormat::Safetensors;
  if (path.extension() == ".npz") return WeightFormat::Npz;
  return io::looks_like_torch_file(bytes) ? WeightFormat::Torch : WeightFormat::Unknown;
}

FoundLayers read_safetensors_layers(const fs::path& path) {
  const io::SafetensorsFile file(path);
  std::vector<io::HostTensor> tensors;
  for (const auto& info : file.tensors()) {
    auto& tensor = tensors.emplace_back(io::HostTensor{info.name, info.dtype, info.shape, {}});
    tensor.bytes.resize(info.size());
    file.read(info, tensor.bytes);
  }
  auto found = sort_layers(tensors, KernelOrder::Torch, path.string());
  found.form += " in safetensors";
  const auto config = file.metadata().find(kConfigKey);
  if (config != file.metadata().end()) {
    found.config = parse_json(config->second, path.string() + " (its header)");
  }
  return found;
}

FoundLayers read_torch_layers(const fs::path& path) {
  auto file = io::read_torch_file(path);
  for (auto& tensor : file.tensors) {  // a checkpoint nests its state dict
    const auto cut = tensor.name.rfind('/');
    if (cut != std::string::npos) tensor.name.erase(0, cut + 1);
  }
  auto found = sort_layers(file.tensors, KernelOrder::Torch, path.string());
  found.form += " in .pth";
  return found;
}

FoundLayers read_npz_layers(const fs::path& path) {
  auto found = sort_layers(io::read_npz(path), KernelOrder::TensorFlow, path.string());
  found.form += " in TensorFlow 1's names";
  return found;
}

}  // namespace

bool looks_like_msinet(const fs::path& path) {
  if (holds_named_weights(path)) return true;
  if (!fs::is_regular_file(path)) return false;
  try {
    switch (format_of_file(path, first_bytes(path))) {
      case WeightFormat::Hdf5:
        return looks_like_keras(io::Hdf5File(path));
      case WeightFormat::Safetensors: {
        const io::SafetensorsFile file(path);
        return std::all_of(file.tensors().begin(), file.tensors().end(),
                           [](const io::TensorInfo& info) { return is_layer_name(info.name); });
      }
      case WeightFormat::Npz:
      case WeightFormat::Torch:
        return true;
      case WeightFormat::Unknown:
        return false;
    }
  } catch (const Error&) {  // the question was whether it is one
  }
  return false;
}

MsiNetFile load_any(const fs::path& path) {
  if (holds_named_weights(path)) return load_any(find_best(path, "", ""));
  check(fs::is_regular_file(path), ErrorKind::Input,
        "[msinet.import] {} is no file; expected weights of an MSI-Net.", path.string());
  const auto start = first_bytes(path);
  switch (format_of_file(path, start)) {
    case WeightFormat::Hdf5:
      return assemble(read_keras(path), path);
    case WeightFormat::Safetensors:
      return assemble(read_safetensors_layers(path), path);
    case WeightFormat::Torch:
      return assemble(read_torch_layers(path), path);
    case WeightFormat::Npz:
      return assemble(read_npz_layers(path), path);
    case WeightFormat::Unknown:
      break;
  }
  const auto what = io::looks_like(std::as_bytes(std::span(start)));
  fail(ErrorKind::Input,
       "[msinet.import] {} is not an MSI-Net; got {}, expected Keras's .h5, safetensors, a .npz of "
       "TensorFlow's variables, or a VGG16 in .pth.",
       path.string(), what.empty() ? "a file of unknown kind" : what);
}

}  // namespace ubique::msinet
