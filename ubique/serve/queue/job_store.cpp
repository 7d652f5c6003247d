// SPDX-License-Identifier: Apache-2.0
// Adding, finding and telling; the changes of state are in job_changes.cpp.
#include "ubique/serve/queue/job_store.h"

#include "ubique/base/error.h"
#include "ubique/base/text/text.h"
#include "ubique/serve/http/message.h"
#include "ubique/serve/jobs/command_line.h"

namespace ubique::serve {
namespace {

constexpr const char* kSelect =
    "SELECT id, request, title, lane, state, stopping, waiting, priority, place, error_kind, "
    "error_message, item, predicted, outcome IS NOT NULL AS has_outcome, attempts, crashes, "
    "created, started, ended FROM jobs ";

Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

std::vector<Job> jobs_of(const std::vector<Row>& rows) {
  std::vector<Job> jobs;
  for (const auto& row : rows) jobs.push_back(job_of(row));
  return jobs;
}

}  // namespace

JobStore::JobStore(Database& database, EventLog& events, const CommandTable& table)
    : database_(database), events_(events), table_(table) {}

JobStore::Added JobStore::add(const JobRequest& request, const std::string& lane,
                              const std::string& again) {
  Transaction transaction(database_);
  if (!again.empty()) {
    if (const auto known = database_.row("SELECT id FROM jobs WHERE again = ?", {again})) {
      return {get(known->number("id")), false};
    }
  }
  const auto last = database_.row("SELECT coalesce(max(place), 0) AS place FROM jobs");
  database_.run(
      "INSERT INTO jobs (again, verb, family, name, title, request, lane, state, priority, place, "
      "created) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {again.empty() ? Cell(nullptr) : Cell(again), request.verb, request.family, request.name,
       usual_title(request), json_text(request_json(request)), lane, std::string(state::kQueued),
       static_cast<std::int64_t>(request.priority), last->real("place") + 1, time_now()});
  auto job = changed(database_.last_id());
  transaction.commit();
  return {job, true};
}

std::optional<Job> JobStore::find(std::int64_t id) const {
  const auto row = database_.row(std::string(kSelect) + "WHERE id = ?", {id});
  return row ? std::optional(job_of(*row)) : std::nullopt;
}

Job JobStore::get(std::int64_t id) const {
  auto job = find(id);
  if (!job) missing("job", std::to_string(id));
  return *job;
}

std::vector<Job> JobStore::list(const JobQuery& query) const {
  std::string sql = std::string(kSelect) + "WHERE 1 = 1";
  std::vector<Cell> values;
  if (!query.states.empty()) {
    std::vector<std::string> marks(query.states.size(), "?");
    sql += " AND state IN (" + join(marks, ", ") + ")";
    for (const auto& name : query.states) values.emplace_back(name);
  }
  const auto add = [&](const char* condition, Cell value) {
    sql += condition;
    values.push_back(std::move(value));
  };
  if (query.before > 0) add(" AND id < ?", query.before);
  if (!query.verb.empty()) add(" AND verb = ?", query.verb);
  if (!query.family.empty()) add(" AND family = ?", query.family);
  add(" ORDER BY id DESC LIMIT ?", query.most);
  return jobs_of(database_.rows(sql, values));
}

std::vector<Job> JobStore::queued(const std::string& lane) const {
  const std::string order = " ORDER BY priority DESC, place, id";
  const std::string queued = std::string(kSelect) + "WHERE state = 'queued'";
  if (lane.empty()) return jobs_of(database_.rows(queued + order));
  return jobs_of(database_.rows(queued + " AND lane = ?" + order, {lane}));
}

std::optional<std::string> JobStore::outcome(std::int64_t id) const {
  const auto row = database_.row("SELECT outcome FROM jobs WHERE id = ?", {id});
  if (!row || row->is_null("outcome")) return std::nullopt;
  return row->text("outcome");
}

bool JobStore::can_pause(const Job& job) const {
  if (job.state == state::kQueued) return true;
  if (job.state != state::kRunning || !job.stopping.empty()) return false;
  return job.request.verb == "train";
}

Json JobStore::json(const Job& job) const {
  Json json = {{"id", std::to_string(job.id)}, {"verb", job.request.verb},
               {"family", job.request.family}, {"name", job.request.name},
               {"title", job.title},           {"request", request_json(job.request)}};
  try {
    const auto& row = table_.find(job.request.verb, job.request.family, job.request.name);
    json["command"] = shown_command(job.request, row);
  } catch (const Error&) {  // a command of an earlier version
    json["command"] = nullptr;
  }
  json["state"] = job.state;
  json["stopping"] = or_null(job.stopping);
  json["waiting"] = or_null(job.waiting);
  json["position"] = nullptr;
  if (job.state == state::kQueued) {
    const auto before = database_.row(
        "SELECT count(*) AS n FROM jobs WHERE state = 'queued' AND lane = ? AND (priority > ? OR "
        "(priority = ? AND place < ?))",
        {job.lane, std::int64_t{job.priority}, std::int64_t{job.priority}, job.place});
    json["position"] = before->number("n") + 1;
  }
  json["priority"] = job.priority;
  json["can_pause"] = can_pause(job);
  const auto now = progress(job.id);
  json["progress"] = now && job.state == state::kRunning ? now->json() : Json(nullptr);
  json["error"] = nullptr;
  if (!job.error_message.empty()) {
    json["error"] = {{"kind", job.error_kind}, {"message", job.error_message}};
  }
  json["result"] = job.item ? Json(std::to_string(*job.item)) : Json(nullptr);
  json["has_outcome"] = job.has_outcome;
  json["attempts"] = job.attempts;
  json["predicted_bytes"] = job.predicted_bytes ? Json(*job.predicted_bytes) : Json(nullptr);
  json["created"] = job.created;
  json["started"] = or_null(job.started);
  json["ended"] = or_null(job.ended);
  return json;
}

std::map<std::string, std::int64_t> JobStore::counts() const {
  std::map<std::string, std::int64_t> counts;
  for (const auto* name : {state::kQueued, state::kRunning, state::kPaused, state::kSucceeded,
                           state::kFailed, state::kCancelled}) {
    counts[name] = 0;
  }
  for (const auto& row : database_.rows("SELECT state, count(*) AS n FROM jobs GROUP BY state")) {
    counts[row.text("state")] = row.number("n");
  }
  return counts;
}

void JobStore::set_progress(std::int64_t id, const Progress& progress) {
  {
    const std::lock_guard lock(mutex_);
    progress_[id] = {++progress_count_, progress};
  }
  events_.notify();
}

void JobStore::clear_progress(std::int64_t id) {
  const std::lock_guard lock(mutex_);
  progress_.erase(id);
}

std::optional<Progress> JobStore::progress(std::int64_t id) const {
  const std::lock_guard lock(mutex_);
  const auto found = progress_.find(id);
  return found == progress_.end() ? std::nullopt : std::optional(found->second.second);
}

std::vector<std::pair<std::int64_t, Progress>> JobStore::progress_since(std::uint64_t& seen) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<std::int64_t, Progress>> changed;
  for (const auto& [id, entry] : progress_) {
    if (entry.first > seen) changed.emplace_back(id, entry.second);
  }
  seen = progress_count_;
  return changed;
}

}  // namespace ubique::serve
