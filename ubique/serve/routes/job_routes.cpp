// SPDX-License-Identifier: Apache-2.0
// /api/jobs and /api/queue.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ubique/base/error.h"
#include "ubique/base/text/json_fields.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"
#include "ubique/serve/jobs/command_line.h"
#include "ubique/serve/routes/routes.h"
#include "ubique/serve/worker/context.h"
#include "ubique/serve/worker/progress_reader.h"

namespace ubique::serve {
namespace {

constexpr std::int64_t kLogPart = 256 << 10;
constexpr std::size_t kLongestKey = 200;

Response add_job(const Request& request, Services& services) {
  const auto asked =
      read_request(request.json(), services.table,
                   {.text =
                        [&](const std::string& name, const std::string& text) {
                          return "upload:" + services.uploads.keep_text(name, text).id;
                        },
                    .folder =
                        [&](const std::vector<std::string>& references) {
                          return "upload:" + services.uploads.keep_folder(references).id;
                        }},
                   [&](const std::string& reference) { services.references.resolve(reference); });
  const auto& row = services.table.find(asked.verb, asked.family, asked.name);
  const auto again = request.header("Idempotency-Key");
  check(again.size() <= kLongestKey, ErrorKind::Usage,
        "[serve.job] the Idempotency-Key is too long.");
  const auto usual = row.needs_device ? services.usual_lane() : std::string("cpu");
  const auto added = services.jobs.add(asked, lane_of(asked, row, usual), again);
  return json_answer(services.jobs.json(added.job), added.is_new ? 201 : 200);
}

/// Each once: every number of them is a statement that the database keeps prepared.
std::vector<std::string> states_of(const std::string& text) {
  constexpr std::array<const char*, 6> kStates = {state::kQueued, state::kRunning,
                                                  state::kPaused, state::kSucceeded,
                                                  state::kFailed, state::kCancelled};
  const std::vector<std::string> known(kStates.begin(), kStates.end());
  std::vector<std::string> states;
  for (auto& name : split(text, ',')) {
    check(std::ranges::find(known, name) != known.end(), ErrorKind::Usage,
          "[serve.job] ?state=; got '{}', expected some of {}.{}", printable(name, 40),
          join(known, ", "), hint(name, known));
    if (std::ranges::find(states, name) == states.end()) states.push_back(std::move(name));
  }
  return states;
}

Response list_jobs(const Request& request, Services& services) {
  JobQuery query;
  query.states = states_of(request.asked("state"));
  query.most = request.number("limit", 100, 1, 500);
  query.before = id_of(request.asked("after"));
  auto jobs = Json::array();
  const auto found = services.jobs.list(query);
  for (const auto& job : found) jobs.push_back(services.jobs.json(job));
  const bool more = static_cast<std::int64_t>(found.size()) == query.most;
  const auto next = more ? Json(std::to_string(found.back().id)) : Json(nullptr);
  return json_answer({{"jobs", std::move(jobs)}, {"next", next}});
}

Response change_job(const Request& request, Services& services) {
  JsonFields fields(request.json(), "serve.job", "the change");
  std::optional<int> priority;
  std::optional<std::int64_t> before;
  std::optional<std::string> title;
  if (const auto json = fields.take_json("priority"); !json.is_null()) priority = priority_of(json);
  if (const auto json = fields.take_json("title"); !json.is_null()) title = json.get<std::string>();
  if (const auto json = fields.take_json("before"); !json.is_null()) {
    before = id_of(json.get<std::string>());
  }
  fields.finish();
  check(!title || title->size() <= 400, ErrorKind::Usage, "[serve.job] the title is too long.");
  const auto id = id_in_path(request, "id", "job");
  return json_answer(services.jobs.json(services.jobs.reorder(id, priority, before, title)));
}

std::filesystem::path log_of(const Job& job, Services& services) {
  const auto& row = services.table.find(job.request.verb, job.request.family, job.request.name);
  const auto kept = services.folders.result(job.id) / "log.txt";
  std::error_code ignored;
  if (std::filesystem::exists(kept, ignored)) return kept;
  return attempt_folder(services.folders, job, row) / kLogFile;
}

Response job_log(const Request& request, Services& services) {
  const auto job = services.jobs.get(id_in_path(request, "id", "job"));
  const auto part =
      read_log(log_of(job, services), request.number("from", 0, 0, 1LL << 40U), kLogPart);
  Response response;
  response.type = "text/plain; charset=utf-8";
  response.body = part.text;
  response.headers["X-Next"] = std::to_string(part.next);
  return response;
}

Response job_outcome(const Request& request, Services& services) {
  const auto id = id_in_path(request, "id", "job");
  services.jobs.get(id);
  const auto outcome = services.jobs.outcome(id);
  const auto kept = services.folders.result(id) / "outcome.json";
  std::error_code ignored;
  if (!outcome && std::filesystem::exists(kept, ignored)) {
    return file_answer(kept, "application/json", request);
  }
  if (!outcome) missing("outcome of job", std::to_string(id));
  Response response;
  response.body = *outcome + "\n";
  return response;
}

Json queue_json(Services& services) {
  Json json = {
      {"held", services.jobs.held()}, {"running", Json::array()}, {"queued", Json::array()}};
  for (const auto& job : services.jobs.list({.states = {state::kRunning}, .most = 1000})) {
    json["running"].push_back(std::to_string(job.id));
  }
  for (const auto& job : services.jobs.queued("")) json["queued"].push_back(std::to_string(job.id));
  return json;
}

/// The log of a job that left no item lies in its attempts' folders.
void remove_attempts(std::int64_t id, Services& services) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(services.folders.work, ignored)) {
    if (entry.path().filename().string().starts_with(fmt::format("{}-", id))) {
      std::filesystem::remove_all(entry.path(), ignored);
    }
  }
}

}  // namespace

