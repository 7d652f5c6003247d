// SPDX-License-Identifier: Apache-2.0
// A job: a request with its state, in the form in which it is kept and told.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ubique/base/text/json.h"
#include "ubique/serve/jobs/request.h"
#include "ubique/serve/store/database.h"

namespace ubique::serve {

/// Names of states, as they are kept.
namespace state {
inline constexpr const char* kQueued = "queued";
inline constexpr const char* kRunning = "running";
inline constexpr const char* kPaused = "paused";
inline constexpr const char* kSucceeded = "succeeded";
inline constexpr const char* kFailed = "failed";
inline constexpr const char* kCancelled = "cancelled";
}  // namespace state

struct Progress {
  std::string stage = {}, note = {};
  std::int64_t step = 0;
  std::optional<std::int64_t> steps = {}, memory_bytes = {};
  std::optional<double> eta_s = {};

  Json json() const;
};

struct Job {
  std::int64_t id = 0;
  JobRequest request = {};
  std::string title = {}, lane = {}, state = {};
  std::string stopping = {}, waiting = {};  ///< empty: none
  int priority = 0;
  double place = 0;  ///< order among those of one priority
  std::string error_kind = {}, error_message = {};
  std::optional<std::int64_t> item = {}, predicted_bytes = {};
  bool has_outcome = false;
  int attempts = 0, crashes = 0;
  std::string created = {}, started = {}, ended = {};  ///< ISO times; empty: not yet

  bool is_over() const;
};

Job job_of(const Row& row);

/// "2026-11-19T01:23:45Z".
std::string time_now();

}  // namespace ubique::serve
