// SPDX-License-Identifier: Apache-2.0
#include "ubique/engine/checkpoint/checkpoint_manifest.h"

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/files/digest.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"

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

/// The document with its own digest at the end: the text of the file.
std::string sealed_text(Json document) {
  const auto body = document.dump(2, ' ', false, Json::error_handler_t::replace);
  document[kDigestKey] = digest_of(body);
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
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

}  // namespace

const ManifestFile* Manifest::find(const std::string& name) const {
  const auto found = std::find_if(files.begin(), files.end(),
                                  [&](const ManifestFile& file) { return file.name == name; });
  return found == files.end() ? nullptr : &*found;
}

ManifestFile describe_file(const fs::path& path) {
  const MappedFile file(path);
  return {path.filename().string(), file.bytes().size(), digest_of(file.bytes())};
}

void write_manifest(const fs::path& folder, const Manifest& manifest) {
  write_file(folder / kManifestFile, sealed_text(to_document(manifest)));
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
    // Every byte counts: what the program would not write itself has been changed.
    check(sealed_text(document) == text, ErrorKind::Input,
          "[engine.checkpoint] {} is damaged; its digest does not fit its text.", path.string());
    return from_document(document);
  } catch (const Json::exception&) {
    fail(ErrorKind::Input, "[engine.checkpoint] {} is not what a checkpoint has; got other keys.",
         path.string());
  }
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

}  // namespace ubique::engine
