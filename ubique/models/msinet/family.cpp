// SPDX-License-Identifier: Apache-2.0
// MSI-Net's entry in the registry.
#include "ubique/engine/contract/family.h"

#include "ubique/models/msinet/commands/commands.h"
#include "ubique/models/msinet/files/graph.h"
#include "ubique/models/msinet/files/sidecar_files.h"
#include "ubique/models/msinet/files/weight_files.h"
#include "ubique/models/msinet/train/task.h"

namespace ubique::msinet {
namespace {

engine::Format weights_format(const std::string& name, std::vector<std::string> extensions) {
  return {.name = name,
          .extensions = std::move(extensions),
          .options = layout_options(),
          .write = [name](engine::Model& model, const std::filesystem::path& path,
                          const Config& config) {
            export_checked(dynamic_cast<MsiNetModel&>(model).file(), name, path,
                           read_layout(config));
          }};
}

engine::GraphExport export_graph(engine::Model& model, const std::string& format,
                                 const Config& config) {
  auto& msinet = dynamic_cast<MsiNetModel&>(model);
  const auto options = read_graph_options(config, format);
  auto exported = graph_export(msinet, options);
  if (format == "web") {
    check(options.range, ErrorKind::Usage,
          "[msinet.graph] the page shows maps from 0 to 1; got --head raw, expected map.");
    exported.sidecar_files = [files = web_sidecar_files(msinet)](const std::string&) {
      return files;
    };
    exported.page = {"saliency", {"onnx"}};
  }
  return exported;
}

engine::Format graph_format(const std::string& name, std::vector<std::string> extensions) {
  return {.name = name,
          .extensions = std::move(extensions),
          .options = graph_options(),
          .graph = [name](engine::Model& model, const Config& config) {
            return export_graph(model, name, config);
          }};
}

class MsiNetFamily final : public engine::Family {
 public:
  std::string name() const override { return "msinet"; }
  std::string summary() const override {
    return "predicts where people look in a picture: saliency maps, overlays, scores";
  }
  std::vector<engine::Command> commands() const override {
    return {synth_command(), evaluate_command(), run_command(), demo_command()};
  }
  engine::TrainCommand train_command() const override {
    return {
        .options = msinet_train_options(),
        .examples =
            {{"ubique train msinet -d data --dataset salicon --model vgg16.pth -o runs/salicon",
              "the original's recipe, from VGG16"},
             {"ubique train msinet -d data --dataset salicon,fixationadd1000 --model vgg16.pth -o "
              "runs/ads",
              "SALICON, then fine-tuned on a set of fixations"},
             {"ubique train msinet -d data --dataset mit1003 --results results -o runs/mit1003",
              "from the best SALICON weights in results/, which all runs share"},
             {"ubique train msinet -d scenes --preset msinet-small --size 64,80 --batch 16 --lr "
              "5e-3 "
              "--clip-norm 1 --schedule cosine --warmup 0.06 -e 7 --flip -o runs/scenes",
              "a small network on synthetic scenes, from nothing"}},
        .stages = dataset_stages};
  }
  std::unique_ptr<engine::Model> configure(const Config& config) const override {
    return std::make_unique<MsiNetModel>(read_config(config));
  }
  std::unique_ptr<engine::Model> build(const Json& config,
                                       const engine::NamedTensors& weights) const override {
    const auto settings = msinet::from_json(config, std::string("the checkpoint"));
    check_weights(settings, weights, "the checkpoint");
    return std::make_unique<MsiNetModel>(settings);
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
  std::vector<engine::Format> formats() const override {
    return {weights_format("checkpoint", {}), weights_format("safetensors", {".safetensors"}),
            weights_format("h5", {".h5"}),    weights_format("npz", {".npz"}),
            graph_format("onnx", {".onnx"}),  graph_format("tfjs", {}),
            graph_format("web", {})};
  }
};

}  // namespace
}  // namespace ubique::msinet

namespace ubique::models {

void register_msinet() { engine::register_family(std::make_unique<msinet::MsiNetFamily>()); }

}  // namespace ubique::models
