// SPDX-License-Identifier: Apache-2.0
// Finds, checks, folds and copies tensors one at a time: never two copies of a network in memory.
#include "ubique/models/acestep/files/weights.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <memory>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"
#include "ubique/engine/checkpoint/tensor_bytes.h"
#include "ubique/io/tensors/safetensors_reader.h"

namespace ubique::acestep {
namespace {

class WeightSource {
 public:
  explicit WeightSource(const std::filesystem::path& path)
      : file_(std::make_shared<const io::SafetensorsFile>(path)) {}

  /// The tensor of that name. Input error if it is missing or has another shape.
  at::Tensor read_checked(const std::string& name, at::IntArrayRef expected) {
    const auto stored = read(name);
    check(stored.defined(), ErrorKind::Input,
          "[acestep.weights] {}: the tensor {} is missing; expected it of shape ({}), as "
          "config.json says.",
          file_->name(), name, fmt::join(expected, ", "));
    check(stored.sizes() == expected, ErrorKind::Input,
          "[acestep.weights] {}: the tensor {} has shape ({}), expected ({}), as config.json says.",
          file_->name(), name, fmt::join(stored.sizes(), ", "), fmt::join(expected, ", "));
    return stored;
  }

  /// The same in the file's pages, which the tensor keeps mapped; a copy if they are not aligned.
  at::Tensor map_checked(const std::string& name, at::IntArrayRef expected) {
    const auto* info = file_->find(name);
    const auto fits = info != nullptr && at::IntArrayRef(info->shape) == expected;
    if (!fits) return read_checked(name, expected);
    const auto bytes = file_->bytes(*info);
    const auto type = engine::scalar_type_of(info->dtype);
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % c10::elementSize(type) != 0) {
      return read_checked(name, expected);
    }
    used_.insert(name);
    // at::from_blob wants a pointer to what may be written; this is only read.
    auto* data = const_cast<std::byte*>(bytes.data());
    return at::from_blob(
        data, info->shape, [file = file_](void*) {}, at::TensorOptions(type));
  }

  /// The tensor of that name, folded where it is stored in two; undefined if there is none.
  at::Tensor read(const std::string& name) {
    if (const auto* info = file_->find(name)) return read_stored(*info);
    const auto *v = file_->find(name + "_v"), *g = file_->find(name + "_g");
    if (v == nullptr || g == nullptr) return {};
    const auto direction = read_stored(*v), length = read_stored(*g);
    check(direction.dim() >= 1 && length.numel() == direction.size(0), ErrorKind::Input,
          "[acestep.weights] {}: {}_g has shape ({}), expected a length for each row of {}_v.",
          file_->name(), name, fmt::join(length.sizes(), ", "), name);
    return folded_weight(direction, length.view(-1));
  }

  /// Input error for a tensor that nobody has read and that is not in `ignored`.
  void finish(const std::set<std::string>& ignored) const {
    for (const auto& info : file_->tensors()) {
      check(
          used_.contains(info.name) || ignored.contains(info.name), ErrorKind::Input,
          "[acestep.weights] {}: the tensor {} belongs to no part of the network that config.json "
          "describes.",
          file_->name(), printable(info.name));
    }
  }

 private:
  at::Tensor read_stored(const io::TensorInfo& info) {
    auto tensor = at::empty(info.shape, engine::scalar_type_of(info.dtype));
    file_->read(info, engine::writable_bytes_of(tensor));
    used_.insert(info.name);
    return tensor;
  }

  std::shared_ptr<const io::SafetensorsFile> file_;
  std::set<std::string> used_;
};

}  // namespace

at::Tensor folded_weight(const at::Tensor& v, const at::Tensor& g) {
  const auto direction = v.to(at::kFloat);
  const auto length = direction.flatten(1).norm(2, 1);  // (rows)
  std::vector<std::int64_t> shape(static_cast<std::size_t>(v.dim()), 1);
  shape[0] = v.size(0);
  return direction * (g.to(at::kFloat).reshape({-1}) / length).view(shape);
}

std::set<std::string> names_of(const nn::NamedShapes& shapes) {
  std::set<std::string> names;
  for (const auto& [name, shape] : shapes) names.insert(name);
  return names;
}

void read_weights(nn::Network& network, const std::filesystem::path& path,
                  const std::set<std::string>& ignored) {
  const at::NoGradGuard no_gradients;
  WeightSource source(path);
  for (auto& item : network.named_parameters()) {
    item.value().copy_(source.read_checked(item.key(), item.value().sizes()));
  }
  source.finish(ignored);
}

void load_weights(nn::Network& network, const std::filesystem::path& path,
                  const LoadOptions& options) {
  const at::NoGradGuard no_gradients;
  WeightSource source(path);
  const auto kept = at::TensorOptions(options.dtype).device(options.device);
  for (auto& item : network.named_parameters()) {
    const auto& name = item.key();
    auto& parameter = item.value();
    const auto shape = parameter.sizes().vec();
    if (options.mapped.contains(name)) {
      parameter.set_data(source.map_checked(name, shape));
      continue;
    }
    const auto stored = source.read_checked(name, shape);
    const auto layer = options.quantized.find(name);
    if (layer == options.quantized.end()) {
      parameter.set_data(stored.to(kept));
      continue;
    }
    parameter.set_data(stored);
    nn::quantize(*layer->second, options.format);
    nn::move_quantized(*layer->second, options.device);
    parameter.set_data(at::empty({0}, kept));
  }
  source.finish(options.ignored);
}

}  // namespace ubique::acestep
