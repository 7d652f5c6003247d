// SPDX-License-Identifier: Apache-2.0
// A tiny family for tests of the engine: a two-layer network with batch norm and dropout that
// learns a synthetic function of six numbers. It can simulate out-of-memory and non-finite losses.
#pragma once

#include <ATen/ATen.h>
#include <doctest/doctest.h>
#include <torch/nn/module.h>

#include <limits>
#include <string>

#include "tests/base/scratch.h"
#include "tests/training.h"
#include "ubique/base/text/json.h"
#include "ubique/engine/checkpoint/checkpoint.h"
#include "ubique/engine/contract/family.h"
#include "ubique/engine/optim/optimizer.h"
#include "ubique/engine/step/recompute.h"

namespace ubique::test {

using engine::Batch;
using engine::Scores;

struct ToyOptions {
  bool batch_norm = true;
  double dropout = 0.2;
  std::int64_t most_samples = 1000;  ///< memory runs out above
  std::int64_t most_when_checkpointed = 1000;
  std::int64_t nan_from = 1 << 30;  ///< calls of step() from which on losses are NaN
  std::int64_t nan_until = 1 << 30;
  bool can_checkpoint = true;
};

struct ToyNetwork : torch::nn::Module {
  explicit ToyNetwork(const ToyOptions& given) : options(given) {
    first = register_parameter("first_weight", at::zeros({8, 6}));
    shift = register_parameter("first_bias", at::zeros({8}));
    scale = register_parameter("norm_weight", at::ones({8}));
    offset = register_parameter("norm_bias", at::zeros({8}));
    last = register_parameter("last_weight", at::zeros({1, 8}));
    if (!options.batch_norm) return;
    mean = register_buffer("running_mean", at::zeros({8}));
    variance = register_buffer("running_var", at::ones({8}));
    count = register_buffer("num_batches_tracked", at::zeros({}, at::kLong));
  }

  at::Tensor hidden(const at::Tensor& x) {
    auto h = at::linear(x, first, shift);  // (B, 8)
    if (options.batch_norm) h = norm(h);
    return at::dropout(at::relu(h), options.dropout, is_training());
  }
  at::Tensor norm(const at::Tensor& h) {
    if (is_training() && engine::recomputing()) {
      return at::batch_norm(h, scale, offset, {}, {}, true, 0.1, 1e-5, false);
    }
    if (is_training()) count.add_(1);
    return at::batch_norm(h, scale, offset, mean, variance, is_training(), 0.1, 1e-5, false);
  }
  at::Tensor forward(const at::Tensor& x) {
    const auto inside = [this](const std::vector<at::Tensor>& in) { return hidden(in[0]); };
    const auto h = recomputed ? engine::recompute(inside, {x}) : hidden(x);
    return at::linear(h, last).squeeze(1);  // (B)
  }

  ToyOptions options;
  bool recomputed = false;
  at::Tensor first, shift, scale, offset, last, mean, variance, count;
};

class ToyModel final : public engine::Model {
 public:
  explicit ToyModel(ToyOptions options = {}) : options_(options), network_(options) {}

  std::string family() const override { return "toy"; }
  Json config() const override { return {{"width", 8}, {"dropout", options_.dropout}}; }
  torch::nn::Module& network() override { return network_; }
  void initialize(const Random& random) override {
    std::uint64_t layer = 0;
    for (auto* weight : {&network_.first, &network_.last}) {
      random.fork(layer++).fill_normal({weight->data_ptr<float>(), size_t(weight->numel())}, 0,
                                       0.4F);
    }
  }
  plan::Needs needs() const override {
    plan::Needs needs;
    needs.name = "toy-8";
    needs.family = "toy";
    needs.parameters = {{.name = "all", .count = 80}};
    needs.activations.saved = 40;
    needs.activations.run = 20;
    needs.tolerates_bf16 = needs.tolerates_f16 = true;
    needs.checkpointing.supported = options_.can_checkpoint;
    needs.effective_batch = 4;
    return needs;
  }
  void apply_plan(const plan::Plan& plan) override {
    network_.recomputed = plan.checkpointing.value;
  }

  engine::Step step(const Batch& batch) override {
    const auto& x = batch.tensors.at("x");
    const auto most = network_.recomputed ? options_.most_when_checkpointed : options_.most_samples;
    TORCH_CHECK_WITH(OutOfMemoryError, x.size(0) <= most, "toy out of memory. Tried to allocate");
    const auto miss = network_.forward(x).to(at::kFloat) - batch.tensors.at("y");
    const auto& w = batch.tensors.at("w");
    auto loss = (miss * miss * w).sum() / w.sum();
    const bool bad = calls >= options_.nan_from && calls < options_.nan_until;
    ++calls;
    if (bad) loss = loss * std::numeric_limits<float>::quiet_NaN();
    return {loss, {{"miss", ((miss.abs() * w).sum() / w.sum()).detach()}}};
  }

