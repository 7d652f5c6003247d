// SPDX-License-Identifier: Apache-2.0
// A training by many processes, predicted: memory and bytes of each, time of an update from 1 to
// 512 of them, and from where on it pays to split the optimizer's states, gradients and weights.
// Pure, as plans are; the formulas are in docs/why/several-devices.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ubique/plan/plan.h"
#include "ubique/plan/world/exchange.h"

namespace ubique::plan {

/// How long a process computes.
struct Pace {
  double sample_ms = 0;       ///< of forward and backward pass; 0 = unknown
  double backward_share = 0;  ///< of that time
  std::string source;
  double overlap = kOverlap;  ///< share of the backward pass with gradients on their way
};

/// As measured (`samples_per_second` of one process), else from the datasheet's peak rate and the
/// share of it that this family reached where it was measured.
Pace find_pace(const Plan& plan, const Needs& needs, double samples_per_second);

/// A world of one size. Times are 0 where the pace is unknown.
struct WorldSize {
  int processes = 1;
  // The same effective batch, shared out among more: what `train` does.
  bool possible = false;  ///< there is a micro-batch for each, and it fits
  std::int64_t micro_batch = 0, accumulation = 0;
  Exchange exchange = {};
  double update_ms = 0, speed_up = 0, hidden_share = 0;
  std::int64_t memory = 0;
  // A batch that grows with them: as many samples for each as one process has alone.
  double grown_update_ms = 0, grown_efficiency = 0;
};

/// What is split among the processes, and what it does.
struct Sharding {
  std::string what;              ///< "optimizer states"
  std::int64_t state_bytes = 0;  ///< weights, gradients, optimizer on each of the world's processes
  double traffic = 1;            ///< bytes sent, beside those without sharding
  int fits_from = 0;             ///< processes from which a rank's samples fit at once, with
                                 ///< nothing computed twice; 0 = never up to 512
};

struct WorldPlan {
  Interconnect wire, link;  ///< the wire, and what the plan's library gets of it
  std::string library;      ///< "gloo"
  Pace pace;
  WorldSize world;               ///< the one that was asked about
  std::vector<WorldSize> sizes;  ///< 1, 2, 4, ... 512
  std::vector<Sharding> shardings;
  int sharding_pays_from = 0;  ///< processes; 0 = nowhere up to 512
  double could_hide = 0;       ///< share of the exchange that fits behind a backward pass
};

struct WorldWishes {
  std::string interconnect = "10gbe";
  double samples_per_second = 0;  ///< of one process, measured; 0 = not known
};

/// `plan` was made with the same facts, report, needs and wishes, for wishes.world_size processes.
WorldPlan plan_world(const device::Facts& facts, const probe::Report& report, const Needs& needs,
                     const Wishes& wishes, const Plan& plan, const WorldWishes& world);

}  // namespace ubique::plan
