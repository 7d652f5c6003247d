// SPDX-License-Identifier: Apache-2.0
// Writes the folder's files, prunes old checkpoints, and keeps records consistent after a resume.
#include "ubique/engine/run/run_folder.h"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <system_error>
#include <utility>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/engine/checkpoint/atomic_folder.h"
#include "ubique/engine/run/event_file.h"
#include "ubique/engine/run/metrics_log.h"
#include "ubique/engine/run/report_page.h"
#include "ubique/engine/run/run_folder_lock.h"
#include "ubique/plan/report.h"

namespace ubique::engine {
namespace {

namespace fs = std::filesystem;

constexpr int kPlanVersion = 1;

/// A run without any checkpoint cannot be resumed: its files are removed, so that a new run can
/// use the folder.
void remove_unsaved_run(const fs::path& folder) {
  std::error_code ignored;
  const bool saved =
      fs::exists(folder / "checkpoints", ignored) && !fs::is_empty(folder / "checkpoints", ignored);
  if (saved || !fs::exists(folder / "metrics.jsonl", ignored)) return;
  std::vector<fs::path> left = {folder / "metrics.jsonl", folder / "run.yaml",
                                folder / "checkpoints"};
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().filename().string().starts_with("events.out.tfevents."))
      left.push_back(entry.path());
  }
  for (const auto& path : left) fs::remove(path, ignored);
}

void refuse_second_run(const fs::path& folder) {
  std::error_code ignored;
  for (const char* name : {"run.yaml", "metrics.jsonl", "checkpoints"}) {
    check(!fs::exists(folder / name, ignored), ErrorKind::Usage,
          "[engine.run] {} holds a run already; got {} in it. Pass --resume or another -o.",
          folder.string(), name);
  }
}

/// N of "step-N"; nothing for other names.
std::optional<std::int64_t> step_of_name(const std::string& name) {
  constexpr std::string_view kPrefix = "step-";
  if (!name.starts_with(kPrefix)) return {};
  std::int64_t step = 0;
  const auto* end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data() + kPrefix.size(), end, step);
  if (error != std::errc() || rest != end) return {};
  return step;
}

/// Removes step-N folders, the oldest first, until `keep` are left; never the one just saved.
void prune_steps(const fs::path& checkpoints, const std::string& saved, std::int64_t keep) {
  std::vector<std::pair<std::int64_t, fs::path>> steps;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(checkpoints, ignored)) {
    const auto name = entry.path().filename().string();
    if (const auto step = step_of_name(name); step && name != saved) {
      steps.emplace_back(*step, entry.path());
    }
  }
  std::sort(steps.begin(), steps.end());
  const auto others = static_cast<std::size_t>(keep - (step_of_name(saved) ? 1 : 0));
  for (std::size_t i = 0; i + others < steps.size(); ++i) discard_folder(steps[i].second);
}

Scores with_prefix(const std::string& prefix, const Scores& scores) {
  Scores named;
  for (const auto& [name, value] : scores) named.emplace_back(prefix + name, value);
  return named;
}

Scores event_scalars(const StepRecord& record) {
  auto scalars = with_prefix("train/", record.metrics);
  scalars.insert(scalars.begin(), {{"train/loss", record.loss},
                                   {"train/lr", record.lr},
                                   {"train/grad_norm", record.grad_norm},
                                   {"train/scale", record.scale},
                                   {"train/samples_per_second", record.samples_per_second},
                                   {"memory/now", static_cast<double>(record.memory_now)},
                                   {"memory/peak", static_cast<double>(record.memory_peak)}});
  return scalars;
}

Scores event_scalars(const EpochRecord& record) {
  auto scalars = with_prefix("validation/", record.scores);
  scalars.insert(scalars.begin(),
                 {{"epoch/train_loss", record.train_loss}, {"epoch/seconds", record.seconds}});
  return scalars;
}

}  // namespace

struct RunFolder::State {
  State(fs::path run_path, bool resume) : path(std::move(run_path)), lock(path) {
    if (!resume) remove_unsaved_run(path);
    if (!resume) refuse_second_run(path);
    metrics.emplace(path / "metrics.jsonl");
  }

  /// The first record after a resume removes the older records of later steps.
  template <typename Record>
  void log(const Record& record) {
    if (resumed_at) metrics->rewind(*resumed_at);
    metrics->add(record);
    if (!events) events.emplace(path, resumed_at ? *resumed_at + 1 : record.step);
    resumed_at.reset();
    events->add_scalars(record.step, event_scalars(record));
  }

  fs::path path;
  RunLock lock;
  std::optional<MetricsLog> metrics;
  std::optional<EventFile> events;         // created with the first record
  std::optional<std::int64_t> resumed_at;  // step of the checkpoint, until the next record
};

RunFolder::RunFolder(fs::path path, bool resume)
    : state_(std::make_unique<State>(std::move(path), resume)) {}

RunFolder::~RunFolder() = default;

void RunFolder::write_configuration(const std::string& yaml) {
  write_file(state_->path / "run.yaml", yaml);
}

void RunFolder::write_plan(const plan::Plan& plan) {
  auto document = json_document("run_plan", kPlanVersion);
  document.update(plan::to_json(plan));
  write_file(state_->path / "plan.json", json_text(document, 2) + "\n");
}

void RunFolder::log_step(const StepRecord& record) { state_->log(record); }

void RunFolder::log_epoch(const EpochRecord& record) { state_->log(record); }

fs::path RunFolder::checkpoint_path(const std::string& name) const {
  return state_->path / "checkpoints" / name;
}

void RunFolder::save(const Checkpoint& checkpoint, const std::string& name, std::int64_t keep) {
  state_->metrics->sync();  // a resume from here finds its records, even after a power cut
  save_checkpoint(checkpoint_path(name), checkpoint);
  if (keep > 0) prune_steps(state_->path / "checkpoints", name, keep);
}

std::optional<Checkpoint> RunFolder::load_last() const {
  auto checkpoint = engine::load_last(state_->path);
  if (checkpoint) state_->resumed_at = checkpoint->step;
  return checkpoint;
}

void RunFolder::write_report(const ReportContent& content) {
  std::error_code ignored;
  const auto configuration = state_->path / "run.yaml";
  const ReportSource source{content, state_->metrics->steps(), state_->metrics->epochs(),
                            fs::exists(configuration, ignored) ? read_file(configuration) : "",
                            static_cast<std::int64_t>(std::time(nullptr))};
  write_file(state_->path / "report.html", report_page(source));
}

}  // namespace ubique::engine
