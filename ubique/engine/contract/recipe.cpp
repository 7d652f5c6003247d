// SPDX-License-Identifier: Apache-2.0
// Reads a recipe from the configuration, checks it, and warns of settings that cannot work.
#include "ubique/engine/contract/recipe.h"

#include <cmath>
#include <limits>
#include <string_view>

#include "ubique/base/error.h"
#include "ubique/base/text/text.h"

namespace ubique::engine {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::max();

/// Reads numbers and refuses those that cannot be, naming where they came from.
class RecipeReader {
 public:
  explicit RecipeReader(const Config& config) : config_(config) {}

  double number(std::string_view key, double fallback, double least, double most) const {
    const auto value = config_.get<double>(key, fallback);
    check_range(key, value, least, most);
    return value;
  }
  std::int64_t count(std::string_view key, std::int64_t fallback, std::int64_t least) const {
    const auto value = config_.get<std::int64_t>(key, fallback);
    check_range(key, static_cast<double>(value), static_cast<double>(least), kNoLimit);
    return value;
  }

 private:
  void check_range(std::string_view key, double value, double least, double most) const {
    const bool possible = std::isfinite(value) && value >= least && value <= most;
    check(possible, ErrorKind::Usage, "[engine.recipe] {}: {} is out of range; got {}, expected {}",
          config_.where(key), key, value,
          most == kNoLimit ? fmt::format("at least {}.", least)
                           : fmt::format("{} to {}.", least, most));
  }

  const Config& config_;
};

void read_optimizer(const Config& config, OptimizerOptions& options) {
  const RecipeReader read(config);
  options.name = config.get<std::string>("optimizer", options.name);
  options.lr = read.number("lr", options.lr, 0, 1e3);
  options.weight_decay =
      read.number(config.effective_name({"weight_decay", "wd"}), options.weight_decay, 0, kNoLimit);
  options.decay_matrices_only = config.get("decay_matrices_only", options.decay_matrices_only);
  options.beta1 = read.number("beta1", options.beta1, 0, 1 - 1e-12);
  options.beta2 = read.number("beta2", options.beta2, 0, 1 - 1e-12);
  options.eps = read.number("eps", options.eps, 0, 1);
  options.momentum = read.number("momentum", options.momentum, 0, 1);
  options.nesterov = config.get<bool>("nesterov", options.nesterov);
  check(!options.nesterov || options.momentum > 0, ErrorKind::Usage,
        "[engine.recipe] {}: nesterov needs momentum; got momentum 0, expected e.g. 0.9.",
        config.where("nesterov"));
}

void read_schedule(const Config& config, ScheduleOptions& options) {
  const RecipeReader read(config);
  constexpr double kLeastFactor = 1e-12;
  options.name = config.get<std::string>("schedule", options.name);
  options.steps = read.count("schedule_steps", options.steps, 0);
  if (config.has("warmup")) options.warmup_steps.reset();  // a person's share, a family's steps
  // One of them: a run's settings, read again, must not say both.
  if (!options.warmup_steps) options.warmup = read.number("warmup", options.warmup, 0, 1);
  if (config.has("warmup_steps")) options.warmup_steps = read.count("warmup_steps", 0, 0);
  options.warmup_least = read.count("warmup_steps_min", options.warmup_least, 0);
  options.warmup_most = read.count("warmup_steps_max", options.warmup_most, 0);
  check(options.warmup_most == 0 || options.warmup_least <= options.warmup_most, ErrorKind::Usage,
        "[engine.recipe] {}: warmup_steps_min is above warmup_steps_max; got {} and {}.",
        config.where("warmup_steps_min"), options.warmup_least, options.warmup_most);
  options.div_factor = read.number("div_factor", options.div_factor, kLeastFactor, kNoLimit);
  options.final_div_factor =
      read.number("final_div_factor", options.final_div_factor, kLeastFactor, kNoLimit);
  options.base_momentum = read.number("base_momentum", options.base_momentum, 0, 1 - 1e-12);
  options.max_momentum = read.number("max_momentum", options.max_momentum, 0, 1 - 1e-12);
  options.cycle_momentum = config.get<bool>("cycle_momentum", options.cycle_momentum);
  options.floor =
      read.number(config.effective_name({"lr_floor", "lr_min_ratio"}), options.floor, 0, 1);
  options.factor = read.number("plateau_factor", options.factor, 0, 1);
  options.threshold = read.number("plateau_threshold", options.threshold, 0, 1);
  options.patience = read.count("plateau_patience", options.patience, 0);
  options.min_lr = read.number("min_lr", options.min_lr, 0, kNoLimit);
}

/// "ema: 0.999", or "ema: true" with ema_rate beside it.
double read_ema(const Config& config, double fallback) {
  const RecipeReader read(config);
  constexpr double kUsual = 0.999, kMost = 1 - 1e-12;
  const auto rate = read.number("ema_rate", fallback > 0 ? fallback : kUsual, 0, kMost);
  const auto word = lowercase(config.get<std::string>("ema", ""));
  if (word == "true" || word == "false") return word == "true" ? rate : 0;
  if (word.empty() && config.has("ema_rate")) return fallback > 0 ? rate : 0;
  const auto decay = read.number("ema", fallback, 0, kMost);
  const bool overruled =
      config.has("ema_rate") && config.where("ema_rate") == "flag" && config.where("ema") != "flag";
  return overruled && decay > 0 ? rate : decay;
}

}  // namespace

