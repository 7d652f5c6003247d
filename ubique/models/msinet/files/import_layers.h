// SPDX-License-Identifier: Apache-2.0
// Tensor names of every system turned into the layers of an MSI-Net. Knows no file format.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ubique/base/text/json.h"
#include "ubique/io/tensors/host_tensor.h"
#include "ubique/models/msinet/net/weights.h"

namespace ubique::msinet {

struct FoundLayer {
  at::Tensor weight, bias;  // (O, I, k, k), (O); f32
};

/// What a weight file holds, however it was spelt.
struct FoundLayers {
  std::map<std::string, FoundLayer> layers;  ///< by "conv1_conv1_1", "decoder_conv4"
  std::optional<Json> config;                ///< ours, where the file carries it
  Upsample upsample = Upsample::Legacy;      ///< of the system that made it
  Preprocessing preprocessing;
  std::string form;
};

/// Kernels are (O, I, k, k) in torch's files, (k, k, I, O) in TensorFlow's and Keras's, and
/// (O, k, k, I) in our own for channels last.
enum class KernelOrder { Torch, TensorFlow, ChannelsLast };

/// Sorts tensors under any of: conv1.conv1_1.weight, conv1/conv1_1/kernel, conv1_conv1_1/bias:0,
/// conv1_1/weights, block1_conv1/kernel, features.0.weight. What only training needs (Adam's slots)
/// and the classifier of a VGG16 are left out. Input error with names and shapes, naming `where`,
/// for others.
FoundLayers sort_layers(std::span<const io::HostTensor> tensors, KernelOrder order,
                        const std::string& where);
/// Could a tensor of such a file have that name? It is a layer's, not what goes along with them.
bool is_layer_name(const std::string& name);
/// Could these be all the names of such a file?
bool are_layer_names(std::span<const std::string> names);

/// The config (the file's own, else from the shapes) and the state dict. Input error if they do not
/// make a network that is known here.
MsiNetFile assemble(FoundLayers found, const std::filesystem::path& path);

/// Layers without names in the order that Keras numbers them in: the global branch of the ASPP
/// module comes before the others. Empty if no known network has that many.
std::vector<std::string> layers_by_depth(std::size_t count);

}  // namespace ubique::msinet
