// SPDX-License-Identifier: Apache-2.0
// The hyperparameters of a training: the family gives defaults, a person's configuration overrides
// them. Plain data, nothing about the device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/base/config/config.h"

namespace ubique::engine {

struct OptimizerOptions {
  std::string name = "adamw";  ///< of plan::optimizer_names(), or one that the family brings
  double lr = 1e-3;
  double weight_decay = 0;           ///< decoupled for adamw, added to the gradient for sgd
  bool decay_matrices_only = false;  ///< adamw: biases and norms have no weight decay
  double beta1 = 0.9, beta2 = 0.999;
  double eps = 1e-8;
  double momentum = 0;  ///< sgd
  bool nesterov = false;
};

struct ScheduleOptions {
  std::string name = "constant";                   ///< constant, linear, onecycle, cosine, plateau
  std::int64_t steps = 0;                          ///< its length; 0 = the whole run
  double warmup = 0;                               ///< share of all steps (onecycle: pct_start)
  std::optional<std::int64_t> warmup_steps;        ///< overrides `warmup`; not for onecycle
  std::int64_t warmup_least = 0, warmup_most = 0;  ///< steps of `warmup`; 0 = no limit
  double div_factor = 25, final_div_factor = 1e4;  ///< onecycle
  double base_momentum = 0.85, max_momentum = 0.95;  ///< onecycle cycles beta1 or momentum
  bool cycle_momentum = true;
  double floor = 0;  ///< linear, cosine: share of lr at the end
  double factor = 0.1, threshold = 1e-4;
  std::int64_t patience = 10;
  double min_lr = 0;  ///< plateau
};

struct Recipe {
  std::int64_t epochs = 50;
  std::int64_t max_steps = 0;  ///< stop after this many updates; 0 = as epochs say
  OptimizerOptions optimizer;
  ScheduleOptions schedule;
  double clip_norm = 0;  ///< 0 = no clipping
  double ema_decay = 0;  ///< 0 = no averaged weights
  std::string watch;  ///< score that decides which checkpoint is `best`; empty = the training loss
  bool watch_higher = true;            ///< is a higher one better?
  std::string watch_ties;              ///< tie-break; empty = the training loss
  double min_delta = 0;                ///< a score is better if it is so by more than this
  std::int64_t patience = 0;           ///< epochs without a better score before stopping; 0 = never
  std::int64_t validate_every = 1;     ///< epochs
  std::int64_t validate_from = 0;      ///< epochs before the first validation
  std::int64_t checkpoint_every = 0;   ///< steps between kept step-N checkpoints; 0 = none
  std::int64_t checkpoint_epochs = 0;  ///< the same in epochs
  std::int64_t keep = 3;               ///< step-N checkpoints at most
  std::int64_t max_bad_steps = 10;     ///< non-finite updates in a row before giving up
  std::uint64_t seed = 42;
};

/// Is a higher value of a score of that name the better one? Not of a loss.
bool higher_is_better(std::string_view score);

/// Keys: epochs, max_steps, optimizer, lr, weight_decay (wd),
/// decay_matrices_only, beta1, beta2, eps, momentum,
/// nesterov, schedule, schedule_steps, warmup, warmup_steps, warmup_steps_min, warmup_steps_max,
/// div_factor, final_div_factor, base_momentum, max_momentum, cycle_momentum, lr_floor (linear,
/// cosine), plateau_factor, plateau_threshold, plateau_patience, min_lr, clip_norm, ema (a decay,
/// or on with ema_rate), watch, watch_higher, min_delta, patience, validate_every,
/// checkpoint_every, checkpoint_epochs, keep, max_bad_steps, seed. A score that a person names is
/// better as its name says, unless watch_higher is given. Usage error for values that cannot be.
Recipe read_recipe(const Config& config, const Recipe& defaults);

/// Warnings about a run of few updates: a warm-up as long as the run, and averaged weights (EMA)
/// that would still be mostly the initial ones.
std::vector<std::string> doubts_about(const Recipe& recipe, std::int64_t updates);

}  // namespace ubique::engine
