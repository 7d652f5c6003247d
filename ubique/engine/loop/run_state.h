// SPDX-License-Identifier: Apache-2.0
// The progress of a run as plain numbers (the host's part of an exact resume), and the random
// streams of its seed.
#pragma once

#include <cstdint>
#include <optional>

#include "ubique/base/text/json_fwd.h"
#include "ubique/data/sampler.h"
#include "ubique/engine/contract/batch.h"

namespace ubique::engine {

/// Independent random streams of the run's seed (base/random.h): drawing more from one never shifts
/// another.
enum class SeedStream : std::uint64_t {
  Initialization = 1,
  Order = 2,
  Augmentation = 3,
  Torch = 4,
};

constexpr std::uint64_t number(SeedStream stream) { return static_cast<std::uint64_t>(stream); }

struct RunState {
  data::Cursor cursor;                      ///< the next update
  std::int64_t step = 0;                    ///< updates so far, skipped ones too
  std::int64_t open_updates = 0;            ///< since the last epoch was closed (validated, saved)
  double epoch_loss = 0, epoch_weight = 0;  ///< mean over those, and its weight

  double train_loss = 0;  ///< of the last closed epoch
  Scores scores, best_scores;
  std::optional<double> best;      ///< of the watched score
  std::optional<double> best_tie;  ///< its tie-break score
  std::int64_t best_epoch = -1;    ///< counted from 0
  std::int64_t better_epoch = -1;  ///< the last one that improved the watched score itself
  bool stopped_early = false;

  double seconds = 0;  ///< of all sessions so far
  std::uint64_t seed = 0;
  std::int64_t planned_batch = 0, micro_batch = 0;  ///< as planned, as used now
  std::int64_t effective_batch = 0;
  bool memory_reduced = false;  ///< after out-of-memory: micro_batch and the next two as used now
  bool checkpointing = false;
  std::int64_t segments = 0;

  std::int64_t open_epoch() const { return cursor.update == 0 ? cursor.epoch - 1 : cursor.epoch; }
};

Json to_json(const RunState& state);
/// Input error for a trainer state that lacks something or has a wrong type or impossible value.
RunState read_run_state(const Json& json);

}  // namespace ubique::engine
