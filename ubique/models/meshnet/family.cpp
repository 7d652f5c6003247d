// SPDX-License-Identifier: Apache-2.0
// MeshNet's entry in the registry.
#include "ubique/engine/contract/family.h"

#include "ubique/models/meshnet/commands/commands.h"
#include "ubique/models/meshnet/files/export.h"
#include "ubique/models/meshnet/files/graph.h"
#include "ubique/models/meshnet/files/import.h"
#include "ubique/models/meshnet/files/sidecar_files.h"
#include "ubique/models/meshnet/train/task.h"

namespace ubique::meshnet {
namespace {

engine::Format weights_format(const std::string& name, std::vector<std::string> extensions) {
  return {.name = name,
          .extensions = std::move(extensions),
          .write = [name](engine::Model& model, const std::filesystem::path& path, const Config&) {
            export_checked(dynamic_cast<MeshNetModel&>(model).file(), name, path);
          }};
}

engine::GraphExport export_graph(engine::Model& model, const std::string& format,
                                 const Config& config) {
  auto& meshnet = dynamic_cast<MeshNetModel&>(model);
  auto exported = graph_export(meshnet, read_graph_options(config, format, meshnet.settings()));
  const auto settings = meshnet.settings();
  if (format == "tfjs") {
    exported.sidecar_files = [settings](const std::string& folder) {
      return brainchop_sidecar_files(settings, folder);
    };
  }
  if (format == "web") {
    exported.sidecar_files = [settings](const std::string&) { return web_sidecar_files(settings); };
    exported.page = {"segment", {"onnx", "tfjs"}};
  }
  return exported;
}

engine::Format graph_format(const std::string& name, std::vector<std::string> extensions) {
  engine::Format format{.name = name,
                        .extensions = std::move(extensions),
                        .options = graph_options(),
                        .graph = [name](engine::Model& model, const Config& config) {
                          return export_graph(model, name, config);
                        }};
  if (name == "tfjs") format.aliases = {"brainchop"};  // whose folders they are
  return format;
}

class MeshNetFamily final : public engine::Family {
 public:
  std::string name() const override { return "meshnet"; }
  std::string summary() const override {
    return "segments brain scans (stroke lesions, tissue) with a small 3D network";
  }
  std::vector<engine::Command> commands() const override {
    return {synth_command(),      splits_command(),   prepare_command(), evaluate_command(),
            experiment_command(), validate_command(), run_command(),     demo_command()};
  }
  engine::TrainCommand train_command() const override {
    return {
        .options = meshnet_train_options(),
        .examples = {
            {"ubique train meshnet -d data/arc -o runs/lesion", "the paper's recipe, best device"},
            {"ubique train meshnet -d heads -c 5 --shape 48,48,48 --spacing 4 -e 20 -o runs/small",
             "a small network on synthetic heads"},
            {"ubique train meshnet -d data/arc -o runs/lesion --resume", "resume after a stop"},
            {"ubique train meshnet -d data/arc --memory 8GiB --dry-run",
             "how it would fit into 8 GiB"}}};
  }
  std::unique_ptr<engine::Model> configure(const Config& config) const override {
    return std::make_unique<MeshNetModel>(read_config(config));
  }
  std::unique_ptr<engine::Model> build(const Json& config,
                                       const engine::NamedTensors& weights) const override {
    const auto settings = meshnet::from_json(config, std::string("the checkpoint"));
    check_weights(settings, weights, "the checkpoint");
    return std::make_unique<MeshNetModel>(settings);
  }
  std::unique_ptr<engine::Task> task(const engine::Request& request) const override {
    return make_task(request);
  }
  bool recognizes(const std::filesystem::path& path) const override {
    return looks_like_meshnet(path);
  }
  std::unique_ptr<engine::Model> import_model(const std::filesystem::path& path) const override {
    return std::make_unique<MeshNetModel>(load_any(path));
  }
  std::vector<engine::Format> formats() const override {
    return {weights_format("checkpoint", {}),
            weights_format("safetensors", {".safetensors"}),
            weights_format("pt", {".pt", ".pth"}),
            graph_format("onnx", {".onnx"}),
            graph_format("tfjs", {}),
            graph_format("web", {})};
  }
};

}  // namespace
}  // namespace ubique::meshnet

namespace ubique::models {

void register_meshnet() { engine::register_family(std::make_unique<meshnet::MeshNetFamily>()); }

}  // namespace ubique::models
