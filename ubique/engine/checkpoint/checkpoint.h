// SPDX-License-Identifier: Apache-2.0
// Checkpoint folders: model.safetensors with the original system's tensor names and the provenance
// in its header, trainer.safetensors with everything that an exact resume needs. A folder appears
// complete or not at all.
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
  Json config;      ///< the model's, for Family::build
  Json provenance;  ///< parent, data hash, scores, plan, folds, ...: whatever is known
  std::int64_t epoch = 0, step = 0;
  Scores scores;
  NamedTensors model;    ///< the state dict
  NamedTensors trainer;  ///< optimizer moments, averaged weights, the model's persistent state
  Json trainer_state;    ///< plain values: schedule, scaler, counters, data cursor; null = none
};

/// Writes FOLDER atomically: to a temporary name beside it, synced, renamed. An older folder of
/// that name is replaced and stays loadable until then (one named "last" is kept as
/// ".last.previous"). Tensors may be on any device. Input error, with the free disk space, if it
/// cannot be written; an older folder is then untouched.
void save_checkpoint(const std::filesystem::path& folder, const Checkpoint& checkpoint);

/// Reads a folder (or its model.safetensors) to host tensors. Every byte is checked against the
/// digests written with it: Input error that says which file is damaged and what to do. (A model
/// file copied out of its folder has no digests beside it and is read unchecked.)
/// `with_trainer` false skips trainer.safetensors.
Checkpoint load_checkpoint(const std::filesystem::path& folder, bool with_trainer = true);

/// Is this a checkpoint folder that ubique wrote (or its model.safetensors)?
bool is_checkpoint(const std::filesystem::path& path);
/// The family that a checkpoint's header names; reads no tensors. Input error for a damaged header.
std::string family_of(const std::filesystem::path& checkpoint);

/// The newest loadable checkpoint of a run folder: checkpoints/last, else an earlier one with a
/// warning that says why the newer ones failed. Nothing if there are no checkpoints; Input error
/// if there are some and none loads.
std::optional<Checkpoint> load_last(const std::filesystem::path& run_folder);

}  // namespace ubique::engine
