// SPDX-License-Identifier: Apache-2.0
// The loop: updates, epochs, the best checkpoint, early stopping. A run can be stopped after every
// update; resumed, it gives the same numbers as a run that never stopped.
#include "ubique/engine/loop/trainer_run.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "ubique/base/terminal/log.h"
#include "ubique/base/text/text.h"
#include "ubique/device/runtime.h"
#include "ubique/engine/loop/auto_batch.h"

namespace ubique::engine {
namespace {

std::string epoch_text(const EpochRecord& record, std::int64_t epochs) {
  auto text =
      fmt::format("epoch {}/{}: training loss {:.4g}", record.epoch + 1, epochs, record.train_loss);
  const char* before = "; validation ";
  for (const auto& [name, value] : record.scores) {
    text += fmt::format("{}{} {:.4g}", std::exchange(before, ", "), name, value);
  }
  text += fmt::format("; {:.1f} s", record.seconds);
  return record.best ? text + ", the best so far" : text;
}

std::optional<double> find_score(const Scores& scores, const std::string& name) {
  for (const auto& [known, value] : scores) {
    if (known == name) return value;
  }
  return std::nullopt;
}

double watched_score(const Scores& scores, const std::string& name) {
  if (const auto found = find_score(scores, name)) return *found;
  std::vector<std::string> names;
  for (const auto& [known, value] : scores) names.push_back(known);
  fail(ErrorKind::Usage,
       "[engine.train] no score has the name to watch; got watch {}, expected one of {}.{}", name,
       join(names, ", "), hint(name, names));
}

}  // namespace

TrainResult TrainingRun::run() {
  const auto stop = [&] { return options_.stop_requested && options_.stop_requested(); };
  bool interrupted = false;
  if (state_.step < total_ && !state_.stopped_early) {
    for (const auto& doubt : doubts_about(recipe_, total_)) log::warn("{}", doubt);
    try_micro_batch();
    start_loader();
  }
  while (!interrupted) {
    if (epoch_is_over()) close_epoch();
    if (state_.step >= total_ || state_.stopped_early) break;
    make_update();
    interrupted = world_.is_alone() ? stop() : stop_agreed_;
  }
  loader_.reset();
  if (interrupted) save("last");
  return result(interrupted);
}

bool TrainingRun::epoch_is_over() const {
  return state_.open_updates > 0 && (state_.cursor.update == 0 || state_.step >= total_);
}

void TrainingRun::make_update() {
  const auto update = threads_.run([&] { return attempt_update(); });
  epoch_mean_->add(update.loss, update.weight);
  ratios_.add(update.ratios);
  state_.cursor = sampler_.after(state_.cursor);
  state_collected_ = false;
  ++state_.step;
  ++state_.open_updates;
  logged_samples_ += update.samples;
  if (log_is_due()) log_update(update);
  progress_->advance(1, note_);
  world_.note_step(state_.step);
  if (recipe_.checkpoint_every > 0 && state_.step % recipe_.checkpoint_every == 0) {
    save(fmt::format("step-{}", state_.step));
    save("last");
  } else if (save_is_due()) {
    save("last");
  }
}

bool TrainingRun::save_is_due() const {
  return world_.is_alone() ? Clock::now() - save_time_ >= options_.save_every : save_agreed_;
}

/// After out-of-memory, of any rank, retries the update with a smaller micro-batch.
UpdateResult TrainingRun::attempt_update() {
  for (;;) {
    std::string message;
    seed_draws(0);  // repeated by those who record the update
    learner_->begin();
    const auto weights = weights_to_compare();
    try {
      compute_micro_batches();
    } catch (const std::exception& error) {
      if (!device::is_out_of_memory(error)) throw;
      message = first_line(error);
    }
    if (!world_.is_alone()) message = read_news(learner_->share(news(message, weights)));
    if (message.empty()) return learner_->finish(state_.step);
    learner_->discard();  // outside the catch block, so that the failed pass has freed its memory
    retry_with_less_memory(message);
    start_loader();
  }
}

/// Only rank 0 does the work, but split weights are made whole by all.
template <typename Work>
void TrainingRun::in_eval_mode_of_first(const Work& work) {
  if (!folder_ && !learner_->has_split_weights()) return;
  learner_->in_eval_mode([&] {
    if (folder_) work();
  });
}

void TrainingRun::close_epoch() {
  EpochRecord record;
  record.epoch = state_.open_epoch();
  record.step = state_.step;
  record.train_loss = state_.train_loss = epoch_mean_->mean();
  const bool last = state_.step >= total_;
  const bool due = last || (record.epoch >= recipe_.validate_from &&
                            (record.epoch + 1) % recipe_.validate_every == 0);
  if (due) {
    state_.scores = record.scores = validate(last);
    in_eval_mode_of_first([&] { record.texts = task_.texts(); });
    for (const auto& [caption, text] : record.texts) log::info("{}: {}", caption, text);
  }
  record.best = update_best(record.scores, record.train_loss, due);
  record.seconds = std::chrono::duration<double>(Clock::now() - epoch_start_).count();
  if (folder_) folder_->log_epoch(record);
  log::info("{}", epoch_text(record, recipe_.epochs));

  state_.open_updates = 0;
  epoch_mean_.emplace(device_);
  if (record.best) save("best");
  const auto kept = recipe_.checkpoint_epochs;
  if (kept > 0 && (record.epoch + 1) % kept == 0) save(fmt::format("step-{}", state_.step));
  save("last");
  in_eval_mode_of_first([&] { task_.epoch_closed(record, options_.folder); });
  if (plan_.clear_cache.value) device::empty_cache(device_);
  constexpr auto kBetweenReports = std::chrono::minutes(1);
  if (options_.report && folder_ && Clock::now() - report_time_ > kBetweenReports)
    write_report("running");
  epoch_start_ = Clock::now();
}

/// Decides between epochs of the same watched score, lower is better: the recipe's tie-break score,
/// else the training loss.
double TrainingRun::tie_score(const Scores& scores, double train_loss) const {
  const auto found = find_score(scores, recipe_.watch_ties);
  if (!found) return train_loss;
  return higher_is_better(recipe_.watch_ties) ? -*found : *found;
}

/// Is this epoch the best so far? Also passes the score to the schedule, and stops the run when its
/// patience is over.
bool TrainingRun::update_best(const Scores& scores, double train_loss, bool validated) {
  const bool unscored = validated && scores.empty();
  if (unscored && !recipe_.watch.empty()) {
    log::warn_once("engine.watch",
                   "[engine.train] nothing is held out to validate on: the "
                   "training loss decides which epoch is the best");
  }
  const bool by_loss = recipe_.watch.empty() || unscored;
  if (!by_loss && !validated) return false;
  const double score = by_loss ? train_loss : watched_score(scores, recipe_.watch);
  learner_->observe(score);
  const bool higher = !by_loss && recipe_.watch_higher;
  const auto gain = state_.best ? (higher ? score - *state_.best : *state_.best - score) : 0;
  const bool better = std::isfinite(score) && (!state_.best || gain > recipe_.min_delta);
  const auto tie = tie_score(scores, train_loss);
  const bool ahead = score == state_.best && state_.best_tie && tie < *state_.best_tie;
  if (better) state_.better_epoch = state_.open_epoch();
  if (better || ahead) {
    state_.best = score;
    state_.best_tie = tie;
    state_.best_scores = scores;
    state_.best_epoch = state_.open_epoch();
  }
  const auto waited = state_.open_epoch() - state_.better_epoch;
  if (!better && recipe_.patience > 0 && waited >= recipe_.patience && state_.step < total_) {
    state_.stopped_early = true;
    log::info("stopping early: no better {} for {} epochs",
              by_loss ? "training loss" : recipe_.watch, waited);
  }
  return better || ahead;
}

TrainResult TrainingRun::result(bool interrupted) {
  TrainResult result;
  result.steps = state_.step;
  result.epochs = state_.cursor.update > 0 ? state_.cursor.epoch + 1 : state_.cursor.epoch;
  result.train_loss = state_.open_updates > 0 ? epoch_mean_->mean() : state_.train_loss;
  result.scores = state_.scores;
  result.best = state_.best_scores;
  result.best_epoch = state_.best_epoch;
  result.skipped_steps = static_cast<std::int64_t>(learner_->skipped().total().item<double>());
  result.interrupted = interrupted;
  result.stopped_early = state_.stopped_early;
  result.predicted_bytes = plan_.memory.total;
  device::synchronize(device_);
  result.measured_bytes = device::memory_use(device_).peak_bytes;
  result.seconds = seconds();
  if (state_.best) result.best_checkpoint = options_.folder / "checkpoints" / "best";
  result.last_checkpoint = options_.folder / "checkpoints" / "last";
  progress_->finish(note_);
  if (options_.report && folder_) {
    const auto* status = interrupted            ? "interrupted"
                         : state_.stopped_early ? "stopped early"
                                                : "finished";
    if (write_report(status)) result.report = options_.folder / "report.html";
  }
  return result;
}

TrainResult train(Task& task, const Session& session, const TrainOptions& options) {
  return TrainingRun(task, session, options).run();
}

TrainResult train(Task& task, const plan::Plan& plan, const TrainOptions& options) {
  return train(task, Session(plan), options);
}

}  // namespace ubique::engine
