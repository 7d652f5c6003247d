// SPDX-License-Identifier: Apache-2.0
// The network and its loss against values computed by arc-meshchop itself.
#include "tests/models/meshnet/net/network_samples.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"
#include "ubique/models/meshnet/net/loss.h"

using namespace ubique;
using namespace ubique::meshnet;
using namespace ubique::test;

namespace {

struct Golden {
  std::filesystem::path folder;
  std::string name;
  std::map<std::string, at::Tensor> io;
  Json numbers;

  std::filesystem::path file(const std::string& what) const {
    return folder / (name + "_" + what + ".safetensors");
  }
};

/// Empty if the golden folder is absent.
std::vector<Golden> goldens() {
  const auto folder = shared_folder("golden/meshnet");
  if (folder.empty()) return {};
  std::vector<Golden> list;
  for (const std::string name : {"meshnet5", "meshnet_c3"}) {
    Golden golden{folder, name, {}, {}};
    golden.io = by_name(read_tensors(golden.file("io")));
    const auto path = folder / (name + ".json");
    golden.numbers = parse_json(read_file(path), path.string());
    list.push_back(std::move(golden));
  }
  return list;
}

std::shared_ptr<MeshNet> golden_network(const Golden& golden) {
  MeshNetConfig config;
  config.channels = golden.numbers.at("channels").get<std::int64_t>();
  auto network = std::make_shared<MeshNet>(config);
  load_state(*network, read_tensors(golden.file("state")));
  return network;
}

bool is_cancelled_bias(const std::string& name) { return name.ends_with("conv.bias"); }

void check_gradients(const MeshNet& network, const Golden& golden) {
  const auto expected = by_name(read_tensors(golden.file("grads")));
  CHECK(expected.size() == 38);
  for (const auto& item : network.named_parameters()) {
    INFO(golden.name << " " << item.key());
    const auto gradient = item.value().grad();
    if (is_cancelled_bias(item.key())) {
      CHECK(gradient.abs().max().item<double>() < 1e-6);
    } else {
      CHECK(relative_distance(gradient, expected.at(item.key())) < 5e-5);
    }
  }
}

}  // namespace

TEST_CASE("golden: logits and loss in eval mode") {
  for (const auto& golden : goldens()) {
    auto network = golden_network(golden);
    network->eval();
    const at::NoGradGuard no_gradients;
    const auto logits = network->forward(golden.io.at("x0"));
    CHECK(distance(logits, golden.io.at("eval_logits_x0")) < 2e-6);
    const auto loss = segmentation_loss(logits, golden.io.at("y0"), {}).item<double>();
    CHECK(std::abs(loss - golden.numbers.at("eval_loss_x0").get<double>()) < 2e-6);
  }
}

TEST_CASE("golden: a training step's logits, gradients and running statistics") {
  for (const auto& golden : goldens()) {
    for (const TrainingOptions options :
         {TrainingOptions{}, TrainingOptions{8, 3, true}, TrainingOptions{1, 0, true}}) {
      auto network = golden_network(golden);
      network->set_training_options(options);
      const auto logits = network->forward(golden.io.at("x0"));
      CHECK(distance(logits, golden.io.at("train_logits_x0")) < 5e-5);
      const auto loss = segmentation_loss(logits, golden.io.at("y0"), {});
      const auto expected = golden.numbers.at("train_loss_x0").get<double>();
      CHECK(std::abs(loss.item<double>() - expected) < 2e-6);
      loss.backward();
      check_gradients(*network, golden);
      const auto buffers = by_name(read_tensors(golden.file("buffers_after_one_train_forward")));
      for (const auto& item : network->named_buffers()) {
        INFO(golden.name << " " << item.key());
        CHECK(distance(item.value(), buffers.at(item.key())) < 2e-6);
      }
    }
  }
}
