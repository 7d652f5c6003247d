// SPDX-License-Identifier: Apache-2.0
// Finds the layers among the constants of a graph and of its functions.
#include "ubique/models/msinet/files/import_graph.h"

#include <algorithm>
#include <map>

#include "ubique/io/graphs/tf_graph.h"
#include "ubique/io/tensor_list.h"

namespace ubique::msinet {
namespace {

/// The part of a constant's name that is a layer name: scopes and functions add prefixes.
std::optional<std::string> layer_part(const std::string& name) {
  for (std::size_t start = 0; start != std::string::npos;) {
    auto part = name.substr(start);
    if (is_layer_name(part)) return part;
    const auto slash = name.find('/', start);
    start = slash == std::string::npos ? slash : slash + 1;
  }
  return std::nullopt;
}

bool has_half_pixels(const io::TfGraph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const io::TfNode& node) {
    const auto found = node.switches.find("half_pixel_centers");
    return node.op == "ResizeBilinear" && found != node.switches.end() && found->second;
  });
}

/// Two functions may hold equal copies of one constant; the copy is dropped.
std::vector<io::HostTensor> layers_in(io::TfGraph& graph) {
  std::vector<io::HostTensor> tensors;
  for (auto& constant : graph.constants) {
    const auto name = layer_part(constant.name);
    if (!name) continue;
    constant.name = *name;
    const auto* other = io::find_tensor(tensors, *name);
    if (other != nullptr && other->shape == constant.shape && other->bytes == constant.bytes) {
      continue;
    }
    tensors.push_back(std::move(constant));
  }
  return tensors;
}

}  // namespace

FoundLayers read_graph_layers(const std::filesystem::path& path) {
  auto graph =
      io::read_tf_graph(path, [](const std::string& name) { return layer_part(name).has_value(); });
  const auto tensors = layers_in(graph);
  check(!tensors.empty(), ErrorKind::Input,
        "[msinet.import] {} is not an MSI-Net; got {}, expected constants under names like "
        "conv1/conv1_1/kernel [3, 3, 3, 64]. A SavedModel that keeps its weights in variables/ has "
        "to be frozen first.",
        path.string(), io::contents_text(path));
  auto found = sort_layers(tensors, KernelOrder::TensorFlow, path.string());
  if (has_half_pixels(graph)) found.upsample = Upsample::HalfPixel;
  found.form += " in a frozen TensorFlow graph";
  return found;
}

bool looks_like_graph(const std::filesystem::path& path) {
  const auto constants = io::list_tensors(path);
  return std::any_of(constants.begin(), constants.end(), [](const io::TensorInfo& constant) {
    return layer_part(constant.name).has_value();
  });
}

}  // namespace ubique::msinet
