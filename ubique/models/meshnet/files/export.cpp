// SPDX-License-Identifier: Apache-2.0
// Writes safetensors, .pt and checkpoints, and reads them back.
#include "ubique/models/meshnet/files/export.h"

#include <ATen/ATen.h>

#include "ubique/engine/checkpoint/checkpoint.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/engine/checkpoint/tensor_bytes.h"
#include "ubique/engine/checkpoint/write_checked.h"
#include "ubique/io/tensors/safetensors_writer.h"
#include "ubique/io/torch/torch_file.h"
#include "ubique/models/meshnet/files/import.h"

namespace ubique::meshnet {
namespace {

namespace fs = std::filesystem;

void write_format(const MeshNetFile& file, const std::string& format, const fs::path& path) {
  if (format == "safetensors") return export_safetensors(file, path);
  if (format == "pt") return export_torch(file, path);
  engine::Checkpoint checkpoint;
  checkpoint.family = "meshnet";
  checkpoint.config = to_json(file.config);
  checkpoint.provenance = {{"converted_from", file.form}};
  checkpoint.model = file.tensors;
  engine::save_checkpoint(path, checkpoint);
}

engine::NamedTensors read_back(const std::string& format, const fs::path& path) {
  if (format == "checkpoint") return engine::load_checkpoint(path, /*with_trainer=*/false).model;
  return load_any(path).tensors;
}

}  // namespace

void export_safetensors(const MeshNetFile& file, const std::filesystem::path& path) {
  std::vector<at::Tensor> hosts;  // the bytes must outlive the call
  std::vector<io::TensorData> tensors;
  for (const auto& [name, tensor] : file.tensors) {
    hosts.push_back(engine::to_host(tensor));
    tensors.push_back(
        {name, engine::dtype_of(tensor), tensor.sizes().vec(), engine::bytes_of(hosts.back())});
  }
  io::write_safetensors(path, tensors,
                        {{"format", "pt"}, {kConfigKey, to_json(file.config).dump()}});
}

void export_torch(const MeshNetFile& file, const std::filesystem::path& path) {
  std::vector<io::HostTensor> tensors;
  for (const auto& [name, tensor] : file.tensors)
    tensors.push_back(engine::host_tensor_of(name, tensor));
  io::write_torch_file(path, tensors, "model_state_dict", {{kConfigKey, to_json(file.config)}});
}

void export_checked(const MeshNetFile& file, const std::string& format, const fs::path& path) {
  engine::write_checked(path, "meshnet.export", [&] {
    write_format(file, format, path);
    engine::check_same_tensors(file.tensors, read_back(format, path), "meshnet.export");
  });
}

}  // namespace ubique::meshnet
