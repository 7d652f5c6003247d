// SPDX-License-Identifier: Apache-2.0
// Sorts tensors named by any MeshNet system into a list of layers. Knows no file format.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ubique/engine/checkpoint/tensor_bytes.h"
#include "ubique/io/tensors/host_tensor.h"
#include "ubique/models/meshnet/net/weights.h"

namespace ubique::meshnet {

/// One convolution and its norm; tensors that the file lacks are undefined.
struct ImportedLayer {
  at::Tensor weight, bias;  // (O, I, k, k, k), (O)
  at::Tensor norm_weight, norm_bias, running_mean, running_var, batches;
};

struct ImportedLayers {
  std::vector<ImportedLayer> layers;  ///< the classifier last
  std::string naming;                 ///< "arc-meshchop", "enMesh", "notebook", "flat"
};

at::Tensor tensor_of(const io::HostTensor& tensor);  ///< f32 for floats, else as it is
using engine::host_tensor_of;

/// True if a tensor of a MeshNet can have that name.
bool is_layer_name(const std::string& name);

/// network.I.conv.weight, model.I.0.weight, model.I.bnorm.running_mean, model.2.weight, 2.weight
/// ... Input error naming `file` and what was found if they are not a chain of 3D convolutions.
ImportedLayers sort_layers(std::span<const io::HostTensor> tensors, const std::string& file);

/// Infers channels, classes, kernel, norm and biases from the shapes, and checks that they are
/// consistent. Dilations are left empty, everything else at its default.
MeshNetConfig infer_config(const ImportedLayers& layers, const std::string& file);

/// The state dict of network.h for that config.
engine::NamedTensors arc_state(const ImportedLayers& layers, const MeshNetConfig& config);

}  // namespace ubique::meshnet
