// SPDX-License-Identifier: Apache-2.0
// One training update at a time: model, optimizer, schedule, loss scaling, averaged weights and
// the handling of non-finite gradients, with the state for an exact resume. The trainer chooses
// batches, validations and checkpoints.
#pragma once

#include <memory>
#include <optional>

#include "ubique/device/recording.h"
#include "ubique/dist/world.h"
#include "ubique/engine/checkpoint/checkpoint.h"
#include "ubique/engine/contract/task.h"
#include "ubique/engine/optim/ema.h"
#include "ubique/engine/optim/optimizer.h"
#include "ubique/engine/optim/schedule.h"
#include "ubique/engine/ranks/rank_sum.h"
#include "ubique/engine/ranks/shard.h"
#include "ubique/engine/ranks/sharded_weights.h"
#include "ubique/engine/step/generators.h"
#include "ubique/engine/step/gradient_accumulation.h"
#include "ubique/engine/step/nonfinite.h"

namespace ubique::engine {

/// The weights to continue training with; the checkpoint's model tensors may be averages.
NamedTensors training_weights(const Checkpoint& checkpoint);

/// The results of an update. Tensors are f32 device scalars: reading them waits for the device.
struct UpdateResult {
  at::Tensor loss, norm, bad, scale;
  NamedTensors metrics;
  std::vector<Ratio> ratios;
  Rates rates;
  double weight = 0;
  std::int64_t samples = 0;
};

class Learner {
 public:
  /// The network is on the device already. With several ranks each adds its own micro-batches, and
  /// all make the same update.
  Learner(Task& task, const plan::Plan& plan, c10::Device device, std::int64_t total_steps,
          const dist::World& world = dist::world());

  /// begin, add (once or more), then finish; or discard, which restores the state before begin.
  /// With the plan's graph_capture, an update of one batch is recorded once for its shapes and
  /// replayed from then on. Out-of-memory errors come from add() only.
  void begin();
  void add(const Batch& batch);  ///< on the host
  UpdateResult finish(std::int64_t step);
  void discard();

  // With several ranks all of them call these in every update: the first between begin() and
  // add(), with the weight of this rank's first micro-batch that has any, and the number of those
  // that it adds; the second before finish(), with news for the others. A single rank need not.
  void agree_on_weight(double mine, std::int64_t micro_batches);
  std::vector<Json> share(const Json& news);
  /// All ranks: gets the persistent state of the samples that other ranks compute.
  void collect_state(const Shard& shard);
  /// All ranks, before save() on rank 0: what each has a part of.
  void collect_shards();
  /// Are the weights of blocks split? Then all ranks compute their micro-batches in step, one in
  /// each round, call sit_out() in a round without one, and in_eval_mode() together.
  bool has_split_weights() const { return shards_.has_value(); }
  void sit_out();
  std::string weights_digest() const;  ///< of all that the network's state dict holds

  /// Continues with another micro-batch or more gradient checkpointing.
  void set_plan(const plan::Plan& plan);

  /// Runs `work` with the network in eval mode, with averaged weights if there are any, without
  /// gradients, under the plan's autocast. Everything is restored afterwards, torch's random
  /// generators too.
  template <typename Work>
  auto in_eval_mode(const Work& work);

  void observe(double score) { schedule_->observe(score); }
  const SkipCounter& skipped() const { return skipped_; }

  void save(Checkpoint& checkpoint) const;  ///< model, trainer, and its part of trainer_state
  /// Saves the state from before the skipped update, so that it can be reproduced.
  void save_before(Checkpoint& checkpoint, const UpdateResult& result) const;
  /// Everything but the network's weights, which are loaded already (training_weights). Input error
  /// for a checkpoint without a trainer's state or of another network.
  void load(const Checkpoint& checkpoint);

 private:
  class EvalMode;
  void save_generators(Checkpoint& checkpoint, const GeneratorStates& states) const;
  void load_generators(const Checkpoint& checkpoint);
  void load_persistent_state(const NamedTensors& saved);
  NamedTensors leaves_to_train();
  NamedTensors whole_parameters() const;
  std::unique_ptr<Optimizer> choose_optimizer() const;
  void add_in_step(const Batch& batch);
  GradientNorm prepare_gradients();
  void apply_update(UpdateResult& result);
  struct Recorded;
  Recorded* find_recorded(const Batch& batch) const;
  bool is_recordable(const Batch& batch) const;
  void add_recorded(const Batch& batch);
  void add_unrecorded(const Batch& batch);
  UpdateResult finish_recorded(std::int64_t step);
  std::unique_ptr<Recorded> record(const Batch& batch);
  std::vector<at::Tensor> changing_state() const;

  Task& task_;
  Model& model_;
  plan::Plan plan_;
  c10::Device device_;
  const dist::World& world_;
  std::optional<ShardedWeights> shards_;
  NamedTensors parameters_;  // whole, then slices of split ones
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<Schedule> schedule_;
  GradScaler scaler_;
  AveragedWeights averages_;
  bool averages_fused_;  // the optimizer updates averages_
  SkipCounter skipped_;
  StatisticsBackup statistics_;
  GeneratorStates before_;  // from before the current update
  std::optional<GradientAccumulation> sum_;
  std::optional<RankSum> ranks_;                         // none: this process is alone
  NamedTensors collected_weights_, collected_averages_;  // of split ones, on rank 0

  /// A recorded update of one batch, with the tensors that each replay reads and writes.
  struct Recorded {
    Batch batch;  // on the device
    UpdateResult result = {};
    std::vector<at::Tensor> tables = {};  // of the model, that must live as long
    std::unique_ptr<device::Recording> work = {};
  };
  std::vector<std::unique_ptr<Recorded>> recorded_;  // of batches of different shapes
  Recorded* pending_ = nullptr;                      // finish() has to replay it
};

/// The scope of Learner::in_eval_mode.
class Learner::EvalMode {
 public:
  explicit EvalMode(Learner& learner);
  ~EvalMode();
  EvalMode(const EvalMode&) = delete;
  EvalMode& operator=(const EvalMode&) = delete;

 private:
  struct Held;
  std::unique_ptr<Held> held_;
};

template <typename Work>
auto Learner::in_eval_mode(const Work& work) {
  const EvalMode scope(*this);
  return work();
}

}  // namespace ubique::engine
