// SPDX-License-Identifier: Apache-2.0
// Rows of the table of jobs.
#include "ubique/serve/queue/job.h"

#include <algorithm>
#include <chrono>
#include <ctime>

namespace ubique::serve {

Json Progress::json() const {
  Json json = {{"stage", stage}, {"step", step}};
  json["steps"] = steps ? Json(*steps) : Json(nullptr);
  const bool known = steps && *steps > 0;
  json["fraction"] =
      known ? Json(std::clamp(static_cast<double>(step) / static_cast<double>(*steps), 0.0, 1.0))
            : Json(nullptr);
  json["eta_s"] = eta_s ? Json(*eta_s) : Json(nullptr);
  json["memory_bytes"] = memory_bytes ? Json(*memory_bytes) : Json(nullptr);
  json["note"] = note;
  return json;
}

bool Job::is_over() const {
  return state == state::kSucceeded || state == state::kFailed || state == state::kCancelled;
}

Job job_of(const Row& row) {
  Job job;
  job.id = row.number("id");
  job.request = stored_request(parse_json(row.text("request"), "a stored request"));
  job.title = row.text("title");
  job.lane = row.text("lane");
  job.state = row.text("state");
  job.stopping = row.text("stopping");
  job.waiting = row.text("waiting");
  job.priority = static_cast<int>(row.number("priority"));
  job.place = row.real("place");
  job.error_kind = row.text("error_kind");
  job.error_message = row.text("error_message");
  job.item = row.maybe_number("item");
  job.predicted_bytes = row.maybe_number("predicted");
  job.has_outcome = row.number("has_outcome") != 0;
  job.attempts = static_cast<int>(row.number("attempts"));
  job.crashes = static_cast<int>(row.number("crashes"));
  job.created = row.text("created");
  job.started = row.text("started");
  job.ended = row.text("ended");
  return job;
}

std::string time_now() {
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

}  // namespace ubique::serve
