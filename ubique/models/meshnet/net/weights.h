// SPDX-License-Identifier: Apache-2.0
// A network's weights outside the module: as a state dict, and together with their configuration.
#pragma once

#include <string>

#include "ubique/engine/contract/batch.h"
#include "ubique/models/meshnet/net/config.h"

namespace ubique::meshnet {

class MeshNet;

/// A configuration and its state dict, on the host: what every file format is read into and
/// written from.
struct MeshNetFile {
  MeshNetConfig config;
  engine::NamedTensors tensors;  ///< f32 (counters i64), names and order of network.h
  std::string form;              ///< the format it was read from: "arc-meshchop .pt", ...
};

/// Every parameter and buffer in arc-meshchop's order, sharing memory with the network.
engine::NamedTensors state_of(const MeshNet& network);
/// Copies a state dict in, as engine::load_state does; a missing num_batches_tracked counts as 0.
void load_state(MeshNet& network, const engine::NamedTensors& state);

/// Input error unless these are the tensors that the configuration implies; kernels read by the
/// one what they sized by the other. num_batches_tracked may be missing.
void check_weights(const MeshNetConfig& config, const engine::NamedTensors& tensors,
                   const std::string& where);

/// W' = W·γ/√(σ²+ε), b' = β + (b−μ)·γ/√(σ²+ε), computed in double; the result's config has no norm
/// and has biases. A network without batch norms is returned unchanged.
MeshNetFile fold_batch_norm(const MeshNetFile& file);

}  // namespace ubique::meshnet