void add_job_routes(Router& router, Services& services) {
  auto& jobs = services.jobs;
  router.add("GET", "/api/jobs", [&](const Request& r) { return list_jobs(r, services); });
  router.add("POST", "/api/jobs", [&](const Request& r) { return add_job(r, services); });
  router.add("GET", "/api/jobs/{id}", [&](const Request& r) {
    return json_answer(jobs.json(jobs.get(id_in_path(r, "id", "job"))));
  });
  router.add("PATCH", "/api/jobs/{id}", [&](const Request& r) { return change_job(r, services); });
  router.add("DELETE", "/api/jobs/{id}", [&](const Request& r) {
    const auto id = id_in_path(r, "id", "job");
    jobs.remove(id);
    remove_attempts(id, services);
    return json_answer({{"id", std::to_string(id)}, {"deleted", true}});
  });
  router.add("GET", "/api/jobs/{id}/log", [&](const Request& r) { return job_log(r, services); });
  router.add("GET", "/api/jobs/{id}/outcome",
             [&](const Request& r) { return job_outcome(r, services); });
  const auto add_change = [&](const char* name, Job (JobStore::*change)(std::int64_t)) {
    router.add("POST", fmt::format("/api/jobs/{{id}}/{}", name), [&jobs, change](const Request& r) {
      return json_answer(jobs.json((jobs.*change)(id_in_path(r, "id", "job"))));
    });
  };
  add_change("cancel", &JobStore::cancel);
  add_change("pause", &JobStore::pause);
  add_change("resume", &JobStore::resume);
  add_change("retry", &JobStore::retry);
  router.add("GET", "/api/queue",
             [&](const Request&) { return json_answer(queue_json(services)); });
  router.add("PATCH", "/api/queue", [&](const Request& r) {
    JsonFields fields(r.json(), "serve.queue", "the change");
    bool held = jobs.held();
    fields.take("held", held);
    fields.finish();
    jobs.hold(held);
    return json_answer(queue_json(services));
  });
}

}  // namespace ubique::serve
