// SPDX-License-Identifier: Apache-2.0
// A web page with models inside, for any static host. models/index.json lists the models, and each
// model's ubique.json lists its files.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/files/library.h"
#include "ubique/base/text/json.h"
#include "ubique/export/write.h"
#include "ubique/io/text/plain_name.h"

namespace ubique::exporting {
namespace {

namespace fs = std::filesystem;

constexpr const char* kManifest = "ubique.json";
constexpr const char* kCheckFile = "check.bin";

fs::path models_folder(const fs::path& page) { return page / "models"; }
fs::path index_file(const fs::path& page) { return models_folder(page) / "index.json"; }

/// The names of a page's models; none for any other folder.
std::vector<std::string> models_of(const fs::path& page) {
  const auto path = index_file(page);
  if (!fs::exists(path)) return {};
  const auto json = parse_json(read_file(path), path.string());
  try {
    return json.at("models").get<std::vector<std::string>>();
  } catch (const Json::exception&) {
    fail(ErrorKind::Input, "[export.web] {} is no list of models; expected one that we wrote.",
         path.string());
  }
}

void write_index(const fs::path& page, const std::vector<std::string>& models) {
  const Json json = {{"format", "ubique.web-models"}, {"version", 1}, {"models", models}};
  write_file(index_file(page), json.dump(1));
}

/// The model's input and output, with which the page checks its own results.
void write_check_file(const engine::GraphExport& model, const fs::path& path) {
  AtomicFile file(path);
  file.write(model.input.bytes);
  file.write(model.output.bytes);
  file.commit();
}

bool wants(const engine::GraphExport& model, const std::string& format) {
  const auto& formats = model.page.formats;
  return std::find(formats.begin(), formats.end(), format) != formats.end();
}

/// The family's manifest with the names of the files.
std::string manifest_of(const std::string& family_manifest, const engine::GraphExport& model,
                        DType weights) {
  auto json = parse_json(family_manifest, kManifest);
  json["name"] = model.graph.name;
  json["weights"] = weights == DType::F16 ? "f16" : "f32";
  const auto& shape = model.input.shape;
  json["check"] = {{"file", kCheckFile},
                   {"shape", std::vector<std::int64_t>(shape.begin() + 2, shape.end())}};
  json["files"] = Json::object();
  if (wants(model, "onnx")) json["files"]["onnx"] = "model.onnx";
  if (wants(model, "tfjs")) json["files"]["tfjs"] = "model.json";
  return json.dump(1);
}

/// The worse of two results.
CheckedFile worse_of(const CheckedFile& a, const CheckedFile& b) {
  auto worse = a;
  worse.difference = std::max(a.difference, b.difference);
  worse.agreement = std::min(a.agreement, b.agreement);
  if (b.agreement <= a.agreement) worse.classes = b.classes;
  if (b.map) worse.map = b.map;
  return worse;
}

CheckedFile write_page_model(const engine::GraphExport& model, DType weights,
                             const fs::path& folder) {
  engine::GraphExport bare = model;
  bare.sidecar_files = {};
  CheckedFile checked;
  if (wants(model, "tfjs")) checked = export_tfjs(bare, weights, folder);  // makes the folder
  make_folder(folder);
  if (wants(model, "onnx")) {
    checked = worse_of(checked, export_onnx(bare, {weights, false}, folder / "model.onnx"));
  }
  write_check_file(model, folder / kCheckFile);
  for (const auto& [name, content] : model.sidecar_files(model.graph.name)) {
    write_file(folder / name, name == kManifest ? manifest_of(content, model, weights) : content);
  }
  checked.bytes = size_of_files(folder);
  return checked;
}

/// Appears complete or not at all: written under another name first.
CheckedFile add_model(const engine::GraphExport& model, DType weights, const fs::path& page) {
  const auto& name = model.graph.name;
  const auto folder = models_folder(page) / name;
  const auto partial = models_folder(page) / (name + ".partial");
  fs::remove_all(partial);
  make_folder(models_folder(page));
  try {
    const auto checked = write_page_model(model, weights, partial);
    fs::rename(partial, folder);
    return checked;
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(partial, ignored);
    throw;
  }
}

void copy_page(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::copy(from, to, fs::copy_options::recursive, error);
  check(!error, ErrorKind::Input, "[export.web] the page cannot be copied to {}: {}.", to.string(),
        error.message());
}

}  // namespace

fs::path page_folder(const std::string& name) {
  std::vector<fs::path> places;
  if (const char* set = std::getenv("UBIQUE_WEB")) places.emplace_back(set);
  const auto library = library_folder();  // lib/ of an installed tree or of a build
  places.push_back(library.parent_path() / "share" / "ubique" / "web");
  places.push_back(library.parent_path().parent_path() / "web");  // build/cpu/lib, build/web
  for (const auto& place : places) {
    if (fs::is_regular_file(place / name / "index.html")) return place / name;
  }
  fail(ErrorKind::Usage,
       "[export.web] the page '{}' is not here; expected it in {}. `make web` in the source tree "
       "makes it; then install again, or set UBIQUE_WEB to the folder that has it.",
       name, places[places.size() - 2].string());
}

CheckedFile export_web(const engine::GraphExport& model, DType weights, const fs::path& page,
                       const fs::path& folder) {
  check(weights == DType::F32 || (weights == DType::F16 && !wants(model, "tfjs")), ErrorKind::Usage,
        "[export.web] the page '{}' cannot have such weights; expected {}.", model.page.name,
        wants(model, "tfjs") ? "--weights f32" : "--weights f32 or f16");
  check(io::is_plain_name(model.graph.name), ErrorKind::Usage,
        "[export.web] a model's name becomes a folder; got '{}', expected one without folders.",
        model.graph.name);
  const bool fresh = !fs::exists(folder);
  auto models = models_of(folder);
  check(fresh || !models.empty(), ErrorKind::Usage,
        "[export.web] {} exists and is not a page of ours; expected a new name.", folder.string());
  check(std::find(models.begin(), models.end(), model.graph.name) == models.end(), ErrorKind::Usage,
        "[export.web] {} has a model {} already; give this one another --name.", folder.string(),
        model.graph.name);
  try {
    if (fresh) copy_page(page, folder);
    const auto checked = add_model(model, weights, folder);
    models.push_back(model.graph.name);
    write_index(folder, models);
    return checked;
  } catch (...) {
    std::error_code ignored;
    if (fresh) fs::remove_all(folder, ignored);
    throw;
  }
}

}  // namespace ubique::exporting
