// SPDX-License-Identifier: Apache-2.0
// The toy's entry in the registry: everything that the rest of the house needs to know of it.
#include "ubique/engine/contract/family.h"

#include <ATen/ATen.h>

#include "tests/house/models/toy/commands/commands.h"
#include "tests/house/models/toy/train/task.h"
#include "ubique/engine/checkpoint/tensor_bytes.h"

namespace ubique::toy {
namespace {

engine::GraphExport toy_graph(engine::Model& model, const Config& /*config*/) {
  auto& network = dynamic_cast<ToyModel&>(model).toy();
  const auto host = [](const std::string& name, const at::Tensor& tensor) {
    return engine::host_tensor_of(name, tensor.detach());
  };
  const auto sample = make_sample(0).image.unsqueeze(0);  // (1, 1, 16, 16)
  engine::GraphExport exported;
  exported.graph.name = "toy";
  exported.graph.input_shape = {1, 1, 16, 16};
  exported.graph.usual_extents = {16, 16};
  exported.graph.steps = {
      {"first",
       engine::GraphConv{host("first.weight", network.first),
                         host("first.bias", network.first_bias)},
       {"input"}},
      {"relu", engine::GraphActivation{}, {"first"}},
      {"last",
       engine::GraphConv{host("last.weight", network.last), host("last.bias", network.last_bias)},
       {"relu"}}};
  exported.input = host("input", sample);
  exported.output = host("output", network.forward(sample));
  return exported;
}

class ToyFamily final : public engine::Family {
 public:
  std::string name() const override { return "toy"; }
  std::string summary() const override { return "learns a 3x3 filter from noise"; }
  std::vector<engine::Command> commands() const override { return {run_command()}; }
  engine::TrainCommand train_command() const override {
    return {.options = {{"--channels", "channels", "N", "of the hidden layer (4)"}}};
  }
  std::unique_ptr<engine::Model> configure(const Config& config) const override {
    return std::make_unique<ToyModel>(read_toy_config(config));
  }
  std::unique_ptr<engine::Model> build(const Json& config,
                                       const engine::NamedTensors& /*weights*/) const override {
    return std::make_unique<ToyModel>(ToyConfig{config.at("channels").get<std::int64_t>()});
  }
  std::unique_ptr<engine::Task> task(const engine::Request& request) const override {
    return make_toy_task(request);
  }
  bool recognizes(const std::filesystem::path& /*path*/) const override { return false; }
  std::unique_ptr<engine::Model> import_model(const std::filesystem::path& path) const override {
    fail(ErrorKind::Input, "[toy.import] {} is no checkpoint of ours.", path.string());
  }
  std::vector<engine::Format> formats() const override {
    return {{.name = "onnx", .extensions = {".onnx"}, .graph = toy_graph}};
  }
};

}  // namespace
}  // namespace ubique::toy

namespace ubique::models {

void register_toy() { engine::register_family(std::make_unique<toy::ToyFamily>()); }

}  // namespace ubique::models
