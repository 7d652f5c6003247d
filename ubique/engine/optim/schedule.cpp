// SPDX-License-Identifier: Apache-2.0
// constant, linear, cosine, onecycle and plateau, with linear warm-up.
#include "ubique/engine/optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "ubique/base/error.h"
#include "ubique/base/text/text.h"

namespace ubique::engine {
namespace {

/// Half a cosine from `start` (share 0) to `end` (share 1).
double cosine_between(double start, double end, double share) {
  return end + (start - end) / 2 * (1 + std::cos(std::numbers::pi * share));
}

/// Steps of a warm-up that is given as a share of all, within its limits.
double warm_up_share(const ScheduleOptions& options, std::int64_t steps) {
  auto length = options.warmup * static_cast<double>(steps);
  length = std::max(length, static_cast<double>(options.warmup_least));
  return options.warmup_most > 0 ? std::min(length, static_cast<double>(options.warmup_most))
                                 : length;
}

/// Linear warm-up to factor 1; never 0, or the first update would change nothing.
class WarmUp {
 public:
  WarmUp(const ScheduleOptions& options, std::int64_t steps)
      : length_(options.warmup_steps ? static_cast<double>(*options.warmup_steps)
                                     : warm_up_share(options, steps)),
        end_(options.warmup_steps ? length_ - 1 : length_) {}
  /// The step at which the schedule proper begins. With `warmup_steps` the last warm-up step
  /// already has the full rate.
  double end() const { return end_; }
  double factor(std::int64_t step) const {
    return std::min(1.0, static_cast<double>(step + 1) / std::max(length_, 1.0));
  }

 private:
  double length_, end_;
};

class Constant final : public Schedule {
 public:
  Constant(const Recipe& recipe, std::int64_t steps)
      : lr_(recipe.optimizer.lr), warm_up_(recipe.schedule, steps) {}
  Rates at(std::int64_t step) const override { return {lr_ * warm_up_.factor(step), {}}; }

 private:
  double lr_;
  WarmUp warm_up_;
};

class Cosine final : public Schedule {
 public:
  Cosine(const Recipe& recipe, std::int64_t steps)
      : lr_(recipe.optimizer.lr),
        floor_(lr_ * recipe.schedule.floor),
        last_(static_cast<double>(steps - 1)),
        warm_up_(recipe.schedule, steps) {}
  Rates at(std::int64_t step) const override {
    const double begin = warm_up_.end(), now = static_cast<double>(step);
    if (now < begin || last_ <= begin) return {lr_ * warm_up_.factor(step), {}};
    return {cosine_between(lr_, floor_, std::min(1.0, (now - begin) / (last_ - begin))), {}};
  }

 private:
  double lr_, floor_, last_;
  WarmUp warm_up_;
};

/// From the full rate to the floor in a straight line.
class Linear final : public Schedule {
 public:
  Linear(const Recipe& recipe, std::int64_t steps)
      : lr_(recipe.optimizer.lr),
        floor_(lr_ * recipe.schedule.floor),
        last_(static_cast<double>(steps)),
        warm_up_(recipe.schedule, steps) {}
  Rates at(std::int64_t step) const override {
    const double begin = warm_up_.end(), now = static_cast<double>(step);
    if (now < begin || last_ <= begin) return {lr_ * warm_up_.factor(step), {}};
    return {lr_ + (floor_ - lr_) * std::min(1.0, (now - begin) / (last_ - begin)), {}};
  }

 private:
  double lr_, floor_, last_;
  WarmUp warm_up_;
};

/// Rises to the full rate, then falls far below the initial one; momentum moves the opposite way
/// (Smith and Topin 2018; as in PyTorch, with a fractional end of the first phase).
class OneCycle final : public Schedule {
 public:
  OneCycle(const Recipe& recipe, std::int64_t steps)
      : options_(recipe.schedule),
        most_(recipe.optimizer.lr),
        first_(most_ / options_.div_factor),
        last_(first_ / options_.final_div_factor),
        turn_(options_.warmup * static_cast<double>(steps) - 1),
        end_(static_cast<double>(steps - 1)) {
    const bool has_momentum = recipe.optimizer.name != "sgd" || recipe.optimizer.momentum > 0;
    options_.cycle_momentum = options_.cycle_momentum && has_momentum;
  }

  Rates at(std::int64_t step) const override {
    // PyTorch has one step after the last; from there on the rate stays.
    const double now = std::min(static_cast<double>(step), end_ + 1);
    const double most = options_.max_momentum, least = options_.base_momentum;
    if (now <= turn_) {
      const double share = turn_ > 0 ? now / turn_ : 1;
      return rates(cosine_between(first_, most_, share), cosine_between(most, least, share));
    }
    const double share = end_ > turn_ ? (now - turn_) / (end_ - turn_) : 1;
    return rates(cosine_between(most_, last_, share), cosine_between(least, most, share));
  }

 private:
  Rates rates(double lr, double momentum) const {
    return {lr, options_.cycle_momentum ? std::optional<double>(momentum) : std::nullopt};
  }

  ScheduleOptions options_;
  double most_, first_, last_;  // learning rates
  double turn_, end_;           // steps
};

/// Multiplies the rate by `factor` when the watched score has not improved for `patience`
/// validations.
class Plateau final : public Schedule {
 public:
  Plateau(const Recipe& recipe, std::int64_t steps)
      : options_(recipe.schedule),
        higher_(recipe.watch_higher && !recipe.watch.empty()),
        lr_(recipe.optimizer.lr),
        warm_up_(options_, steps) {}

  Rates at(std::int64_t step) const override { return {lr_ * warm_up_.factor(step), {}}; }

  void observe(double score) override {
    if (is_better(score)) {
      best_ = score;
      waited_ = 0;
    } else if (++waited_ > options_.patience) {
      lr_ = std::max(lr_ * options_.factor, options_.min_lr);
      waited_ = 0;
    }
  }

  Json state() const override {
    return {{"lr", lr_}, {"waited", waited_}, {"best", best_ ? Json(*best_) : Json(nullptr)}};
  }
  void load(const Json& state) override {
    if (!state.is_object()) return;
    lr_ = state.value("lr", lr_);
    waited_ = state.value("waited", waited_);
    if (state.contains("best") && state["best"].is_number()) best_ = state["best"].get<double>();
  }

 private:
  bool is_better(double score) const {
    if (!best_) return !std::isnan(score);
    return higher_ ? score > *best_ * (1 + options_.threshold)
                   : score < *best_ * (1 - options_.threshold);
  }

  ScheduleOptions options_;
  bool higher_;
  double lr_;
  WarmUp warm_up_;
  std::optional<double> best_;
  std::int64_t waited_ = 0;
};

}  // namespace

std::unique_ptr<Schedule> make_schedule(const Recipe& recipe, std::int64_t steps) {
  const auto& name = recipe.schedule.name;
  if (recipe.schedule.steps > 0) steps = recipe.schedule.steps;
  if (name == "constant") return std::make_unique<Constant>(recipe, steps);
  if (name == "linear") return std::make_unique<Linear>(recipe, steps);
  if (name == "cosine") return std::make_unique<Cosine>(recipe, steps);
  if (name == "onecycle") return std::make_unique<OneCycle>(recipe, steps);
  if (name == "plateau") return std::make_unique<Plateau>(recipe, steps);
  const std::vector<std::string> names = {"constant", "linear", "cosine", "onecycle", "plateau"};
  fail(ErrorKind::Usage, "[engine.schedule] unknown schedule; got '{}', expected one of {}.{}",
       name, join(names, ", "), hint(name, names));
}

}  // namespace ubique::engine
