// SPDX-License-Identifier: Apache-2.0
// A network that learns: model, optimizer, schedule, loss scaling, averaged weights and guards,
// with all that an exact resume needs of them. It makes one update at a time; which batches, when
// to validate and what to keep is the trainer's business.
#pragma once

#include <memory>
#include <optional>

#include "ubique/device/recording.h"
#include "ubique/engine/checkpoint/checkpoint.h"
#include "ubique/engine/contract/task.h"
#include "ubique/engine/optim/ema.h"
#include "ubique/engine/optim/optimizer.h"
#include "ubique/engine/optim/schedule.h"
#include "ubique/engine/step/generators.h"
#include "ubique/engine/step/nonfinite.h"
#include "ubique/engine/step/step.h"

namespace ubique::engine {

/// The weights that training goes on with; the model's own tensors are averages if there are any.
NamedTensors training_weights(const Checkpoint& checkpoint);

/// What an update came to. Tensors are f32 device scalars: reading them waits.
struct UpdateFacts {
  at::Tensor loss, norm, bad, scale;
  NamedTensors metrics;
  std::vector<Ratio> ratios;
  Rates rates;
  double weight = 0;
  std::int64_t samples = 0;
};

class Learner {
 public:
  /// The network is on the device already.
  Learner(Task& task, const plan::Plan& plan, c10::Device device, std::int64_t total_steps);

  /// begin, add (once or more), then finish; or abandon, which leaves everything as begin found it.
  /// Where the plan has it, an update of one whole batch is recorded and played from then on. If
  /// memory runs out it does so in add().
  void begin();
  void add(const Batch& batch);  ///< on the host
  UpdateFacts finish(std::int64_t step);
  void discard_state();

  /// Less memory from now on: another micro-batch, recomputation.
  void follow(const plan::Plan& plan) {
    plan_ = plan;
    recorded_.reset();
  }

  /// The network, the averages in its place if there are any, in eval mode without gradient, under
  /// the plan's autocast; everything as before afterwards, torch's generators too.
  template <typename Work>
  auto at_rest(const Work& work);

  void observe(double score) { schedule_->observe(score); }
  const SkipCounter& skipped() const { return skipped_; }

  void save(Checkpoint& checkpoint) const;  ///< model, trainer, and its part of trainer_state
  /// The state before the update that was just finished and skipped: with it one meets it again.
  void save_before(Checkpoint& checkpoint, const UpdateFacts& facts) const;
  /// All but the network's own tensors, which are there already (training_weights). Input error for
  /// a checkpoint that holds none of it, or of another network.
  void load(const Checkpoint& checkpoint);

 private:
  class AtRest;
  void put_generators(Checkpoint& checkpoint, const GeneratorStates& states) const;
  void load_generators(const Checkpoint& checkpoint);
  void load_persistent_state(const NamedTensors& saved);
  void conclude(UpdateFacts& facts);
  bool records(const Batch& batch) const;
  void add_recorded(const Batch& batch);
  UpdateFacts finish_recorded(std::int64_t step);
  void record();
  std::vector<at::Tensor> changing_state() const;

  Task& task_;
  Model& model_;
  plan::Plan plan_;
  c10::Device device_;
  NamedTensors parameters_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<Schedule> schedule_;
  GradScaler scaler_;
  AveragedWeights averages_;
  bool averages_taken_;  // by the optimizer
  SkipCounter skipped_;
  StatisticsGuard statistics_;
  GeneratorStates before_;  // of the update under way
  std::optional<Accumulation> sum_;

  /// An update of one batch, with what it reads and writes each time it is played.
  struct Recorded {
    Batch batch;  // on the device
    UpdateFacts facts;
    std::unique_ptr<device::Recording> work;
  };
  std::optional<Recorded> recorded_;
  bool waiting_ = false;  // for finish() to play recorded_
};

/// See Learner::at_rest.
class Learner::AtRest {
 public:
  explicit AtRest(Learner& learner);
  ~AtRest();
  AtRest(const AtRest&) = delete;
  AtRest& operator=(const AtRest&) = delete;

 private:
  struct Held;
  std::unique_ptr<Held> held_;
};

template <typename Work>
auto Learner::at_rest(const Work& work) {
  const AtRest rest(*this);
  return work();
}

}  // namespace ubique::engine
