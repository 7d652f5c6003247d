// SPDX-License-Identifier: Apache-2.0
// Files of a TensorFlow.js model: model.json and the weights beside it.
#include "ubique/io/graphs/tfjs.h"

#include <system_error>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/utf8.h"
#include "ubique/io/graphs/tfjs_topology.h"
#include "ubique/io/graphs/tfjs_weights.h"

namespace ubique::io {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTfjsDocument = "model.json";
constexpr const char* kTfjsWeights = "model.bin";
constexpr std::int64_t kMaxTfjsJson = 64LL << 20;

std::vector<std::byte> weight_file(const fs::path& path) {
  std::error_code ignored;
  check(fs::exists(path, ignored), ErrorKind::Input,
        "[io.tfjs] the weight file {} is missing; expected it beside model.json.", path.string());
  const MappedFile file(path);
  return {file.bytes().begin(), file.bytes().end()};
}

}  // namespace

const HostTensor* TfjsModel::find(std::string_view name) const {
  return find_tensor(weights, name);
}

TfjsModel parse_tfjs(std::string_view json, const std::string& name, const TfjsFiles& files) {
  TfjsModel model;
  model.document = parse_json(json, name);
  model.layers = tfjs_layers(model.document, name);
  model.weights = tfjs_weights(model.document, name, files);
  return model;
}

TfjsModel read_tfjs(const fs::path& path) {
  std::error_code ignored;
  const auto document = fs::is_directory(path, ignored) ? path / kTfjsDocument : path;
  const auto folder = document.parent_path();
  return parse_tfjs(read_file(document, kMaxTfjsJson), document.string(),
                    [&](const std::string& file) { return weight_file(folder / file); });
}

void write_tfjs(const fs::path& folder, const Json& document, std::span<const TfjsWeight> weights) {
  std::vector<HostTensor> tensors;
  for (const auto& weight : weights) {
    check(is_utf8(weight.tensor.name), ErrorKind::Internal,
          "[io.tfjs] a name is not UTF-8; got '{}'.", printable(weight.tensor.name));
    tensors.push_back(weight.tensor);
  }
  check_tensors(tensors, "io.tfjs");
  auto copy = document;
  copy["weightsManifest"] = tfjs_manifest(weights, kTfjsWeights);
  make_folder(folder);
  AtomicFile raw(folder / kTfjsWeights);
  for (const auto& tensor : tensors) raw.write(tfjs_raw_bytes(tensor));
  raw.commit();
  write_file(folder / kTfjsDocument, json_text(copy));
}

}  // namespace ubique::io
