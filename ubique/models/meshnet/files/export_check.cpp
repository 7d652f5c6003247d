// SPDX-License-Identifier: Apache-2.0
#include "ubique/models/meshnet/files/export_check.h"

#include "ubique/engine/checkpoint/checkpoint.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/engine/checkpoint/write_checked.h"
#include "ubique/models/meshnet/commands/commands.h"

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

/// Bit by bit, in whatever order a file keeps them; the first tensor that differs, or an empty
/// text.
std::string difference(const MeshNetFile& written, const MeshNetFile& read) {
  if (written.tensors.size() != read.tensors.size()) return "another number of tensors";
  for (const auto& [name, tensor] : written.tensors) {
    const auto other = engine::find_tensor(read.tensors, name);
    if (!other.defined() || tensor.sizes() != other.sizes() || !tensor.equal(other)) return name;
  }
  return {};
}

}  // namespace

void export_checked(const MeshNetFile& file, const std::string& format, const fs::path& path) {
  engine::write_checked(path, "meshnet.export", [&] {
    write_format(file, format, path);
    const auto differs = difference(file, open_file(path));
    check(differs.empty(), ErrorKind::Parity,
          "[meshnet.export] what was written is not what was read back; got other values in {}, "
          "expected the same bits. Nothing was kept.",
          differs);
  });
}

}  // namespace ubique::meshnet
