// SPDX-License-Identifier: Apache-2.0
// The manifest with its digests, and the two safetensors files that it lists.
#include "ubique/engine/checkpoint/checkpoint_files.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>

#include "ubique/base/error.h"
#include "ubique/base/files/digest.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"
#include "ubique/engine/checkpoint/checkpoint_header.h"
#include "ubique/engine/checkpoint/tensor_bytes.h"
#include "ubique/io/tensors/safetensors_reader.h"
#include "ubique/io/tensors/safetensors_writer.h"

namespace ubique::engine {
namespace {

namespace fs = std::filesystem;

constexpr int kManifestVersion = 1;
constexpr const char* kDigestKey = "xxh64";
constexpr std::int64_t kMostManifestBytes = 1 << 20;

Json to_document(const Manifest& manifest) {
  auto document = json_document("checkpoint", kManifestVersion);
  document["version"] = manifest.version;
  document["family"] = manifest.family;
  document["epoch"] = manifest.epoch;
  document["step"] = manifest.step;
  document["files"] = Json::object();
  for (const auto& file : manifest.files) {
    document["files"][file.name] = {{"bytes", file.bytes}, {kDigestKey, file.digest}};
  }
  return document;
}

/// The text of the file: the document with its own digest added.
std::string sealed_text(Json document) {
  const auto body = json_text(document, 2);
  document[kDigestKey] = digest_of(body);
  return json_text(document, 2) + "\n";
}

Manifest from_document(const Json& document) {
  Manifest manifest;
  document.at("version").get_to(manifest.version);
  document.at("family").get_to(manifest.family);
  document.at("epoch").get_to(manifest.epoch);
  document.at("step").get_to(manifest.step);
  for (const auto& [name, file] : document.at("files").items()) {
    manifest.files.push_back(
        {name, file.at("bytes").get<std::uint64_t>(), file.at(kDigestKey).get<std::string>()});
  }
  return manifest;
}

ManifestFile describe_file(const fs::path& path) {
  const MappedFile file(path);
  return {path.filename().string(), file.bytes().size(), digest_of(file.bytes())};
}

void verify_file(const fs::path& folder, const ManifestFile& expected) {
  const auto path = folder / expected.name;
  const MappedFile file(path);
  check(file.bytes().size() == expected.bytes, ErrorKind::Input,
        "[engine.checkpoint] {} is damaged; got {} bytes, expected {}. Take another checkpoint of "
        "the run, or copy it again.",
        path.string(), file.bytes().size(), expected.bytes);
  const auto digest = digest_of(file.bytes());
  check(digest == expected.digest, ErrorKind::Input,
        "[engine.checkpoint] {} is damaged or was changed; got digest {}, expected {}. Take "
        "another checkpoint of the run, or copy it again.",
        path.string(), digest, expected.digest);
}

void write_manifest(const fs::path& folder, const Manifest& manifest) {
  write_file(folder / kManifestFile, sealed_text(to_document(manifest)));
}

/// Tensors are copied to the host one at a time, as they are written.
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

const ManifestFile* Manifest::find(const std::string& name) const {
  const auto found = std::find_if(files.begin(), files.end(),
                                  [&](const ManifestFile& file) { return file.name == name; });
  return found == files.end() ? nullptr : &*found;
}

Manifest read_manifest(const fs::path& folder) {
  const auto path = folder / kManifestFile;
  const auto text = read_file(path, kMostManifestBytes);
  try {
    auto document = parse_json(text, path.string());
    const int version = document.value("schema_version", 0);
    check(version <= kManifestVersion, ErrorKind::Input,
          "[engine.checkpoint] {} was written by a newer program; got format {}, expected {}. "
          "Update this program.",
          folder.string(), version, kManifestVersion);
    document.erase(kDigestKey);
    // Compared as text, not as values: any text that write_manifest would not write was changed.
    check(sealed_text(document) == text, ErrorKind::Input,
          "[engine.checkpoint] {} is damaged; its digest does not fit its text.", path.string());
    return from_document(document);
  } catch (const Json::exception&) {
    fail(ErrorKind::Input,
         "[engine.checkpoint] {} is not the manifest of a checkpoint; got other keys.",
         path.string());
  }
}

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
