// SPDX-License-Identifier: Apache-2.0
// The files of one checkpoint folder: model.safetensors, trainer.safetensors and checkpoint.json,
// the manifest with their lengths and digests. The manifest is written last, so a folder that has
// it is complete, and it carries a digest of itself.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "ubique/engine/checkpoint/checkpoint.h"

namespace ubique::engine {

inline constexpr const char* kManifestFile = "checkpoint.json";
inline constexpr const char* kModelFile = "model.safetensors";
inline constexpr const char* kTrainerFile = "trainer.safetensors";

struct ManifestFile {
  std::string name;
  std::uint64_t bytes = 0;
  std::string digest;
};

struct Manifest {
  std::string version;  ///< of the program that wrote it
  std::string family;
  std::int64_t epoch = 0, step = 0;
  std::vector<ManifestFile> files;

  const ManifestFile* find(const std::string& name) const;  ///< null if there is none
};

/// Input error if it is absent, damaged or of a newer format.
Manifest read_manifest(const std::filesystem::path& folder);

/// Fills an empty folder: the model, the trainer's state if there is any, the manifest last.
void write_checkpoint_files(const std::filesystem::path& folder, const Checkpoint& checkpoint);

/// Reads a complete folder; every file is checked against the manifest before any is used.
Checkpoint read_checkpoint_files(const std::filesystem::path& folder, bool with_trainer);

/// Reads a model file outside a checkpoint folder: there are no digests to check it against.
Checkpoint read_lone_model(const std::filesystem::path& file);

}  // namespace ubique::engine
