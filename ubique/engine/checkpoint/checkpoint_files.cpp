// SPDX-License-Identifier: Apache-2.0
#include "ubique/engine/checkpoint/checkpoint_files.h"

#include <ATen/ATen.h>

#include <utility>

#include "ubique/base/error.h"
#include "ubique/engine/checkpoint/checkpoint_header.h"
#include "ubique/engine/checkpoint/checkpoint_manifest.h"
#include "ubique/engine/checkpoint/tensor_bytes.h"
#include "ubique/io/tensors/safetensors_reader.h"
#include "ubique/io/tensors/safetensors_writer.h"

namespace ubique::engine {
namespace {

namespace fs = std::filesystem;

/// Tensors come to the host one at a time, while they are written.
ManifestFile write_tensors(const fs::path& path, const NamedTensors& tensors,
                           const io::Metadata& metadata) {
  std::vector<io::TensorData> data;
  data.reserve(tensors.size());
  for (const auto& [name, tensor] : tensors) {
    io::TensorData entry{name, dtype_of(tensor), tensor.sizes().vec(), {}};
    entry.stream = [&tensor = tensor](const io::ByteSink& sink) {
      const auto host = to_host(tensor);
      sink(bytes_of(host));
    };
    data.push_back(std::move(entry));
  }
  io::write_safetensors(path, data, metadata);
  return describe_file(path);
}

NamedTensors read_tensors(const io::SafetensorsFile& file) {
  NamedTensors tensors;
  for (const auto& info : file.tensors()) {
    auto tensor = at::empty(info.shape, scalar_type_of(info.dtype));
    file.read(info, writable_bytes_of(tensor));
    tensors.emplace_back(info.name, std::move(tensor));
  }
  return tensors;
}

void read_model(const io::SafetensorsFile& file, Checkpoint& out) {
  read_model_metadata(file.metadata(), file.name(), out);
  out.model = read_tensors(file);
}

}  // namespace

void write_checkpoint_files(const fs::path& folder, const Checkpoint& checkpoint) {
  Manifest manifest{program_version(), checkpoint.family, checkpoint.epoch, checkpoint.step, {}};
  manifest.files.push_back(
      write_tensors(folder / kModelFile, checkpoint.model, model_metadata(checkpoint)));
  if (!checkpoint.trainer.empty() || !checkpoint.trainer_state.is_null()) {
    manifest.files.push_back(
        write_tensors(folder / kTrainerFile, checkpoint.trainer, trainer_metadata(checkpoint)));
  }
  write_manifest(folder, manifest);
}

Checkpoint read_checkpoint_files(const fs::path& folder, bool with_trainer) {
  const auto manifest = read_manifest(folder);
  const auto* model = manifest.find(kModelFile);
  const auto* trainer = with_trainer ? manifest.find(kTrainerFile) : nullptr;
  check(model != nullptr, ErrorKind::Input,
        "[engine.checkpoint] {} lists no {}; expected one in every checkpoint.",
        (folder / kManifestFile).string(), kModelFile);
  verify_file(folder, *model);
  if (trainer != nullptr) verify_file(folder, *trainer);
  Checkpoint checkpoint;
  read_model(io::SafetensorsFile(folder / kModelFile), checkpoint);
  if (trainer != nullptr) {
    const io::SafetensorsFile file(folder / kTrainerFile);
    read_trainer_metadata(file.metadata(), file.name(), checkpoint);
    checkpoint.trainer = read_tensors(file);
  }
  return checkpoint;
}

Checkpoint read_lone_model(const fs::path& path) {
  Checkpoint checkpoint;
  read_model(io::SafetensorsFile(path), checkpoint);
  return checkpoint;
}

}  // namespace ubique::engine
