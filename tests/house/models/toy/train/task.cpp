// SPDX-License-Identifier: Apache-2.0
// The data set, and the task that trains on it and validates on other samples.
#include "tests/house/models/toy/train/task.h"

#include <ATen/ATen.h>

namespace ubique::toy {
namespace {

constexpr std::int64_t kTraining = 64, kValidation = 16;

class NoiseDataset final : public engine::Dataset {
 public:
  std::int64_t size() const override { return kTraining; }
  std::string fingerprint() const override { return "toy-noise"; }
  engine::Batch load(const std::vector<std::int64_t>& indices,
                     const engine::SampleRandoms& /*randoms*/) const override {
    std::vector<at::Tensor> images, filtered;
    for (const auto index : indices) {
      const auto sample = make_sample(index);
      images.push_back(sample.image);
      filtered.push_back(sample.filtered);
    }
    engine::Batch batch;
    batch.tensors = {{"image", at::stack(images)}, {"filtered", at::stack(filtered)}};
    batch.samples = static_cast<std::int64_t>(indices.size());
    batch.weight = static_cast<double>(batch.samples);
    return batch;
  }
};

class ToyTask final : public engine::Task {
 public:
  ToyTask(const ToyConfig& config, engine::Recipe recipe)
      : model_(config), recipe_(std::move(recipe)) {}

  engine::Model& model() override { return model_; }
  const engine::Dataset& training_set() override { return data_; }
  const engine::Recipe& recipe() const override { return recipe_; }
  engine::Scores validate() override {
    double error = 0;
    for (std::int64_t i = 0; i < kValidation; ++i) {
      const auto sample = make_sample(kTraining + i);
      const auto device = model_.toy().first.device();
      const auto output = model_.toy().forward(sample.image.unsqueeze(0).to(device));
      error += (output[0].cpu() - sample.filtered).square().mean().item<double>() / kValidation;
    }
    return {{"mse", error}};
  }

 private:
  ToyModel model_;
  NoiseDataset data_;
  engine::Recipe recipe_;
};

}  // namespace

ToySample make_sample(std::int64_t index) {
  auto image = at::empty({1, 16, 16});
  const auto count = static_cast<std::size_t>(image.numel());
  Random(7)
      .fork(static_cast<std::uint64_t>(index))
      .fill_normal({image.mutable_data_ptr<float>(), count}, 0, 1);
  const auto padded = at::constant_pad_nd(image, {1, 1, 1, 1});  // (1, 18, 18)
  const auto centre = padded.slice(1, 1, 17).slice(2, 1, 17);
  const auto left = padded.slice(1, 1, 17).slice(2, 0, 16);
  return {image, (centre - left).contiguous()};
}

ToyConfig read_toy_config(const Config& config) {
  ToyConfig toy;
  toy.channels = config.get("channels", toy.channels);
  check(toy.channels > 0 && toy.channels <= 64, ErrorKind::Usage,
        "[toy.config] channels is out of range; got {}, expected 1 to 64.", toy.channels);
  return toy;
}

std::unique_ptr<engine::Task> make_toy_task(const engine::Request& request) {
  engine::Recipe defaults;
  defaults.epochs = 20;
  defaults.optimizer.lr = 0.03;
  defaults.watch = "mse";
  defaults.watch_higher = false;
  return std::make_unique<ToyTask>(read_toy_config(request.config),
                                   engine::read_recipe(request.config, defaults));
}

}  // namespace ubique::toy
