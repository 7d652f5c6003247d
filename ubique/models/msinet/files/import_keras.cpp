// SPDX-License-Identifier: Apache-2.0
// Paths of tensors in Keras files, mapped to layer names.
#include "ubique/models/msinet/files/import_keras.h"

#include <algorithm>
#include <charconv>

#include "ubique/base/text/json.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"

namespace ubique::msinet {
namespace {

constexpr std::string_view kUnnamed = "conv2d";

std::string parent_of(const std::string& path) {
  const auto cut = path.rfind('/');
  return cut == std::string::npos ? std::string() : path.substr(0, cut);
}

std::string last_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool is_training_state(const std::string& path) {
  return path.starts_with("optimizer") || path.starts_with("seed_generator");
}

/// The number in an automatic layer name of Keras: conv2d is 0, conv2d_7 is 7.
std::optional<int> number_of(const std::string& layer) {
  if (layer == kUnnamed) return 0;
  if (!layer.starts_with(kUnnamed) || layer.size() < kUnnamed.size() + 2) return std::nullopt;
  int number = 0;
  const auto* begin = layer.data() + kUnnamed.size() + 1;
  const auto* end = layer.data() + layer.size();
  const auto result = std::from_chars(begin, end, number);
  if (layer[kUnnamed.size()] != '_' || result.ec != std::errc() || result.ptr != end) {
    return std::nullopt;
  }
  return number;
}

/// "LAYER/kernel" or "LAYER/bias" for a tensor of any layout; empty for other tensors.
std::string plain_name(const io::Hdf5File& file, const std::string& path) {
  const auto field = last_of(path), group = parent_of(path);
  if (last_of(group) == "vars") {  // Keras 3: .../LAYER/vars/0
    if (field != "0" && field != "1") return {};
    const auto named = file.texts(group, "name");
    const auto layer = named.size() == 1 ? named.front() : last_of(parent_of(group));
    return layer + (field == "0" ? "/kernel" : "/bias");
  }
  const auto layer = last_of(group);  // Keras 2: LAYER/LAYER/kernel:0
  if (field.starts_with("kernel") || field.starts_with(layer + "_W")) return layer + "/kernel";
  if (field.starts_with("bias") || field.starts_with(layer + "_b")) return layer + "/bias";
  return {};
}

/// Renames layers that only have numbers, by their order.
void name_by_number(std::vector<io::HostTensor>& tensors, const std::string& where) {
  std::vector<int> numbers;
  for (const auto& tensor : tensors) {
    const auto number = number_of(parent_of(tensor.name));
    if (number && tensor.name.ends_with("/kernel")) numbers.push_back(*number);
  }
  if (numbers.empty()) return;
  std::sort(numbers.begin(), numbers.end());
  const auto names = names_in_keras_order(numbers.size());
  check(!names.empty(), ErrorKind::Input,
        "[msinet.import] {} is not an MSI-Net; got {} convolutions without names, the first of "
        "shape {}, expected 23 or, of the small network, 17.",
        where, numbers.size(), io::shape_text(tensors.front().shape));
  for (auto& tensor : tensors) {
    const auto number = number_of(parent_of(tensor.name));
    if (!number) continue;
    const auto position = std::lower_bound(numbers.begin(), numbers.end(), *number);
    if (position == numbers.end() || *position != *number) continue;  // no kernel: refused later
    tensor.name =
        names[static_cast<std::size_t>(position - numbers.begin())] + "/" + last_of(tensor.name);
  }
}

}  // namespace

FoundLayers read_keras(const std::filesystem::path& path) {
  const io::Hdf5File file(path);
  const auto where = path.string();
  std::vector<io::HostTensor> tensors;
  for (const auto& info : file.tensors()) {
    if (is_training_state(info.name)) continue;
    const auto name = plain_name(file, info.name);
    check(!name.empty(), ErrorKind::Input,
          "[msinet.import] {} is not an MSI-Net; got {} tensors, among them '{}' {}, expected "
          "kernels and biases of convolutions.",
          where, file.tensors().size(), printable(info.name), io::shape_text(info.shape));
    tensors.push_back(file.read(info));
    tensors.back().name = name;
  }
  check(!tensors.empty(), ErrorKind::Input,
        "[msinet.import] {} holds no tensors; expected the weights of an MSI-Net.", where);
  name_by_number(tensors, where);
  auto found = sort_layers(tensors, KernelOrder::TensorFlow, where);
  if (found.preprocessing.variant == "msinet") found.upsample = Upsample::HalfPixel;
  found.form += path.string().ends_with(".weights.h5") ? " in Keras .weights.h5" : " in Keras .h5";
  const auto config = file.texts("", kConfigKey);
  if (config.size() == 1) found.config = parse_json(config.front(), where + " (its attribute)");
  return found;
}

bool looks_like_keras(const io::Hdf5File& file) {
  return std::any_of(file.tensors().begin(), file.tensors().end(), [&](const io::TensorInfo& info) {
    const auto name = plain_name(file, info.name);
    return !name.empty() && (number_of(parent_of(name)) || is_layer_name(name));
  });
}

}  // namespace ubique::msinet
