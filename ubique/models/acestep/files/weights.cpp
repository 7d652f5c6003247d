// SPDX-License-Identifier: Apache-2.0
// Finds, checks, folds and copies tensors one at a time: never two copies of a network in memory.
#include "ubique/models/acestep/files/weights.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/ranges.h>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"
#include "ubique/engine/checkpoint/tensor_bytes.h"
#include "ubique/io/tensors/safetensors_reader.h"

namespace ubique::acestep {
namespace {

class WeightSource {
 public:
  explicit WeightSource(const std::filesystem::path& path) : file_(path) {}

  /// The tensor of that name, folded where it is stored in two; undefined if there is none.
  at::Tensor read(const std::string& name) {
    if (const auto* info = file_.find(name)) return read_stored(*info);
    const auto *v = file_.find(name + "_v"), *g = file_.find(name + "_g");
    if (v == nullptr || g == nullptr) return {};
    const auto direction = read_stored(*v), length = read_stored(*g);
    check(direction.dim() >= 1 && length.numel() == direction.size(0), ErrorKind::Input,
          "[acestep.weights] {}: {}_g has shape ({}), expected a length for each row of {}_v.",
          file_.name(), name, fmt::join(length.sizes(), ", "), name);
    return folded_weight(direction, length.view(-1));
  }

  /// Input error for a tensor that nobody has read and that is not in `ignored`.
  void finish(const std::set<std::string>& ignored) const {
    for (const auto& info : file_.tensors()) {
      check(
          used_.contains(info.name) || ignored.contains(info.name), ErrorKind::Input,
          "[acestep.weights] {}: the tensor {} belongs to no part of the network that config.json "
          "describes.",
          file_.name(), printable(info.name));
    }
  }

  const std::string& name() const { return file_.name(); }

 private:
  at::Tensor read_stored(const io::TensorInfo& info) {
    auto tensor = at::empty(info.shape, engine::scalar_type_of(info.dtype));
    file_.read(info, engine::writable_bytes_of(tensor));
    used_.insert(info.name);
    return tensor;
  }

  io::SafetensorsFile file_;
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
    const auto stored = source.read(item.key());
    const auto expected = item.value().sizes();
    check(stored.defined(), ErrorKind::Input,
          "[acestep.weights] {}: the tensor {} is missing; expected it of shape ({}), as "
          "config.json says.",
          source.name(), item.key(), fmt::join(expected, ", "));
    check(stored.sizes() == expected, ErrorKind::Input,
          "[acestep.weights] {}: the tensor {} has shape ({}), expected ({}), as config.json says.",
          source.name(), item.key(), fmt::join(stored.sizes(), ", "), fmt::join(expected, ", "));
    item.value().copy_(stored);
  }
  source.finish(ignored);
}

}  // namespace ubique::acestep