  ToyNetwork& toy() { return network_; }
  std::int64_t calls = 0;

 private:
  ToyOptions options_;
  ToyNetwork network_;
};

/// Sample i depends on i alone; weights alternate between 1, 2 and 3.
class ToyDataset final : public engine::Dataset {
 public:
  explicit ToyDataset(std::int64_t size, double jitter = 0.1) : size_(size), jitter_(jitter) {}

  std::int64_t size() const override { return size_; }
  std::string fingerprint() const override { return "toy-" + std::to_string(size_); }
  Batch load(const std::vector<std::int64_t>& indices,
             const engine::SampleRandoms& randoms) const override {
    const auto count = static_cast<std::int64_t>(indices.size());
    Batch batch;
    auto x = at::empty({count, 6}), y = at::empty({count}), w = at::empty({count});
    for (std::int64_t row = 0; row < count; ++row) {
      const auto index = indices[size_t(row)];
      check(index != broken, ErrorKind::Input, "[toy.load] sample {} is broken.", index);
      const Random sample = Random(99).fork(std::uint64_t(index));
      float* values = x.data_ptr<float>() + row * 6;
      for (std::uint64_t i = 0; i < 6; ++i) values[i] = float(sample.normal(i));
      y.data_ptr<float>()[row] =
          values[0] * values[1] + values[2] + float(jitter_ * randoms.of(size_t(row)).normal(0));
      w.data_ptr<float>()[row] = float(1 + index % 3);
    }
    batch.tensors = {{"x", x}, {"y", y}, {"w", w}};
    batch.samples = count;
    batch.weight = w.sum().item<double>();
    return batch;
  }

  std::int64_t broken = -1;  ///< a sample that cannot be loaded

 private:
  std::int64_t size_;
  double jitter_;
};

class ToyTask final : public engine::Task {
 public:
  explicit ToyTask(engine::Recipe recipe, ToyOptions options = {}, std::int64_t samples = 10)
      : device(kDevice), toy(options), data(samples), given(std::move(recipe)) {}

  engine::Model& model() override { return toy; }
  const engine::Dataset& training_set() override { return data; }
  const engine::Recipe& recipe() const override { return given; }
  Scores validate() override {
    CHECK_FALSE(toy.network().is_training());
    CHECK_FALSE(c10::GradMode::is_enabled());
    ++validations;
    if (unscored) return {};
    if (!scripted.empty()) {
      const auto now = [this](const std::vector<double>& list) {
        return list[std::min(size_t(validations - 1), list.size() - 1)];
      };
      Scores scores = {{"skill", now(scripted)}};
      if (!scripted_loss.empty()) scores.emplace_back("doubt_loss", now(scripted_loss));
      return scores;
    }
    const auto batch =
        ToyDataset(16, 0).load({0, 1, 2, 3, 4, 5, 6, 7}, engine::SampleRandoms(Random(1)));
    const auto guess = toy.toy().forward(batch.tensors.at("x").to(device)).to(at::kFloat);
    at::rand({3});  // must leave no trace in the training
    const auto miss = (guess.cpu() - batch.tensors.at("y")).abs().mean().item<double>();
    return {{"skill", -miss}};
  }
  void epoch_closed(const engine::EpochRecord& record,
                    const std::filesystem::path& folder) override {
    CHECK_FALSE(toy.network().is_training());
    const auto last = engine::load_checkpoint(folder / "checkpoints" / "last", false);
    CHECK(last.step == record.step);
    closed.push_back(record);
  }
  std::vector<engine::ReportText> texts() override { return writes; }
  std::unique_ptr<engine::Optimizer> make_optimizer(
      const engine::OptimizerOptions& options) override {
    return own_optimizer ? own_optimizer(options) : nullptr;
  }

  c10::Device device;
  ToyModel toy;
  ToyDataset data;
  engine::Recipe given;
  std::vector<engine::ReportText> writes;
  int validations = 0;
  std::vector<engine::EpochRecord> closed;  ///< epochs that the engine told of
  std::vector<double> scripted;             ///< scores in place of real ones
  std::vector<double> scripted_loss;        ///< a second one beside them: "doubt_loss"
  bool unscored = false;                    ///< nothing is held out
  std::function<std::unique_ptr<engine::Optimizer>(const engine::OptimizerOptions&)> own_optimizer;
};

inline plan::Plan toy_plan(std::int64_t micro = 4, std::int64_t accumulation = 1) {
  return training_plan("toy-8", micro, accumulation);
}

inline engine::Recipe toy_recipe(std::int64_t epochs = 3) {
  engine::Recipe recipe;
  recipe.epochs = epochs;
  recipe.optimizer.lr = 0.02;
  recipe.optimizer.weight_decay = 0.01;
  recipe.watch = "skill";
  recipe.seed = 5;
  return recipe;
}

inline engine::TrainOptions toy_options(const std::filesystem::path& folder) {
  return training_options(folder, "toy");
}

}  // namespace ubique::test
