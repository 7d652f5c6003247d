// SPDX-License-Identifier: Apache-2.0
// Weight files under upstream's names.
#include <ATen/ATen.h>

#include "ubique/engine/checkpoint/tensor_bytes.h"
#include "ubique/io/tensors/safetensors_writer.h"
#include "ubique/io/torch/torch_file.h"
#include "ubique/models/meshnet/files/export_names.h"
#include "ubique/models/meshnet/files/import_layers.h"

namespace ubique::meshnet {

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
  for (const auto& [name, tensor] : file.tensors) tensors.push_back(host_tensor_of(name, tensor));
  io::write_torch_file(path, tensors, "model_state_dict", {{kConfigKey, to_json(file.config)}});
}

}  // namespace ubique::meshnet
