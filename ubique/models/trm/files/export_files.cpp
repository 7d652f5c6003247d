// SPDX-License-Identifier: Apache-2.0
// Weight files that the original system opens, each read back before it counts.
#include <ATen/ATen.h>

#include "ubique/base/files/file.h"
#include "ubique/base/text/text.h"
#include "ubique/engine/checkpoint/checkpoint.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/engine/checkpoint/tensor_bytes.h"
#include "ubique/engine/checkpoint/write_checked.h"
#include "ubique/io/tensors/safetensors_writer.h"
#include "ubique/io/torch/torch_file.h"
#include "ubique/models/trm/files/import_config.h"
#include "ubique/models/trm/files/weights.h"

namespace ubique::trm {
namespace {

namespace fs = std::filesystem;

/// Names and dtypes of the original's state dict: H_init and L_init are bf16 if no bit is lost.
engine::NamedTensors original_state(TrmModel& model, const std::string& prefix) {
  engine::NamedTensors tensors;
  for (const auto& [name, tensor] : engine::state_dict(model.network())) {
    auto value = engine::to_host(tensor.detach());
    if (name.ends_with("_init")) {
      const auto narrow = value.to(at::kBFloat16);
      if (narrow.to(value.scalar_type()).equal(value)) value = narrow;
    }
    tensors.emplace_back(prefix + name, value);
  }
  return tensors;
}

void write_safetensors_file(TrmModel& model, const engine::NamedTensors& tensors,
                            const fs::path& path) {
  std::vector<io::TensorData> data;
  for (const auto& [name, tensor] : tensors) {
    data.push_back(
        {name, engine::dtype_of(tensor), tensor.sizes().vec(), engine::bytes_of(tensor)});
  }
  io::write_safetensors(path, data,
                        {{"format", "pt"}, {kConfigKey, to_json(model.settings()).dump()}});
}

/// A folder has one all_config.yaml: an existing one must describe this network as well.
void check_beside(TrmModel& model, const fs::path& path) {
  Shapes shapes;
  for (const auto& [name, tensor] : engine::state_dict(model.network())) {
    shapes[name] = tensor.sizes().vec();
  }
  auto existing = imported_config(path, shapes);
  const auto& wanted = model.settings();
  if (existing.kind.empty()) {  // the original's file has no such key
    existing.kind = wanted.kind, existing.rows = wanted.rows, existing.cols = wanted.cols;
  }
  const auto differences = different_keys(existing, wanted);
  check(differences.empty(), ErrorKind::Usage,
        "[trm.export] {} describes another network; got {}. Write to another folder.",
        (path.parent_path() / kConfigFile).string(), join(differences, "; "));
}

void write_torch(TrmModel& model, const engine::NamedTensors& tensors, const fs::path& path) {
  std::vector<io::HostTensor> hosts;
  for (const auto& [name, tensor] : tensors) hosts.push_back(engine::host_tensor_of(name, tensor));
  const auto beside = path.parent_path() / kConfigFile;
  if (fs::exists(beside)) {
    check_beside(model, path);
  } else {
    write_file(beside, config_yaml(model.settings()));
  }
  io::write_torch_file(path, hosts);
}

void write_checkpoint(TrmModel& model, const fs::path& path) {
  engine::Checkpoint checkpoint;
  checkpoint.family = model.family();
  checkpoint.config = model.config();
  checkpoint.provenance = Json::object();
  checkpoint.model = engine::state_dict(model.network());
  engine::save_checkpoint(path, checkpoint);
}

void write_format(TrmModel& model, const std::string& format, const fs::path& path,
                  const std::string& prefix) {
  if (format == "checkpoint") return write_checkpoint(model, path);
  const auto tensors = original_state(model, prefix);
  format == "pt" ? write_torch(model, tensors, path) : write_safetensors_file(model, tensors, path);
}

engine::NamedTensors read_again(const fs::path& path) {
  if (engine::is_checkpoint(path)) return engine::load_checkpoint(path, false).model;
  return engine::state_dict(load_any(path)->network());
}

}  // namespace

void export_checked(TrmModel& model, const std::string& format, const fs::path& path,
                    const std::string& prefix) {
  const auto config_file = path.parent_path() / kConfigFile;
  const bool had_config = fs::exists(config_file);
  const auto write = [&] {
    write_format(model, format, path, prefix);
    engine::check_same_tensors(engine::state_dict(model.network()), read_again(path), "trm.export");
  };
  try {
    engine::write_checked(path, "trm.export", write);
  } catch (...) {
    std::error_code ignored;
    if (format == "pt" && !had_config) fs::remove(config_file, ignored);
    throw;
  }
}

}  // namespace ubique::trm
