// SPDX-License-Identifier: Apache-2.0
// Checkpoint folders: model.safetensors with upstream's names and its own provenance in the header,
// trainer.safetensors with all that an exact resume needs. A folder appears complete or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ubique/base/text/json.h"
#include "ubique/engine/contract/batch.h"

namespace ubique::engine {

struct Checkpoint {
  std::string family;
  Json config;      ///< of the model: Family::build takes it
  Json provenance;  ///< parent, data hash, scores, plan, folds, ...: whatever is known
  std::int64_t epoch = 0, step = 0;
  Scores scores;
  NamedTensors model;    ///< the state dict
  NamedTensors trainer;  ///< optimizer moments, averaged weights, carry
  Json trainer_state;    ///< plain values: schedule, scaler, counters, data cursor; null = none
};

/// Writes FOLDER atomically: to a temporary name beside it, synced, renamed; an older folder of
/// that name is replaced and stays loadable until then (one named "last" is kept beside the new
/// one, as ".last.previous"). Tensors may be on any device. Input error, with what the disk has
/// free, if it cannot be written; then what was there before is untouched.
void save_checkpoint(const std::filesystem::path& folder, const Checkpoint& checkpoint);

/// Reads a folder (or its model.safetensors) to host tensors. Every byte is checked against the
/// digests written with it: Input error that says which file is damaged and what to do. (A model
/// file that was copied out of its folder has no digests beside it and is read as it is.)
/// `with_trainer` false skips trainer.safetensors.
Checkpoint load_checkpoint(const std::filesystem::path& folder, bool with_trainer = true);

/// Is this a checkpoint folder of ours (or its model.safetensors)?
bool is_checkpoint(const std::filesystem::path& path);

/// The newest checkpoint of a run folder that loads: checkpoints/last, else the previous good one
/// with a warning that names what is wrong with the newer. Nothing if there is none at all; Input
/// error if there are some and none is good.
std::optional<Checkpoint> load_last(const std::filesystem::path& run_folder);

}  // namespace ubique::engine
