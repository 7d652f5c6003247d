// SPDX-License-Identifier: Apache-2.0
// The state as JSON for a checkpoint, and back.
#include "ubique/engine/loop/run_state.h"

#include <cmath>

#include "ubique/base/text/json.h"
#include "ubique/engine/loop/state_fields.h"

namespace ubique::engine {
namespace {

/// JSON has no non-finite numbers: they are null, read back as NaN.
Json state_number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json state_scores(const Scores& scores) {
  Json json = Json::object();
  for (const auto& [name, value] : scores) json[name] = state_number(value);
  return json;
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
  const StateFields fields(json);
  RunState state;
  state.cursor = {fields.whole("epoch", 0, kMostCounted), fields.whole("update", 0, kMostCounted)};
  state.step = fields.whole("step", 0, kMostCounted);
  state.open_updates = fields.whole("open_updates", 0, kMostCounted);
  state.epoch_loss = fields.number_or_nan("epoch_loss", kLargestF32);
  state.epoch_weight = fields.number("epoch_weight", 0, kLargestF32);
  state.train_loss = fields.number_or_nan("train_loss", kLargestF32);
  state.scores = fields.scores("scores");
  state.best_scores = fields.scores("best_scores");
  state.best = fields.optional_number("best");
  state.best_epoch = fields.whole("best_epoch", -1, kMostCounted);
  // Checkpoints older than the tie-break score lack both keys.
  state.best_tie = fields.optional_number("best_tie");
  state.better_epoch = fields.has("better_epoch") ? fields.whole("better_epoch", -1, kMostCounted)
                                                  : state.best_epoch;
  state.stopped_early = fields.flag("stopped_early");
  state.seconds = fields.number("seconds", 0, kMostCounted);
  state.seed = fields.seed("seed");
  state.planned_batch = fields.whole("planned_batch", 1, kMostBatch);
  state.micro_batch = fields.whole("micro_batch", 1, kMostBatch);
  state.effective_batch = fields.whole("effective_batch", 1, kMostBatch);
  state.memory_reduced = fields.flag("relieved");
  state.checkpointing = fields.flag("checkpointing");
  state.segments = fields.whole("segments", 0, kMostBatch);
  return state;
}

}  // namespace ubique::engine
