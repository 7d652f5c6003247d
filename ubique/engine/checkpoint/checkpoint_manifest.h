// SPDX-License-Identifier: Apache-2.0
// checkpoint.json: what files a checkpoint folder holds, how long they are and their digests. It is
// written last, so a folder that has it is complete, and it carries a digest of itself.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

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

/// The entry of a file that is there.
ManifestFile describe_file(const std::filesystem::path& path);

void write_manifest(const std::filesystem::path& folder, const Manifest& manifest);
/// Input error if it is absent, damaged or of a newer format.
Manifest read_manifest(const std::filesystem::path& folder);

/// Input error that says how FOLDER/NAME differs from what was written.
void verify_file(const std::filesystem::path& folder, const ManifestFile& file);

}  // namespace ubique::engine
