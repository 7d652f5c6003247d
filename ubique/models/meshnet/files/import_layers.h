// SPDX-License-Identifier: Apache-2.0
// Tensor names of every MeshNet system turned into a list of layers. Knows no file format.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ubique/engine/checkpoint/tensor_bytes.h"
#include "ubique/io/tensors/host_tensor.h"
#include "ubique/models/meshnet/net/weights.h"

namespace ubique::meshnet {

/// One convolution with the norm behind it; undefined where the file has none.
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

/// Can a tensor of a MeshNet have that name?
bool is_layer_name(const std::string& name);

/// network.I.conv.weight, model.I.0.weight, model.I.bnorm.running_mean, model.2.weight, 2.weight
/// ... Input error naming `file` and what was found if they are no chain of 3D convolutions.
ImportedLayers sort_layers(std::span<const io::HostTensor> tensors, const std::string& file);

/// Channels, classes, kernel, norm and biases follow from the shapes; checks that they fit
/// together. Dilations are left empty, everything else at its default.
MeshNetConfig infer_config(const ImportedLayers& layers, const std::string& file);

/// The state dict of network.h for that config.
engine::NamedTensors arc_state(const ImportedLayers& layers, const MeshNetConfig& config);

}  // namespace ubique::meshnet
