// SPDX-License-Identifier: Apache-2.0
// Reading the settings of a training run: the original's keys and Ubique's own.
#include <algorithm>

#include "ubique/base/terminal/log.h"
#include "ubique/base/text/text.h"
#include "ubique/models/trm/train/task.h"

namespace ubique::trm {
namespace {

std::vector<std::filesystem::path> read_folders(const Config& config, const char* key) {
  const auto names = config.get(key, std::vector<std::string>{});
  return {names.begin(), names.end()};
}

double read_rate(const Config& config, const char* key, double fallback) {
  const auto value = config.get(key, fallback);
  check(value >= 0 && value <= 1e3, ErrorKind::Usage,
        "[trm.train] {}: {} is out of range; got {}, expected 0 to 1000.", config.where(key), key,
        value);
  return value;
}

/// The default eval_interval: about ten evaluations, by a number that divides the passes.
std::int64_t default_interval(std::int64_t passes) {
  constexpr std::int64_t kEvaluations = 10;
  for (auto interval = std::max<std::int64_t>(1, passes / kEvaluations); interval > 1; --interval) {
    if (passes % interval == 0) return interval;
  }
  return 1;
}

/// Accepts keys of the original that have no effect here.
void accept_unused_keys(const Config& config) {
  for (const char* key : {"defaults", "hydra", "arch.name", "arch.loss.name"}) config.ignore(key);
  std::vector<std::string> idle;
  for (const char* key : {"project_name", "run_name", "checkpoint_path", "checkpoint_every_eval",
                          "eval_save_outputs", "evaluators", "entity"}) {
    config.ignore(key);
    if (config.has(key)) idle.emplace_back(key);
  }
  if (!idle.empty()) {
    log::info(
        "keys of the original without effect here: {}. -o names the run folder, every "
        "evaluation saves a checkpoint, `ubique evaluate trm` counts ARC's votes",
        join(idle, ", "));
  }
  if (config.find<std::string>("arch.puzzle_emb_ndim").value_or("") == "${.hidden_size}") {
    Config(config).set_flag("arch.puzzle_emb_ndim", "null");  // as wide as the network
  }
  if (config.section("arch").keys().empty() || config.where("arch") == "flag") {
    const auto name = config.get<std::string>("arch", "trm");
    check(
        name == "trm", ErrorKind::Usage,
        "[trm.train] arch={} names a file of the original that is not available; expected trm, or "
        "its keys: arch.hidden_size, arch.mlp_t, ...",
        name);
  }
}

/// Causal attention is for conversations, so somebody who sets it has no use for sudokus.
[[noreturn]] void fail_without_data(const Config& config) {
  const bool chat = config.get("arch.causal", false);
  fail(ErrorKind::Usage,
       "[trm.train] which {}? got no data_paths; give -d FOLDER. `ubique data trm {} -o FOLDER` "
       "makes some.",
       chat ? "conversations" : "puzzles", chat ? "chat FILE" : "sudoku");
}

/// The length is the data set's; people of the original set it with the network.
void refuse_seq_len(const Config& config) {
  const auto length = config.find<std::string>("arch.seq_len");
  check(
      !length, ErrorKind::Usage,
      "[trm.train] {}: the data set, not the network, has a length; got arch.seq_len {}. Make the "
      "data with it: ubique data trm chat FILE --max-length {} -o DATA.",
      config.where("arch.seq_len"), length.value_or(""), length.value_or(""));
}

/// lr_warmup_steps takes precedence over the share `warmup`, unless the share is given as a flag
/// and the steps are not.
void read_schedule_keys(const Config& config, engine::ScheduleOptions& schedule) {
  const auto warmup = config.find<std::int64_t>("lr_warmup_steps");
  check(!warmup || *warmup >= 0, ErrorKind::Usage,
        "[trm.train] {}: lr_warmup_steps is out of range; got {}, expected at least 0.",
        config.where("lr_warmup_steps"), warmup.value_or(0));
  const bool shared = config.has("warmup") && config.where("warmup") == "flag" &&
                      config.where("lr_warmup_steps") != "flag";
  if (warmup && !shared) schedule.warmup_steps = *warmup;
}

void read_passes(const Config& config, TrainSettings& settings) {
  auto& recipe = settings.recipe;
  settings.total_passes = recipe.epochs;
  settings.passes = config.get("eval_interval", default_interval(recipe.epochs));
  check(settings.passes >= 1 && recipe.epochs % settings.passes == 0, ErrorKind::Usage,
        "[trm.train] {}: eval_interval does not divide epochs; got {} and {}.",
        config.where("eval_interval"), settings.passes, recipe.epochs);
  recipe.epochs /= settings.passes;
  recipe.validate_from = config.get("min_eval_interval", recipe.validate_from);
}

}  // namespace

engine::Recipe original_recipe() {
  engine::Recipe recipe;
  recipe.epochs = 100000;  // passes; read_train_settings() divides them by eval_interval
  recipe.optimizer.name = "adam_atan2";
  recipe.optimizer.lr = 1e-4;
  recipe.optimizer.weight_decay = 0.1;
  recipe.optimizer.beta1 = 0.9;
  recipe.optimizer.beta2 = 0.95;
  recipe.schedule.name = "cosine";
  recipe.schedule.warmup_steps = 2000;
  recipe.schedule.floor = 1;
  recipe.ema_decay = 0.999;
  recipe.watch = "exact_accuracy";
  recipe.watch_ties = "lm_loss";  // while no puzzle is solved yet
  recipe.seed = 0;
  return recipe;
}

std::vector<engine::Option> trm_train_options() {
  const auto data = engine::in_group(
      engine::kDataGroup,
      {{"-d,--data,--data-dir", "data_paths", "PATH",
        "folder with train/ and test/, or several: a,b"},
       {"--test-data", "data_paths_test", "PATH", "folder with test/, if it is another one"},
       {"--augment,!--no-augment", "augment", "",
        "a random variant of the puzzle at every draw (on for sets without stored ones)"},
       {"--eval-subset", "eval_subset", "N", "validation puzzles, but all at the end (10000)"}});
  const auto training = engine::in_group(
      engine::kTrainingGroup,
      {{"--global-batch-size", "global_batch_size", "N", "puzzles per update (768)"},
       {"--eval-interval", "eval_interval", "N",
        "passes over the puzzles between validations (a tenth of epochs)"},
       {"--puzzle-emb-lr", "puzzle_emb_lr", "RATE", "learning rate of the puzzle table (0.01)"},
       {"--puzzle-emb-weight-decay", "puzzle_emb_weight_decay", "X",
        "weight decay of the puzzle table (0.1)"},
       {"--lr-warmup-steps", "lr_warmup_steps", "N", "warm-up updates (2000)"},
       {"--lr-min-ratio", "lr_min_ratio", "SHARE",
        "final learning rate as a share of lr (1: constant)"},
       {"--freeze-weights", "freeze_weights", "", "train the puzzle table only"}});
  return engine::all_options({data, training});
}

TrainSettings read_train_settings(const engine::Request& request) {
  const auto& config = request.config;
  accept_unused_keys(config);
  refuse_seq_len(config);
  TrainSettings settings;
  settings.data = read_folders(config, "data_paths");
  settings.test = read_folders(config, "data_paths_test");
  if (settings.data.empty()) fail_without_data(config);
  settings.recipe = engine::read_recipe(config, original_recipe());
  read_schedule_keys(config, settings.recipe.schedule);
  check(settings.recipe.schedule.name != "onecycle", ErrorKind::Usage,
        "[trm.train] onecycle has no rate for the puzzle table; expected cosine or constant.");
  read_passes(config, settings);
  settings.batch = config.get("global_batch_size", settings.batch);
  settings.table.lr = read_rate(config, "puzzle_emb_lr", settings.table.lr);
  settings.table.weight_decay =
      read_rate(config, "puzzle_emb_weight_decay", settings.table.weight_decay);
  settings.freeze_weights = config.get("freeze_weights", false);
  settings.augment = config.find<bool>("augment");
  settings.subset = config.get("eval_subset", settings.subset);
  check(settings.subset >= 0, ErrorKind::Usage,
        "[trm.train] eval_subset is out of range; got {}, expected at least 0 (0 = all).",
        settings.subset);
  settings.model = config.get("load_checkpoint", request.model);
  if (!request.model.empty()) settings.model = request.model;
  return settings;
}

}  // namespace ubique::trm
