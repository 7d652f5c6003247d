// SPDX-License-Identifier: Apache-2.0
// Tensor names of every supported system, mapped to the layers of an MSI-Net. Independent of file
// formats.
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

/// The layers of a weight file under uniform names.
struct FoundLayers {
  std::map<std::string, FoundLayer> layers;  ///< by "conv1_conv1_1", "decoder_conv4"
  std::optional<Json> config;                ///< our own, if the file has it
  Upsample upsample = Upsample::Legacy;      ///< of the system that wrote it
  Preprocessing preprocessing;
  std::string form;
};

/// Axes of kernels: (O, I, k, k) in torch files, (k, k, I, O) in TensorFlow and Keras files, and
/// (O, k, k, I) in our own channels-last files.
enum class KernelOrder { Torch, TensorFlow, ChannelsLast };

/// Sorts tensors under any of: conv1.conv1_1.weight, conv1/conv1_1/kernel, conv1_conv1_1/bias:0,
/// conv1_1/weights, block1_conv1/kernel, features.0.weight. Optimizer state and the classifier of a
/// VGG16 are skipped. Input error with names and shapes, naming `where`, for others.
FoundLayers sort_layers(std::span<const io::HostTensor> tensors, KernelOrder order,
                        const std::string& where);
/// Is it the name of a layer's kernel or bias? False for optimizer state and classifiers.
bool is_layer_name(const std::string& name);
/// Are these all names of such a file, at least one of them a layer's?
bool are_layer_names(std::span<const std::string> names);

/// Builds the config (the file's own, else inferred from the shapes) and the state dict. Input
/// error if the layers are not those of a known network.
MsiNetFile assemble(FoundLayers found, const std::filesystem::path& path);

/// Layer names in the order in which Keras numbers unnamed layers: the global branch of the ASPP
/// module comes before the others. Empty if no known network has `count` layers.
std::vector<std::string> names_in_keras_order(std::size_t count);

}  // namespace ubique::msinet
