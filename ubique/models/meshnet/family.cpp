// SPDX-License-Identifier: Apache-2.0
// MeshNet's entry in the registry.
#include "ubique/engine/contract/family.h"

#include "ubique/models/meshnet/commands/commands.h"
#include "ubique/models/meshnet/files/export_check.h"
#include "ubique/models/meshnet/files/graph.h"
#include "ubique/models/meshnet/files/sidecar_files.h"
#include "ubique/models/meshnet/train/task.h"

namespace ubique::meshnet {
namespace {

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
  std::vector<engine::Option> train_options() const override { return meshnet_train_options(); }
  std::vector<std::pair<std::string, std::string>> train_examples() const override {
    return {{"ubique train meshnet -d data/arc -o runs/lesion", "the paper's recipe, best device"},
            {"ubique train meshnet -d heads -c 5 --shape 48,48,48 --spacing 4 -e 20 -o runs/small",
             "a small network on synthetic heads"},
            {"ubique train meshnet -d data/arc -o runs/lesion --resume", "go on after a stop"},
            {"ubique train meshnet -d data/arc --memory 8GiB --dry-run",
             "how it would fit into 8 GiB"}};
  }
  engine::Recipe default_recipe() const override { return paper_recipe(); }
  std::unique_ptr<engine::Model> configure(const Config& config) const override {
    return std::make_unique<MeshNetModel>(read_config(config));
  }
  std::unique_ptr<engine::Model> build(const Json& config) const override {
    return std::make_unique<MeshNetModel>(
        meshnet::from_json(config, std::string("the checkpoint")));
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
  std::vector<std::string> formats() const override { return {"checkpoint", "safetensors", "pt"}; }
  std::string format_of(const std::filesystem::path& path) const override {
    if (path.extension() == ".safetensors") return "safetensors";
    if (path.extension() == ".pt" || path.extension() == ".pth") return "pt";
    return {};
  }
  void export_model(engine::Model& model, const std::string& format,
                    const std::filesystem::path& path, const Config& /*config*/) const override {
    export_checked(dynamic_cast<MeshNetModel&>(model).file(), format, path);
  }
  std::optional<engine::GraphExport> graph(engine::Model& model, const std::string& format,
                                           const Config& config) const override {
    auto& meshnet = dynamic_cast<MeshNetModel&>(model);
    auto exported = graph_export(meshnet, read_graph_options(config, format, meshnet.settings()));
    if (format == "tfjs") exported.companions = brainchop_companions(meshnet.settings());
    if (format == "web") {
      exported.companions = web_companions(meshnet.settings());
      exported.page = {"segment", {"onnx", "tfjs"}};
    }
    return exported;
  }
  std::vector<engine::Option> graph_options() const override { return meshnet::graph_options(); }
};

}  // namespace
}  // namespace ubique::meshnet

namespace ubique::models {

void register_meshnet() { engine::register_family(std::make_unique<meshnet::MeshNetFamily>()); }

}  // namespace ubique::models
