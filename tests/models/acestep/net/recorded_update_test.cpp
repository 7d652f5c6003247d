// SPDX-License-Identifier: Apache-2.0
// Recorded updates of adapters on a CPU that records: the numbers of plain ones, with checkpointing
// and on weights in fewer bits; and the tables that recordings read.
#include <ATen/ATen.h>
#include <doctest/doctest.h>
#include <torch/nn/module.h>

#include <stdexcept>

#include "tests/models/acestep/random_codec.h"
#include "tests/models/acestep/small_model.h"
#include "tests/recording_cpu.h"
#include "ubique/engine/loop/learner.h"
#include "ubique/models/acestep/net/model.h"

using namespace ubique;
using test::CpuRecords, test::distance, test::random_tensor;

namespace {

class AdapterTask final : public engine::Task {
 public:
  explicit AdapterTask(const std::string& form) : model_(make_dit()) {
    const auto networks = test::smallest_networks();
    auto text = std::make_shared<acestep::Umt5>(networks.text);
    test::fill_randomly(*text);
    model_.set_text_encoder(std::move(text), false);
    model_.add_adapter({.rank = 2, .alpha = 4});
    model_.initialize(Random(5));
    model_.quantize_base(form);
    recipe_.optimizer.lr = 1e-2;
  }
  engine::Model& model() override { return model_; }
  const engine::Dataset& training_set() override { throw std::logic_error("not asked for"); }
  const engine::Recipe& recipe() const override { return recipe_; }
  engine::Scores validate() override { return {}; }

 private:
  static std::shared_ptr<acestep::Dit> make_dit() {
    auto config = test::smallest_networks().transformer;
    config.projectors = false;
    auto dit = std::make_shared<acestep::Dit>(config);
    test::fill_randomly(*dit);
    return dit;
  }

  acestep::AcestepModel model_;
  engine::Recipe recipe_;
};

engine::Batch clip(std::int64_t frames, std::int64_t words, std::uint64_t seed) {
  const auto networks = test::smallest_networks();
  const auto ids = at::arange(1, words + 1, at::kLong).unsqueeze(0);
  engine::Batch batch;
  batch.samples = 1;
  batch.weight = 1;
  batch.tensors = {{"latents", random_tensor({1, 8, 16, frames}, seed)},
                   {"noise", random_tensor({1, 8, 16, frames}, seed + 1)},
                   {"sigmas", at::full({1}, 0.3 + 0.1 * static_cast<double>(seed % 5))},
                   {"text_ids", ids},
                   {"text_mask", at::ones_like(ids)},
                   {"lyric_ids", ids},
                   {"lyric_mask", at::ones_like(ids)},
                   {"keep_text", at::ones({1})},
                   {"speaker", at::zeros({1, networks.transformer.speaker_size})}};
  return batch;
}

plan::Plan plan_of(bool records, bool checkpointing) {
  plan::Plan plan;
  plan.dtype.value = DType::F32;
  plan.micro_batch.value = plan.accumulation.value = plan.effective_batch.value = 1;
  plan.graph_capture.value = records;
  plan.checkpointing.value = checkpointing;
  return plan;
}

/// All numbers of the adapter after updates of clips of two shapes.
at::Tensor adapter_after(const plan::Plan& plan, const std::string& form) {
  AdapterTask task(form);
  task.model().apply_plan(plan);
  at::manual_seed(11);  // the lyric encoder drops values
  engine::Learner learner(task, plan, c10::kCPU, 10);
  std::uint64_t seed = 20;
  for (const std::int64_t words : {3, 7, 3, 7, 3}) {
    learner.begin();
    learner.add(clip(4 + words, words, ++seed));
    learner.finish(0);
  }
  std::vector<at::Tensor> numbers;
  for (const auto& parameter : task.model().network().parameters()) {
    numbers.push_back(parameter.detach().flatten());
  }
  return at::cat(numbers);
}

}  // namespace

TEST_CASE("acestep: recorded updates of adapters are the plain ones") {
  if (!test::kDevice.is_cpu()) return;
  for (const char* form : {"", "int8", "nf4"}) {
    for (const bool checkpointing : {false, true}) {
      CAPTURE(form);
      CAPTURE(checkpointing);
      const auto plain = adapter_after(plan_of(false, checkpointing), form);
      const CpuRecords records;
      const auto recorded = adapter_after(plan_of(true, checkpointing), form);
      CHECK(distance(recorded, plain) < 1e-6);
      CHECK(records.replays() == 5);
      CHECK(records.shared() == 1);
    }
  }
}

TEST_CASE("acestep: a longer clip brings longer tables, and recordings keep the shorter ones") {
  if (!test::kDevice.is_cpu()) return;
  AdapterTask task("");
  auto& model = task.model();
  model.apply_plan(plan_of(false, false));
  (void)model.step(clip(9, 5, 1));
  const auto first = model.tables();
  CHECK(first.size() == 4);
  (void)model.step(clip(6, 3, 2));
  const auto same = model.tables();
  (void)model.step(clip(12, 9, 3));
  const auto longer = model.tables();
  for (std::size_t i = 0; i < first.size(); ++i) {
    CAPTURE(i);
    CHECK(same[i].is_same(first[i]));
    CHECK(longer[i].size(0) > first[i].size(0));
  }
}
