// SPDX-License-Identifier: Apache-2.0
// The network on the device that UBIQUE_TEST_DEVICE names (default: auto) against the CPU. A
// program of its own, because the sham device must be selected before any other.
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "tests/models/meshnet/net/network_samples.h"
#include "ubique/base/error.h"
#include "ubique/device/numerics.h"
#include "ubique/device/select.h"
#include "ubique/engine/step/autocast.h"
#include "ubique/models/meshnet/net/loss.h"
#include "ubique/models/meshnet/use/segmenter.h"

using namespace ubique;
using namespace ubique::meshnet;
using namespace ubique::test;

namespace {

const std::optional<device::Selection>& device_under_test() {
  static const auto selection = []() -> std::optional<device::Selection> {
    const char* name = std::getenv("UBIQUE_TEST_DEVICE");
    try {
      auto selected = device::select(device::parse_request(name != nullptr ? name : "auto"));
      device::apply_numerics(selected.torch_device, {.tf32 = false});
      return selected;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Device) throw;
      std::printf("skipped: %s\n", error.what());
      return std::nullopt;
    }
  }();
  return selection;
}

MeshNetConfig device_config() {
  MeshNetConfig config;
  config.channels = 5;
  config.dilations = {1, 2, 4, 2};
  return config;
}

struct DeviceStep {
  at::Tensor loss;
  engine::NamedTensors gradients, buffers;
};

DeviceStep step_on(c10::Device device, const MeshNetConfig& config, const TrainingOptions& options,
                   std::optional<at::ScalarType> autocast = std::nullopt) {
  auto network = random_network(config);
  network->to(device);
  network->set_training_options(options);
  const auto image = random_tensor({1, 1, 12, 10, 14}, 6).to(device);
  const auto mask = random_tensor({1, 12, 10, 14}, 7).gt(0.5).to(at::kByte).to(device);
  DeviceStep step;
  {
    const engine::Autocast region(device.type(),
                                  {autocast.has_value(), autocast.value_or(at::kFloat)});
    step.loss = segmentation_loss(network->forward(image), mask, {});
  }
  step.loss.backward();
  for (const auto& item : network->named_parameters()) {
    step.gradients.emplace_back(item.key(), item.value().grad().cpu());
  }
  for (const auto& item : network->named_buffers()) {
    step.buffers.emplace_back(item.key(), item.value().cpu());
  }
  return step;
}

void check_same_step(const DeviceStep& ours, const DeviceStep& cpu, double tolerance) {
  CHECK(distance(ours.loss, cpu.loss) < tolerance);
  for (std::size_t i = 0; i < cpu.gradients.size(); ++i) {
    INFO(cpu.gradients[i].first);
    if (cpu.gradients[i].first.ends_with("conv.bias")) {
      CHECK(ours.gradients[i].second.abs().max().item<double>() < 1e-6);
    } else {
      CHECK(relative_distance(ours.gradients[i].second, cpu.gradients[i].second) < tolerance);
    }
  }
  for (std::size_t i = 0; i < cpu.buffers.size(); ++i) {
    INFO(cpu.buffers[i].first);
    CHECK(distance(ours.buffers[i].second, cpu.buffers[i].second) < tolerance);
  }
}

}  // namespace

TEST_CASE("device under test: a training step has the CPU's loss, gradients and statistics") {
  if (!device_under_test()) return;
  const auto device = device_under_test()->torch_device;
  std::printf("device under test: %s\n", device_under_test()->facts.label().c_str());
  const auto expected = step_on(c10::kCPU, device_config(), {});
  check_same_step(step_on(device, device_config(), {}), expected, 1e-3);
  check_same_step(step_on(device, device_config(), {8, 2, false}), expected, 1e-3);
  check_same_step(step_on(device, device_config(), {8, 0, true}), expected, 1e-3);
}

TEST_CASE("device under test: other norms and activations train as on the CPU") {
  if (!device_under_test()) return;
  auto config = device_config();
  for (const auto norm : {Norm::Instance, Norm::None}) {
    for (const auto activation : {Activation::Elu, Activation::Gelu}) {
      config.norm = norm;
      config.activation = activation;
      config.bias = norm == Norm::None;
      const auto expected = step_on(c10::kCPU, config, {});
      const auto ours = step_on(device_under_test()->torch_device, config, {});
      CHECK(distance(ours.loss, expected.loss) < 1e-4);
      for (std::size_t i = 0; i < expected.gradients.size(); ++i) {
        CHECK(relative_distance(ours.gradients[i].second, expected.gradients[i].second) < 1e-3);
      }
    }
  }
}

TEST_CASE("device under test: a step in half precision is near the one in f32") {
  if (!device_under_test()) return;
  const auto expected = step_on(c10::kCPU, device_config(), {});
  for (const bool channels_last : {false, true}) {
    const auto ours = step_on(device_under_test()->torch_device, device_config(),
                              {8, 0, channels_last}, at::kHalf);
    CHECK(distance(ours.loss, expected.loss) < 0.02);
    check_same_step(ours, expected, 0.2);
  }
}

TEST_CASE("device under test: labels of every mode are the CPU's but for ties") {
  if (!device_under_test()) return;
  const auto config = device_config();
  const MeshNetFile file{config, state_of(*random_network(config)), "test"};
  const auto image = random_tensor({20, 16, 18}, 8);
  const auto expected = Segmenter(file).labels(image);
  for (const auto mode : {SegmenterMode::Whole, SegmenterMode::Stream}) {
    for (const std::int64_t pad : {1, 8}) {
      SegmenterOptions options;
      options.device = device_under_test()->torch_device;
      options.mode = mode;
      options.pad_channels_to = pad;
      const auto labels = Segmenter(file, options).labels(image.to(options.device)).cpu();
      CHECK(labels.ne(expected).sum().item<std::int64_t>() <= 3);
    }
  }
}
