// SPDX-License-Identifier: Apache-2.0
// LoRA adapters on disk: the original's pytorch_lora_weights.safetensors, PEFT's folder, and our
// runs. The original's file does not say by how much its numbers are to be scaled, and loaders take
// 1; ours has alpha in its metadata, and numbers that are right with 1.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "ubique/engine/contract/batch.h"
#include "ubique/models/acestep/net/adapter.h"

namespace ubique::acestep {

struct AdapterFile {
  std::string source;                 ///< the file that its numbers came from
  AdapterOptions options;             ///< targets are whole names of layers
  bool alpha_known = false;           ///< else alpha is the rank: a scale of 1
  engine::NamedTensors tensors = {};  ///< "LAYER.lora_A.weight" (rank, in), "LAYER.lora_B.weight"
};

/// A file or folder of the original, a folder of PEFT, a run or checkpoint of ours. `alpha`
/// overrides what the file says or does not say. Input error for anything else, for tensors that
/// are no pairs, and for ranks that differ from layer to layer.
AdapterFile read_adapter(const std::filesystem::path& path, std::optional<double> alpha = {});
/// Is it an adapter of one of these forms? Looks only.
bool looks_like_adapter(const std::filesystem::path& path);

/// Puts the adapter on the transformer, beside others that it has, scaled by `weight`; 0 leaves it
/// as it is, to the bit. Layers that no pass reads are left out. Input error that names the layers
/// which the transformer lacks or has in other shapes.
std::unique_ptr<nn::LoraModule> attach_adapter(Dit& dit, const AdapterFile& file,
                                               double weight = 1);
/// Gives an adapter on a transformer the numbers of a file; both must have the same layers and
/// rank.
void load_adapter(nn::LoraModule& adapter, const AdapterFile& file);

}  // namespace ubique::acestep
