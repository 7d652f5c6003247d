// SPDX-License-Identifier: Apache-2.0
// The state as JSON for a checkpoint, and back.
#include "ubique/engine/loop/run_state.h"

#include <cmath>
#include <limits>

#include "ubique/base/error.h"
#include "ubique/base/text/json.h"

namespace ubique::engine {
namespace {

/// JSON has no non-finite numbers: they are null, read back as NaN.
Json state_number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

double number_in_state(const Json& json) {
  return json.is_number() ? json.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

Json state_scores(const Scores& scores) {
  Json json = Json::object();
  for (const auto& [name, value] : scores) json[name] = state_number(value);
  return json;
}

Scores scores_in_state(const Json& json) {
  Scores scores;
  for (const auto& [name, value] : json.items()) scores.emplace_back(name, number_in_state(value));
  return scores;
}

}  // namespace

Json to_json(const RunState& state) {
  return {{"epoch", state.cursor.epoch},
          {"update", state.cursor.update},
          {"step", state.step},
          {"open_updates", state.open_updates},
          {"epoch_loss", state_number(state.epoch_loss)},
          {"epoch_weight", state.epoch_weight},
          {"train_loss", state_number(state.train_loss)},
          {"scores", state_scores(state.scores)},
          {"best_scores", state_scores(state.best_scores)},
          {"best", state.best ? state_number(*state.best) : Json(nullptr)},
          {"best_tie", state.best_tie ? state_number(*state.best_tie) : Json(nullptr)},
          {"best_epoch", state.best_epoch},
          {"better_epoch", state.better_epoch},
          {"stopped_early", state.stopped_early},
          {"seconds", state.seconds},
          {"seed", state.seed},
          {"planned_batch", state.planned_batch},
          {"micro_batch", state.micro_batch},
          {"effective_batch", state.effective_batch},
          {"relieved", state.memory_reduced},
          {"checkpointing", state.checkpointing},
          {"segments", state.segments}};
}

RunState read_run_state(const Json& json) {
  RunState state;
  try {
    state.cursor = {json.at("epoch"), json.at("update")};
    state.step = json.at("step");
    state.open_updates = json.at("open_updates");
    state.epoch_loss = number_in_state(json.at("epoch_loss"));
    state.epoch_weight = json.at("epoch_weight");
    state.train_loss = number_in_state(json.at("train_loss"));
    state.scores = scores_in_state(json.at("scores"));
    state.best_scores = scores_in_state(json.at("best_scores"));
    if (json.at("best").is_number()) state.best = json["best"].get<double>();
    state.best_epoch = json.at("best_epoch");
    // Checkpoints older than the tie-break score lack both keys.
    if (json.value("best_tie", Json()).is_number()) state.best_tie = json["best_tie"].get<double>();
    state.better_epoch = json.value("better_epoch", state.best_epoch);
    state.stopped_early = json.at("stopped_early");
    state.seconds = json.at("seconds");
    state.seed = json.at("seed");
    state.planned_batch = json.at("planned_batch");
    state.micro_batch = json.at("micro_batch");
    state.effective_batch = json.at("effective_batch");
    state.memory_reduced = json.at("relieved");
    state.checkpointing = json.at("checkpointing");
    state.segments = json.at("segments");
  } catch (const Json::exception& error) {
    fail(ErrorKind::Input,
         "[engine.resume] the checkpoint's trainer state cannot be read; got \"{}\". Start from it "
         "with --model instead.",
         error.what());
  }
  return state;
}

}  // namespace ubique::engine
