// SPDX-License-Identifier: Apache-2.0
// Pages with models inside; web/tests runs them in a browser.
#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "tests/export/samples.h"
#include "ubique/base/files/file.h"
#include "ubique/export/write.h"
#include "ubique/models/meshnet/files/graph.h"
#include "ubique/models/meshnet/files/import.h"
#include "ubique/models/meshnet/files/sidecar_files.h"

using namespace ubique;
namespace fs = std::filesystem;
using test::refusal_of;

namespace {

/// The files of a built page that the exporter uses.
void make_page(const fs::path& folder) {
  make_folder(folder / "assets");
  write_file(folder / "index.html", "<p>page</p>");
  write_file(folder / "assets" / "a.js", "1");
}

engine::GraphExport web_model(const std::string& name) {
  const auto config = test::small_config(meshnet::Activation::Relu, meshnet::Norm::Batch);
  meshnet::MeshNetModel model(test::random_file(config));
  auto exported = meshnet::graph_export(model, {});
  exported.sidecar_files = [config](const std::string&) {
    return meshnet::web_sidecar_files(config);
  };
  exported.page = {"segment", {"onnx", "tfjs"}};
  exported.graph.name = name;
  return exported;
}

}  // namespace

TEST_CASE("web export: the page, the model in two formats and numbers to check them with") {
  const test::ScratchFolder folder;
  make_page(folder / "page");
  const auto model = web_model("tissue");
  const auto checked = exporting::export_web(model, DType::F32, folder / "page", folder / "out");
  CHECK(checked.difference < 1e-5);
  CHECK(fs::exists(folder / "out/assets/a.js"));
  const auto place = folder / "out/models/tissue";
  const auto manifest = parse_json(read_file(place / "ubique.json"), "ubique.json");
  CHECK(manifest["name"] == "tissue");
  CHECK(manifest["classes"] == 3);
  CHECK(manifest["layers"].size() == 4);
  CHECK(manifest["receptive_field"] == 13);
  CHECK(manifest["labels"].size() == 3);
  CHECK(manifest["check"]["shape"] == Json::parse("[17,18,37]"));
  CHECK(fs::file_size(place / "check.bin") == 17 * 18 * 37 * 4 * 4);
  CHECK(fs::exists(place / "model.onnx"));
  CHECK(fs::exists(place / "model.json"));
  CHECK(test::same_weights(meshnet::load_any(place / "model.onnx"), meshnet::load_any(place)));
}

TEST_CASE("web export: a second model is added, one of the same name is refused") {
  const test::ScratchFolder folder;
  make_page(folder / "page");
  exporting::export_web(web_model("one"), DType::F32, folder / "page", folder / "out");
  exporting::export_web(web_model("two"), DType::F32, folder / "page", folder / "out");
  const auto index = parse_json(read_file(folder / "out/models/index.json"), "index.json");
  CHECK(index["models"] == Json::parse(R"(["one","two"])"));
  CHECK(test::contains(refusal_of(ErrorKind::Usage,
                                  [&] {
                                    exporting::export_web(web_model("two"), DType::F32,
                                                          folder / "page", folder / "out");
                                  }),
                       "--name"));
}

TEST_CASE("web export: a name that leads outside the page is refused") {
  const test::ScratchFolder folder;
  make_page(folder / "page");
  for (const std::string name : {"../x", "a/b", "..", ""}) {
    CAPTURE(name);
    CHECK(test::contains(refusal_of(ErrorKind::Usage,
                                    [&] {
                                      exporting::export_web(web_model(name), DType::F32,
                                                            folder / "page", folder / "out");
                                    }),
                         "without folders"));
  }
  CHECK_FALSE(fs::exists(folder / "out"));
}

TEST_CASE("web export: other folders are left alone, and a failed export leaves nothing") {
  const test::ScratchFolder folder;
  make_page(folder / "page");
  make_folder(folder / "mine");
  write_file(folder / "mine" / "thesis.txt", "x");
  CHECK(test::contains(refusal_of(ErrorKind::Usage,
                                  [&] {
                                    exporting::export_web(web_model("m"), DType::F32,
                                                          folder / "page", folder / "mine");
                                  }),
                       "not a page of ours"));
  CHECK(read_file(folder / "mine" / "thesis.txt") == "x");
  auto wrong = web_model("m");
  std::get<engine::GraphConv>(wrong.graph.steps[0].op).dilation = 3;
  refusal_of(ErrorKind::Parity,
             [&] { exporting::export_web(wrong, DType::F32, folder / "page", folder / "out"); });
  CHECK_FALSE(fs::exists(folder / "out"));
}

TEST_CASE("web export: a page that needs TFJS too accepts only f32") {
  const test::ScratchFolder folder;
  make_page(folder / "page");
  CHECK(test::contains(refusal_of(ErrorKind::Usage,
                                  [&] {
                                    exporting::export_web(web_model("m"), DType::F16,
                                                          folder / "page", folder / "out");
                                  }),
                       "expected --weights f32."));
  CHECK_FALSE(fs::exists(folder / "out"));
}
