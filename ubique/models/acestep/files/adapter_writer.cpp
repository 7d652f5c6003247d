// SPDX-License-Identifier: Apache-2.0
// Both forms have the same matrices under different names.
#include "ubique/models/acestep/files/adapter_writer.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/engine/checkpoint/tensor_bytes.h"
#include "ubique/engine/checkpoint/write_checked.h"
#include "ubique/io/tensors/safetensors_writer.h"
#include "ubique/models/acestep/files/adapters/adapter_file.h"
#include "ubique/models/acestep/files/adapters/adapter_names.h"
#include "ubique/models/acestep/files/adapters/peft_config.h"

namespace ubique::acestep {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExport = "acestep.export";

void check_adapted(AcestepModel& model) {
  check(
      model.adapter() != nullptr, ErrorKind::Usage,
      "[acestep.export] this model has no adapter; expected a run without --full. --format merged "
      "writes whole models.");
}

/// The adapter's matrices in f32 on the host, B times `scale`.
engine::NamedTensors adapter_tensors(AcestepModel& model, double scale) {
  engine::NamedTensors tensors;
  for (const auto& [name, tensor] : engine::state_dict(*model.adapter())) {
    const auto values = tensor.detach().to(at::kFloat);
    const bool scaled = scale != 1 && name.ends_with(kNameOfB);
    tensors.emplace_back(name, engine::to_host(scaled ? values * scale : values));
  }
  return tensors;
}

void write_matrices(const fs::path& path, const engine::NamedTensors& tensors,
                    const std::string& prefix, const io::Metadata& metadata) {
  std::vector<io::TensorData> data;
  for (const auto& [name, tensor] : tensors) {
    data.push_back(
        {prefix + name, engine::dtype_of(tensor), tensor.sizes().vec(), engine::bytes_of(tensor)});
  }
  io::write_safetensors(path, data, metadata);
}

/// What a loader that knows our metadata takes.
io::Metadata metadata_of(const AdapterOptions& options) {
  return {{"format", "pt"},
          {"lora_rank", std::to_string(options.rank)},
          {"lora_alpha", fmt::format("{}", options.alpha)},
          {"use_rslora", options.rank_stabilized ? "true" : "false"}};
}

}  // namespace

void write_original_adapter(AcestepModel& model, const fs::path& path, bool raw) {
  check_adapted(model);
  auto options = model.adapter_options();
  const auto tensors = adapter_tensors(model, raw ? 1 : options.scale());
  if (!raw) {
    options.alpha = static_cast<double>(options.rank);
    options.rank_stabilized = false;
  }
  const bool is_file = path.extension() == ".safetensors";
  engine::write_checked(path, kExport, [&] {
    if (!is_file) make_folder(path);
    const auto file = is_file ? path : path / kOriginalWeights;
    write_matrices(file, tensors, "", metadata_of(options));
    engine::check_same_tensors(tensors, read_adapter(file).tensors, kExport);
  });
}

void write_peft_adapter(AcestepModel& model, const fs::path& folder) {
  check_adapted(model);
  const auto tensors = adapter_tensors(model, 1);
  engine::write_checked(folder, kExport, [&] {
    make_folder(folder);
    write_matrices(folder / kPeftWeights, tensors, kPeftNames, {{"format", "pt"}});
    const auto config = peft_config_json(model.adapter_options(), model.base().string());
    write_file(folder / kPeftConfig, json_text(config, 2) + "\n");
    engine::check_same_tensors(tensors, read_adapter(folder).tensors, kExport);
  });
}

}  // namespace ubique::acestep