std::vector<std::string> doubts_about(const Recipe& recipe, std::int64_t updates) {
  std::vector<std::string> doubts;
  const auto rises = recipe.schedule.warmup_steps.value_or(0);
  if (rises > 1 && rises >= updates && recipe.schedule.name != "onecycle") {
    doubts.push_back(fmt::format(
        "[engine.train] the learning rate still rises when the run ends: {} updates of "
        "warm-up, {} in all. Fewer of them, a share (--warmup 0.1) or more epochs help.",
        rises, updates));
  }
  const auto first = std::pow(recipe.ema_decay, static_cast<double>(updates));
  if (recipe.ema_decay > 0 && first > 0.5) {
    doubts.push_back(
        fmt::format("[engine.train] averages with a decay of {} are still {:.0f} % of the first "
                    "weights after {} updates, and these averages are what is validated and saved. "
                    "A smaller --ema (0 for none) or more epochs help.",
                    recipe.ema_decay, 100 * first, updates));
  }
  return doubts;
}

bool higher_is_better(std::string_view score) { return !score.ends_with("loss"); }

Recipe read_recipe(const Config& config, const Recipe& defaults) {
  Recipe recipe = defaults;
  const RecipeReader read(config);
  recipe.epochs = read.count("epochs", recipe.epochs, 1);
  recipe.max_steps = read.count("max_steps", recipe.max_steps, 0);
  read_optimizer(config, recipe.optimizer);
  read_schedule(config, recipe.schedule);
  recipe.clip_norm = read.number(config.effective_name({"clip_norm", "grad_clip_norm"}),
                                 recipe.clip_norm, 0, kNoLimit);
  recipe.ema_decay = read_ema(config, recipe.ema_decay);
  recipe.watch = config.get<std::string>("watch", recipe.watch);
  if (recipe.watch != defaults.watch) recipe.watch_higher = higher_is_better(recipe.watch);
  recipe.watch_higher = config.get<bool>("watch_higher", recipe.watch_higher);
  recipe.min_delta = read.number("min_delta", recipe.min_delta, 0, kNoLimit);
  recipe.patience = read.count("patience", recipe.patience, 0);
  recipe.validate_every = read.count("validate_every", recipe.validate_every, 1);
  recipe.checkpoint_every = read.count("checkpoint_every", recipe.checkpoint_every, 0);
  recipe.checkpoint_epochs = read.count("checkpoint_epochs", recipe.checkpoint_epochs, 0);
  recipe.keep = read.count("keep", recipe.keep, 1);
  recipe.max_bad_steps = read.count("max_bad_steps", recipe.max_bad_steps, 1);
  recipe.seed =
      static_cast<std::uint64_t>(read.count("seed", static_cast<std::int64_t>(recipe.seed), 0));
  return recipe;
}

}  // namespace ubique::engine
