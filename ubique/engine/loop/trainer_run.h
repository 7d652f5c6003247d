// SPDX-License-Identifier: Apache-2.0
// One run of the training loop, from the first update of this process to the last. Internal:
// callers use train().
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "ubique/base/terminal/progress.h"
#include "ubique/device/threads/load_aware_threads.h"
#include "ubique/engine/loop/learner.h"
#include "ubique/engine/loop/loader.h"
#include "ubique/engine/loop/run_state.h"
#include "ubique/engine/loop/trainer.h"
#include "ubique/engine/ranks/pass_sums.h"
#include "ubique/engine/run/run_folder.h"
#include "ubique/engine/step/device_means.h"

namespace ubique::engine {

class TrainingRun {
 public:
  TrainingRun(Task& task, const Session& session, const TrainOptions& options);
  TrainResult run();

 private:
  using Clock = std::chrono::steady_clock;

  // trainer_setup.cpp
  void prepare_network(const std::optional<Checkpoint>& checkpoint);
  std::optional<Checkpoint> find_checkpoint();
  void check_same_model(const Checkpoint& checkpoint) const;
  void resume(const Checkpoint& checkpoint);

  // trainer_ranks.cpp: what the ranks of a run tell each other
  Shard shard() const;
  void check_ranks() const;
  std::optional<Checkpoint> share_checkpoint(std::optional<Checkpoint> mine) const;
  std::string weights_to_compare() const;
  Json news(const std::string& failure, const std::string& weights) const;
  std::string read_news(const std::vector<Json>& all);
  void seed_draws(std::int64_t part) const;
  std::int64_t parts_of_update() const;
  void compute_micro_batches();
  void compute_rounds(UsesPassSums& model);  // trainer_rounds.cpp
  void compute_round(PassSums& sums, const Batch* batch, std::int64_t part);
  void compute_split_rounds();
  std::vector<Batch> load_batches(std::int64_t count, std::exception_ptr& failure);
  std::int64_t rounds_of_update() const;
  Scores validate(bool last);
  template <typename Work>
  void in_eval_mode_of_first(const Work& work);

  // trainer_run.cpp: the loop
  bool epoch_is_over() const;
  void make_update();
  UpdateResult attempt_update();
  void close_epoch();
  double tie_score(const Scores& scores, double train_loss) const;
  bool update_best(const Scores& scores, double train_loss, bool validated);
  TrainResult result(bool interrupted);

  // trainer_memory.cpp
  void try_micro_batch();
  void retry_with_less_memory(const std::string& why);
  void start_loader();

  // trainer_log.cpp
  bool log_is_due() const;
  bool save_is_due() const;
  void log_update(const UpdateResult& update);
  void stop_if_all_skipped(const UpdateResult& update, double in_a_row, const StepRecord& record);
  bool write_report(const std::string& status);
  ReportContent report_content(const std::string& status);

  // trainer_save.cpp
  Checkpoint checkpoint(const UpdateResult* skipped = nullptr);  // as of before that update
  void collect();
  void save(const std::string& name);
  std::filesystem::path dump_update(const UpdateResult& update);

  double seconds() const;

  Task& task_;
  Model& model_;
  const Recipe& recipe_;
  plan::Plan plan_;
  const TrainOptions& options_;
  c10::Device device_;
  const dist::World& world_;
  std::optional<RunFolder> folder_;  // rank 0 writes, the others have none
  data::Sampler sampler_;
  std::int64_t total_;       // updates of the whole run
  std::string fingerprint_;  // of the training set
  RunState state_;
  std::unique_ptr<Learner> learner_;
  std::unique_ptr<Loader> loader_;
  std::optional<RunningMean> epoch_mean_;
  std::unique_ptr<Progress> progress_;
  std::string note_;  // shown beside the progress bar
  Clock::time_point start_ = Clock::now(), epoch_start_ = start_, log_start_ = start_;
  Clock::time_point report_time_ = start_, save_time_ = start_;
  std::int64_t logged_samples_ = 0;
  RatioSums ratios_;
  double known_skipped_ = 0;
  bool stop_agreed_ = false, save_agreed_ = false;  // by all ranks, in the last update
  bool state_collected_ = false;                    // since the last update
  bool weights_checked_ = false;                    // of all ranks, at least once
  device::LoadAwareThreads threads_;
};

}  // namespace ubique::engine
