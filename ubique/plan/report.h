// SPDX-License-Identifier: Apache-2.0
// Plans as text and JSON, for cli/ to print.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ubique/base/text/json.h"
#include "ubique/plan/plan.h"

namespace ubique::plan {

/// One field of a plan in a form that tables, --explain and JSON share.
struct Field {
  std::string key;   ///< "memory_format"
  std::string text;  ///< "channels_last"
  Json value;        ///< the same, typed
  std::string reason;
  std::vector<Rejected> rejected;
};
std::vector<Field> fields(const Plan& plan);

/// The result of planning for one machine: a plan, or the reason why there is none.
struct Attempt {
  std::string machine;  ///< column or row title: a profile's id, or the device's label
  std::optional<Plan> plan;
  std::string short_reason;  ///< "does not fit: needs 12.3 GiB, has 7.4 GiB"
  std::string error;         ///< the whole message
};
/// make_plan with its Device errors turned into an Attempt without a plan; others pass through.
Attempt attempt_plan(const device::Facts& facts, const probe::Report& report, const Needs& needs,
                     const Wishes& wishes);

Json to_json(const Plan& plan);
Json to_json(const Attempt& attempt);

/// Fields as rows, machines as columns: for a few machines.
std::string side_by_side(const std::vector<Attempt>& attempts);
/// One row per machine with the fields that differ most: for many.
std::string one_row_each(const std::vector<Attempt>& attempts);
/// Every field with its reason and the rejected options.
std::string explain(const Plan& plan);
/// One line for the log: "AMD EPYC (cpu), 2 threads, bf16: passed its probes, ...". Says how to get
/// f32 where half precision was chosen and not asked for.
std::string device_line(const Plan& plan, const Wishes& wishes);

}  // namespace ubique::plan
