// SPDX-License-Identifier: Apache-2.0
#include "ubique/models/meshnet/export_check.h"

#include "ubique/base/log.h"
#include "ubique/models/meshnet/commands.h"
#include "ubique/models/meshnet/import_recipe.h"

namespace ubique::meshnet {
namespace {

namespace fs = std::filesystem;

void write_format(const MeshNetFile& file, const std::string& format, const fs::path& path) {
  if (format == "safetensors") return export_safetensors(file, path);
  if (format == "pt") return export_torch(file, path);
  if (format == "brainchop") return export_brainchop(file, path);
  engine::Checkpoint checkpoint;
  checkpoint.family = "meshnet";
  checkpoint.config = to_json(file.config);
  checkpoint.story = {{"converted_from", file.form}};
  checkpoint.model = file.tensors;
  engine::save_checkpoint(path, checkpoint);
}

/// BrainChop shows every network the same kind of volume; its files cannot ask for another.
void warn_of_conforming(const MeshNetConfig& config) {
  const auto own = brainchop_preprocessing(config);
  const auto& how = config.preprocessing;
  if (how.conform == own.conform && how.shape == own.shape && how.spacing == own.spacing) return;
  log::warn(
      "[meshnet.export] BrainChop will not prepare scans as this network learned them; got {} {}x{}"
      "x{} at {:g} mm, expected {} {}x{}x{} at {:g} mm. Its labels there will be poor: train with "
      "--resample-method brainchop for the browser.",
      how.conform, how.shape[0], how.shape[1], how.shape[2], how.spacing, own.conform, own.shape[0],
      own.shape[1], own.shape[2], own.spacing);
}

/// Bit by bit; the first tensor that differs, or an empty text.
std::string difference(const MeshNetFile& written, const MeshNetFile& read) {
  if (written.tensors.size() != read.tensors.size()) return "another number of tensors";
  for (std::size_t i = 0; i < written.tensors.size(); ++i) {
    const auto& [name, tensor] = written.tensors[i];
    const auto& [other_name, other] = read.tensors[i];
    if (name != other_name || tensor.sizes() != other.sizes() || !tensor.equal(other)) return name;
  }
  return {};
}

}  // namespace

void export_checked(const MeshNetFile& file, const std::string& format, const fs::path& path) {
  check(!fs::exists(path), ErrorKind::Usage,
        "[meshnet.export] {} exists already; expected a new name.", path.string());
  if (format == "brainchop") warn_of_conforming(file.config);
  const auto& expected = format == "brainchop" ? fold_batch_norm(file) : file;
  try {
    write_format(file, format, path);
  } catch (const Error&) {
    std::error_code ignored;
    fs::remove_all(path, ignored);  // a folder with some of its files
    throw;
  }
  const auto differs = difference(expected, open_file(path));
  if (differs.empty()) return;
  fs::remove_all(path);
  fail(ErrorKind::Parity,
       "[meshnet.export] what was written is not what was read back; got other values in {}, "
       "expected the same bits. Nothing was kept.",
       differs);
}

}  // namespace ubique::meshnet
