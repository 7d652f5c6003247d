// SPDX-License-Identifier: Apache-2.0
// MSI-Net's entry in the registry.
#include "ubique/engine/contract/family.h"

#include "ubique/models/msinet/commands/commands.h"
#include "ubique/models/msinet/files/graph.h"
#include "ubique/models/msinet/files/sidecar_files.h"
#include "ubique/models/msinet/train/task.h"

namespace ubique::msinet {
namespace {

class MsiNetFamily final : public engine::Family {
 public:
  std::string name() const override { return "msinet"; }
  std::string summary() const override {
    return "predicts where people look in a picture: saliency maps, overlays, scores";
  }
  std::vector<engine::Command> commands() const override {
    return {synth_command(), evaluate_command(), run_command(), demo_command()};
  }
  std::vector<engine::Option> train_options() const override { return msinet_train_options(); }
  std::vector<std::pair<std::string, std::string>> train_examples() const override {
    return {
        {"ubique train msinet -d data --dataset salicon --model vgg16.pth -o runs/salicon",
         "the original's recipe, from VGG16"},
        {"ubique train msinet -d data --dataset salicon,fixationadd1000 --model vgg16.pth -o "
         "runs/ads",
         "SALICON, then fine-tuned on a set of fixations"},
        {"ubique train msinet -d data --dataset mit1003 --results results -o runs/mit1003",
         "from the best SALICON weights in results/, which all runs share"},
        {"ubique train msinet -d scenes --preset msinet-small --size 64,80 --batch 16 --lr 5e-3 "
         "--clip-norm 1 --schedule cosine --warmup 0.06 -e 7 --flip -o runs/scenes",
         "a small network on synthetic scenes, from nothing"}};
  }
  std::vector<engine::TrainStage> train_stages(const Config& config) const override {
    return dataset_stages(config);
  }
  engine::Recipe default_recipe() const override { return original_recipe(); }
  std::unique_ptr<engine::Model> configure(const Config& config) const override {
    return std::make_unique<MsiNetModel>(read_config(config));
  }
  std::unique_ptr<engine::Model> build(const Json& config) const override {
    return std::make_unique<MsiNetModel>(msinet::from_json(config, std::string("the checkpoint")));
  }
  std::unique_ptr<engine::Task> task(const engine::Request& request) const override {
    return make_task(request);
  }
  bool recognizes(const std::filesystem::path& path) const override {
    return looks_like_msinet(path);
  }
  std::unique_ptr<engine::Model> import_model(const std::filesystem::path& path) const override {
    return std::make_unique<MsiNetModel>(load_any(path));
  }
  std::vector<std::string> formats() const override {
    return {"checkpoint", "safetensors", "h5", "npz"};
  }
  std::string format_of(const std::filesystem::path& path) const override {
    const auto ending = path.extension().string();
    return ending == ".safetensors" || ending == ".h5" || ending == ".npz" ? ending.substr(1) : "";
  }
  std::vector<engine::Option> format_options() const override { return layout_options(); }
  void export_model(engine::Model& model, const std::string& format,
                    const std::filesystem::path& path, const Config& config) const override {
    export_checked(dynamic_cast<MsiNetModel&>(model).file(), format, path, read_layout(config));
  }
  std::optional<engine::GraphExport> graph(engine::Model& model, const std::string& format,
                                           const Config& config) const override {
    auto& msinet = dynamic_cast<MsiNetModel&>(model);
    const auto options = read_graph_options(config, format);
    auto exported = graph_export(msinet, options);
    if (format == "web") {
      check(options.range, ErrorKind::Usage,
            "[msinet.graph] the page shows maps from 0 to 1; got --head raw, expected map.");
      exported.companions = web_companions(msinet);
      exported.page = {"saliency", {"onnx"}};
    }
    return exported;
  }
  std::vector<engine::Option> graph_options() const override { return msinet::graph_options(); }
};

}  // namespace
}  // namespace ubique::msinet

namespace ubique::models {

void register_msinet() { engine::register_family(std::make_unique<msinet::MsiNetFamily>()); }

}  // namespace ubique::models
