// SPDX-License-Identifier: Apache-2.0
// Times code language models of published shapes with random weights, through the same code that
// train and run use: whole updates (the engine's learner with the optimizer), updates of adapters
// over a frozen base, and greedy decoding (in all cases at once: bench_decode). One JSON line per
// case.
//   bench_codelm DEVICE train|lora|qlora SHAPE LENGTH BATCH [ROUNDS]
//   bench_codelm DEVICE decode SHAPE PROMPT NEW [ROUNDS] [WEIGHTS] [SLOTS]
// SHAPE: tiny (164 M), 1b (1.1 B). WEIGHTS: plan (as the plan says), f32, int8, int4, nf4.
// PROFILE=1, TRACE=FILE: measure.h; in training NO_CAPTURE=1: no CUDA graphs, CHECKPOINTING=1:
// blocks are computed again in the backward pass.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "bench/codelm/decoding.h"
#include "bench/updates.h"

namespace {

using namespace ubique;
using namespace ubique::bench;

struct Case {
  std::string device, mode, shape;
  std::int64_t length = 1024, batch = 1;  // decoding: tokens of the prompt, new tokens
  int rounds = 5;
  std::string weights = "plan";
  std::int64_t slots = 1;
};

engine::Batch noise_batch(const codelm::CodelmConfig& config, const Case& wanted) {
  const auto ids = at::randint(config.vocabulary, {wanted.batch, wanted.length}, at::kLong);
  engine::Batch batch;
  batch.samples = wanted.batch;
  batch.weight = static_cast<double>(wanted.batch * wanted.length);
  batch.tensors = {
      {"ids", ids},
      {"labels", ids.roll({-1}, {1}).contiguous()},
      {"positions", at::arange(wanted.length).expand({wanted.batch, wanted.length}).contiguous()}};
  return batch;
}

class NoiseTask final : public engine::Task {
 public:
  explicit NoiseTask(const Case& wanted)
      : model_(std::make_shared<codelm::Codelm>(config_of(wanted.shape))) {
    model_.set_sequence_length(wanted.length);
    recipe_.optimizer.lr = 1e-4;
    recipe_.optimizer.decay_matrices_only = true;
    if (wanted.mode == "train") return;
    fill_with_noise(model_.codelm());
    model_.add_adapters({.rank = 16, .alpha = 32, .dropout = 0}, "random");
    if (wanted.mode == "qlora") model_.quantize_base("nf4");
  }
  engine::Model& model() override { return model_; }
  const engine::Dataset& training_set() override { throw std::logic_error("no data set"); }
  const engine::Recipe& recipe() const override { return recipe_; }
  engine::Scores validate() override { return {}; }
  const codelm::CodelmConfig& settings() const { return model_.settings(); }

 private:
  codelm::CodelmModel model_;
  engine::Recipe recipe_;
};

Json time_training(const Case& wanted) {
  NoiseTask task(wanted);
  plan::Wishes wishes;
  wishes.device = wanted.device;
  wishes.mode = plan::Mode::Train;
  wishes.batch = wishes.effective_batch = wanted.batch;
  wishes.dtype = DType::BF16;
  if (std::getenv("NO_CAPTURE") != nullptr) wishes.graph_capture = plan::Toggle::Off;
  if (std::getenv("CHECKPOINTING") != nullptr) wishes.checkpointing = plan::Toggle::On;
  const engine::Session session(task.model().needs(), wishes);
  const auto measured =
      bench::time_updates(task, session, noise_batch(task.settings(), wanted), wanted.rounds);
  const auto tokens = static_cast<double>(wanted.batch * wanted.length);
  return {{"median_ms", measured.ms},
          {"best_ms", measured.best_ms},
          {"tokens_per_s", 1000 * tokens / measured.ms},
          {"checkpointing", session.plan().checkpointing.value},
          {"recorded", session.plan().graph_capture.value},
          {"predicted_bytes", session.plan().memory.total},
          {"measured_bytes", measured.peak}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) {
    std::fputs("bench_codelm DEVICE train|lora|qlora|decode SHAPE LENGTH BATCH [ROUNDS]\n", stderr);
    return 2;
  }
  Case wanted{argv[1], argv[2], argv[3], std::atoll(argv[4]), std::atoll(argv[5])};
  if (argc > 6) wanted.rounds = std::atoi(argv[6]);
  if (argc > 7) wanted.weights = argv[7];
  if (argc > 8) wanted.slots = std::atoll(argv[8]);
  try {
    auto line = wanted.mode == "decode" ? time_decoding({.device = wanted.device,
                                                         .shape = wanted.shape,
                                                         .prompt = wanted.length,
                                                         .tokens = wanted.batch,
                                                         .rounds = wanted.rounds,
                                                         .weights = wanted.weights,
                                                         .slots = wanted.slots})
                                        : time_training(wanted);
    line["case"] = fmt::format("{} {} {} {} {} {}", wanted.mode, wanted.shape, wanted.length,
                               wanted.batch, wanted.weights, wanted.slots);
    std::puts(line.dump().c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_codelm: %s\n", error.what());
    return 1;
  }
}
