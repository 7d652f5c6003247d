// SPDX-License-Identifier: Apache-2.0
// Files for the web page beside the network; the page itself is tested in web/tests.
#include "ubique/models/msinet/files/sidecar_files.h"

#include "tests/base/scratch.h"
#include "tests/models/msinet/net/network_samples.h"
#include "ubique/base/files/file.h"
#include "ubique/engine/contract/family.h"
#include "ubique/export/write.h"
#include "ubique/io/images/image.h"
#include "ubique/models/msinet/files/graph.h"

using namespace ubique;
using namespace ubique::msinet;
using namespace ubique::test;

namespace {

MsiNetModel page_model() {
  auto config = tiny_config();
  config.size = {64, 80};
  return MsiNetModel(golden_file(config));
}

engine::GraphExport page_export(MsiNetModel& model) {
  auto exported = graph_export(model);
  exported.sidecar_files = [files = web_sidecar_files(model)](const std::string&) { return files; };
  exported.page = {"saliency", {"onnx"}};
  return exported;
}

}  // namespace

TEST_CASE("page: the network in ONNX, a sample picture and its expected values") {
  const ScratchFolder folder;
  make_folder(folder / "page");
  write_file(folder / "page" / "index.html", "<p>page</p>");
  auto model = page_model();
  exporting::export_web(page_export(model), DType::F32, folder / "page", folder / "out");
  const auto name = model.settings().name();
  const auto model_folder = folder / "out/models" / name;
  const auto manifest = parse_json(read_file(model_folder / "ubique.json"), "ubique.json");
  CHECK(manifest["family"] == "msinet");
  CHECK(manifest["weights"] == "f32");
  CHECK(manifest["files"] == Json::parse(R"({"onnx": "model.onnx"})"));
  CHECK(manifest["size"] == Json::parse("[64, 80]"));
  CHECK(manifest["sizes"] ==
        Json::parse("[[48,64],[64,80],[72,96],[120,160],[168,224],[240,320]]"));
  CHECK_FALSE(std::filesystem::exists(model_folder / "model.json"));
  const auto picture = io::read_image(model_folder / "picture.png");
  CHECK(manifest["picture"]["size"] == Json{picture.height, picture.width});
  const auto values = 4 * 48 * 64 + picture.height * picture.width;
  CHECK(read_file(model_folder / "picture.bin").size() == static_cast<std::size_t>(4 * values));
}

TEST_CASE("page: weights may be f16, which halves the file") {
  const ScratchFolder folder;
  make_folder(folder / "page");
  write_file(folder / "page" / "index.html", "<p>page</p>");
  auto model = page_model();
  const auto exported = page_export(model);
  const auto write = [&](DType weights, const std::string& name) {
    exporting::export_web(exported, weights, folder / "page", folder / name);
    return std::filesystem::file_size(folder / name / "models" / model.settings().name() /
                                      "model.onnx");
  };
  const auto whole = write(DType::F32, "whole");
  CHECK(write(DType::F16, "half") < 0.6 * static_cast<double>(whole));
}

TEST_CASE("page: it shows maps, not raw values") {
  auto model = page_model();
  const auto raw = Config::from_text("head: raw", "test");
  const auto formats = engine::find_family("msinet").formats();
  CHECK(contains(error_of([&] { engine::find_format(formats, "web").graph(model, raw); }),
                 "expected map"));
}
