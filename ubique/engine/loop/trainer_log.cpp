// SPDX-License-Identifier: Apache-2.0
// Logging: metrics are read from the device every few steps, in one copy; the report.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>

#include "ubique/base/terminal/log.h"
#include "ubique/base/text/text.h"
#include "ubique/device/runtime.h"
#include "ubique/engine/loop/trainer_run.h"
#include "ubique/plan/report.h"

namespace ubique::engine {
namespace {

/// Copies device scalars to the host, all in one transfer.
std::vector<double> read_scalars(const std::vector<at::Tensor>& scalars) {
  std::vector<at::Tensor> flat;
  for (const auto& scalar : scalars) flat.push_back(scalar.to(at::kFloat).reshape({}));
  const auto host = at::stack(flat).cpu().to(at::kDouble).contiguous();
  const auto* values = host.const_data_ptr<double>();
  return {values, values + host.numel()};
}

std::string note_of(const StepRecord& record, const Recipe& recipe, const Scores& scores,
                    const plan::Plan& plan) {
  auto note = fmt::format("epoch {}/{}  loss {:.4g}", record.epoch + 1, recipe.epochs, record.loss);
  const auto watched = std::find_if(scores.begin(), scores.end(),
                                    [&](const auto& item) { return item.first == recipe.watch; });
  const auto& shown = watched != scores.end()   ? *watched
                      : !record.metrics.empty() ? record.metrics.front()
                                                : std::pair<std::string, double>{};
  const auto* origin = watched != scores.end() ? "valid " : "";
  if (!shown.first.empty()) note += fmt::format("  {}{} {:.3g}", origin, shown.first, shown.second);
  return note + fmt::format("  memory {}, at most {} of {} predicted",
                            human_bytes(record.memory_now), human_bytes(record.memory_peak),
                            human_bytes(plan.memory.total));
}

}  // namespace

/// At least every max_bad_steps, to notice a run whose updates are all skipped.
bool TrainingRun::log_is_due() const {
  const auto every = std::max<std::int64_t>(1, std::min(options_.log_every, recipe_.max_bad_steps));
  return state_.step % every == 0 || state_.cursor.update == 0 || state_.step >= total_;
}

void TrainingRun::log_update(const UpdateResult& update) {
  std::vector<at::Tensor> scalars = {update.loss, update.norm, update.scale,
                                     learner_->skipped().total(), learner_->skipped().in_a_row()};
  for (const auto& [name, value] : update.metrics) scalars.push_back(value);
  for (const auto& scalar : ratios_.scalars()) scalars.push_back(scalar);
  const auto values = read_scalars(scalars);

  StepRecord record;
  record.step = state_.step;
  record.epoch = state_.open_epoch();
  record.loss = values[0];
  record.grad_norm = values[1];
  record.scale = values[2];
  record.lr = update.rates.lr;
  constexpr std::size_t kOwn = 5;
  record.metrics = ratios_.means(std::span(values).subspan(kOwn + update.metrics.size()));
  for (std::size_t i = 0; i < update.metrics.size(); ++i) {
    record.metrics.emplace_back(update.metrics[i].first, values[kOwn + i]);
  }
  ratios_.clear();
  record.skipped = values[3] > known_skipped_;
  known_skipped_ = values[3];
  const auto now = Clock::now();
  const double passed = std::chrono::duration<double>(now - log_start_).count();
  record.samples_per_second = passed > 0 ? static_cast<double>(logged_samples_) / passed : 0;
  log_start_ = now;
  logged_samples_ = 0;
  const auto memory = device::memory_use(device_);
  record.memory_now = memory.current_bytes;
  record.memory_peak = memory.peak_bytes;
  if (folder_) folder_->log_step(record);
  note_ = note_of(record, recipe_, state_.scores, plan_);
  stop_if_all_skipped(update, values[4], record);
}

void TrainingRun::stop_if_all_skipped(const UpdateResult& update, double in_a_row,
                                      const StepRecord& record) {
  if (in_a_row < static_cast<double>(recipe_.max_bad_steps)) return;
  const auto kept = dump_update(update);
  if (options_.report && folder_) write_report("stopped: gradients that are not finite");
  world_.from_first("written");  // whoever ends first, its launcher ends the others soon after
  fail(ErrorKind::Input,
       "[engine.guard] {:.0f} updates in a row had gradients that are not finite; at step {} got "
       "loss {}, lr {:.3g}{}. The last of them is kept with its batch in {}: --resume-from that "
       "folder reproduces it. Try a lower lr, --clip-norm 1 or --dtype f32, and look at the data.",
       in_a_row, record.step, record.loss, record.lr,
       record.scale == 1 ? "" : fmt::format(", loss scale {:.3g}", record.scale), kept.string());
}

/// False, with a warning, if the report cannot be written: it must never end a run.
bool TrainingRun::write_report(const std::string& status) {
  device::synchronize(device_);  // outside the try block: errors of earlier work belong to the run
  report_time_ = Clock::now();
  try {
    folder_->write_report(report_content(status));
  } catch (const std::exception& error) {
    log::warn("[engine.report] the report could not be written; got \"{}\". The run goes on.",
              error.what());
    return false;
  }
  return true;
}

ReportContent TrainingRun::report_content(const std::string& status) {
  ReportContent content;
  content.title = fmt::format("{} on {}", plan_.needs, plan_.machine);
  content.plan = &plan_;
  content.predicted_bytes = plan_.memory.total;
  content.measured_bytes = device::memory_use(device_).peak_bytes;
  if (!learner_->has_split_weights()) {  // whole ones would need the other ranks now
    content.pictures = learner_->in_eval_mode([&] { return task_.pictures(); });
    content.sounds = learner_->in_eval_mode([&] { return task_.sounds(); });
  }
  content.status = status;
  content.facts = {{"model", model_.config()},
                   {"training set", fmt::format("{} samples", sampler_.samples())},
                   {"updates", fmt::format("{} of {}", state_.step, total_)},
                   {"seed", recipe_.seed},
                   {"seconds", std::round(seconds() * 10) / 10}};
  return content;
}

}  // namespace ubique::engine
