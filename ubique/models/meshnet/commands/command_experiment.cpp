// SPDX-License-Identifier: Apache-2.0
// `ubique experiment meshnet`: trains and tests folds times restarts. Complete runs are skipped and
// interrupted ones resumed, so the same command continues after a reboot.
#include <fmt/format.h>

#include <set>

#include <algorithm>

#include "ubique/base/files/file.h"
#include "ubique/base/terminal/log.h"
#include "ubique/engine/walk/train_walk.h"
#include "ubique/models/meshnet/commands/commands.h"
#include "ubique/models/meshnet/score/experiment.h"
#include "ubique/models/meshnet/score/scoring.h"
#include "ubique/models/meshnet/train/task.h"

namespace ubique::meshnet {
namespace {

namespace fs = std::filesystem;

struct ExperimentSettings {
  fs::path folder;
  std::int64_t restarts = 10;
  std::uint64_t first_seed = 42;
  RestartPolicy policy = RestartPolicy::Mean;
  bool skip_completed = true;
  std::string against;
};

/// One run of the experiment.
struct RunId {
  std::int64_t fold = 0, restart = 0;
  std::string name() const { return fmt::format("fold_{}_restart_{}", fold, restart); }
};

ExperimentSettings read_experiment_settings(const engine::Request& request) {
  const auto& config = request.config;
  ExperimentSettings settings;
  settings.folder = request.output.empty() ? fs::path("experiments") / "meshnet" : request.output;
  settings.restarts = config.get<std::int64_t>("restarts", 10);
  settings.first_seed = static_cast<std::uint64_t>(config.get<std::int64_t>("seed", 42));
  settings.policy = parse_restart_policy(config.get<std::string>("pool_restarts", "mean"));
  settings.skip_completed = config.get("skip_completed", true);
  settings.against = config.get<std::string>("against", "");
  check(settings.restarts > 0, ErrorKind::Usage,
        "[meshnet.experiment] got {} restarts, expected at least 1.", settings.restarts);
  return settings;
}

/// The settings of one run: its own fold and seed, no validation.
engine::Request run_request(const engine::Request& request, const ExperimentSettings& settings,
                            const RunId& run) {
  auto changed = request;
  const auto seed = settings.first_seed + static_cast<std::uint64_t>(run.restart);
  changed.config.set_flag("outer_fold", std::to_string(run.fold));
  changed.config.set_flag("seed", std::to_string(seed));
  changed.config.set_flag("all_train", "true");
  changed.output = settings.folder / run.name();
  return changed;
}

/// Empty if the run was interrupted.
std::optional<RunRecord> test_run(const engine::Request& request, const RunId& run,
                                  MeshNetTask& task, const engine::TrainResult& trained,
                                  const engine::Session& session) {
  const auto settings = read_study_settings(request.config);
  const auto study = open_study(settings, StudyUse::Folds);
  const auto& test = study.splits.outer.at(static_cast<std::size_t>(run.fold)).test;
  std::vector<std::string> bins;
  for (const auto index : test) bins.push_back(study.size_bins[static_cast<std::size_t>(index)]);
  SegmenterOptions options;  // f32, as the paper's protocol tests
  options.device = session.torch_device();
  const auto file = task.meshnet().file();
  ScoringOptions scoring;
  scoring.threads = std::max(1, session.plan().compute_threads.value);
  scoring.progress = request.progress;
  scoring.stop = request.stop_requested;
  ScanSegmenter segmenter(file, options, scoring.threads);
  const auto [scores, failed] =
      score_subjects(segmenter, file.config, pick(study.cohort, test), bins, scoring);
  check(failed.empty(), ErrorKind::Input,
        "[meshnet.experiment] {} of {} test scans cannot be scored, {} first; expected all, or the "
        "runs cannot be pooled. Repair them and give the same command again.",
        failed.size(), test.size(), failed.empty() ? "" : failed.front().id);
  if (scores.size() < test.size()) return std::nullopt;

  RunRecord record{run.fold,
                   run.restart,
                   task.recipe().seed,
                   trained.train_loss,
                   trained.seconds,
                   trained.last_checkpoint.string(),
                   {},
                   {},
                   test,
                   file.config.name(),
                   study.splits.seed};
  for (const auto& score : scores) {
    record.subject_ids.push_back(score.id);
    for (const auto& name : score_names()) {
      record.scores[name].push_back(score_of(score, name));
    }
  }
  return record;
}

/// Empty if the run was interrupted.
std::optional<RunRecord> train_and_test(engine::Session& session, engine::Request request,
                                        const RunId& run) {
  const auto& folder = request.output;
  const bool resume = fs::exists(folder);  // without a checkpoint in it, the run starts over
  request.config.set_flag("resume", resume ? "true" : "false");
  log::info("{}{}", run.name(), resume ? ", resumed" : "");
  const auto trained = engine::train_walk(
      session, request, [](const engine::Request& own) { return make_task(own); });
  if (trained.result.interrupted) return std::nullopt;
  auto& task = dynamic_cast<MeshNetTask&>(*trained.task);
  auto record = test_run(request, run, task, trained.result, session);
  if (record) write_file(folder / "results.json", json_text(to_json(*record), 2) + "\n");
  return record;
}

engine::Outcome sum_up(const ExperimentSettings& settings, const std::vector<RunRecord>& records,
                       std::size_t wanted) {
  engine::Outcome outcome;
  outcome.json = experiment_json(records, settings.policy,
                                 {{"restarts", settings.restarts}, {"runs_wanted", wanted}});
  write_file(settings.folder / "experiment_results.json", json_text(outcome.json, 2) + "\n");
  outcome.text =
      fmt::format("{} of {} runs\n\n{}", records.size(), wanted, experiment_table(outcome.json));
  if (!settings.against.empty()) {
    const auto comparisons = compare_experiments(outcome.json, read_experiment(settings.against));
    outcome.text +=
        fmt::format("\nagainst {}\n\n{}", settings.against, comparison_table(comparisons));
    for (const auto& row : comparisons) {
      outcome.json["against"][row.score] = {{"subjects", row.subjects},
                                            {"difference", row.difference},
                                            {"p", row.p},
                                            {"p_holm", row.p_holm}};
    }
  }
  if (records.size() < wanted) outcome.code = ExitCode::Interrupted;
  return outcome;
}

/// The record of a complete run; Input error if it is of another network or other folds.
RunRecord finished_run(const fs::path& path, const std::string& network, std::uint32_t seed) {
  auto record = read_run_record(path);
  check(record.network.empty() || record.network == network, ErrorKind::Input,
        "[meshnet.experiment] {} is of another network; got {}, expected {}. Choose another -o.",
        path.string(), record.network, network);
  check(record.split_seed.value_or(seed) == seed, ErrorKind::Input,
        "[meshnet.experiment] {} is of folds of another seed; got {}, expected {}. Choose another "
        "-o, or --split-seed {}.",
        path.string(), record.split_seed.value_or(seed), seed, record.split_seed.value_or(seed));
  return record;
}

engine::Outcome experiment_meshnet(const engine::Request& request) {
  const auto settings = read_experiment_settings(request);
  engine::Session session(request, plan::Mode::Train);
  const auto study = read_study_settings(request.config);
  const auto network = read_config(request.config).name();
  const auto seed = split_seed(study);
  if (!settings.against.empty()) read_experiment(settings.against);  // fail now, not at the end
  make_folder(settings.folder);
  std::vector<RunRecord> records;
  for (std::int64_t fold = 0; fold < study.outer_folds; ++fold) {
    for (std::int64_t restart = 0; restart < settings.restarts; ++restart) {
      const RunId run{fold, restart};
      const auto finished = settings.folder / run.name() / "results.json";
      if (settings.skip_completed && fs::exists(finished)) {
        records.push_back(finished_run(finished, network, seed));
        continue;
      }
      auto record = train_and_test(session, run_request(request, settings, run), run);
      if (!record)
        return sum_up(settings, records,
                      static_cast<std::size_t>(study.outer_folds * settings.restarts));
      records.push_back(std::move(*record));
    }
  }
  return sum_up(settings, records, records.size());
}

}  // namespace

engine::Command experiment_command() {
  auto options = meshnet_train_options();
  const std::vector<engine::Option> own = {
      {"-r,--restarts", "restarts", "N", "networks per fold, each with its own seed (10)"},
      {"--seed", "seed", "N", "of the first restart (42)"},
      {"--pool-restarts", "pool_restarts", "HOW", "mean, median or best"},
      {"--skip-completed,!--no-skip", "skip_completed", "",
       "leave finished runs alone (on); off: test them again"},
      {"--against", "against", "PATH", "compare with this experiment, subject by subject"},
  };
  options.insert(options.end(), own.begin(), own.end());
  const std::set<std::string> recipe = {"epochs",       "max_steps", "lr",
                                        "weight_decay", "warmup",    "div_factor"};
  for (auto& option : engine::recipe_options()) {
    if (recipe.contains(option.key)) options.push_back(std::move(option));
  }
  std::erase_if(options, [](const engine::Option& option) {
    return option.key == "outer_fold" || option.key == "inner_fold" || option.key == "all_train";
  });
  return {
      .verb = "experiment",
      .summary = "folds times restarts, tested, pooled and compared",
      .options = std::move(options),
      .examples = {{"ubique experiment meshnet -d data/arc -c 16 -o experiments/mesh16 --against "
                    "experiments/mesh26",
                    "30 runs, then paired Wilcoxon tests against another experiment"}},
      .run = experiment_meshnet};
}

}  // namespace ubique::meshnet
