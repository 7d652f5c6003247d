// SPDX-License-Identifier: Apache-2.0
// The changes of a job's state: those that people ask for, and those of the workers.
#include <fmt/format.h>

#include <algorithm>

#include "ubique/base/text/text.h"
#include "ubique/serve/http/message.h"
#include "ubique/serve/queue/job_store.h"

namespace ubique::serve {

Job JobStore::changed(std::int64_t id) {
  auto job = get(id);
  events_.append("job", json(job));
  return job;
}

Job JobStore::require(std::int64_t id, const std::vector<std::string>& states,
                      const char* what) const {
  auto job = get(id);
  if (std::ranges::find(states, job.state) == states.end()) {
    refuse(409, "conflict",
           fmt::format("[serve.job] job {} cannot be {}; it is {}, expected {}.", id, what,
                       job.state, join(states, " or ")));
  }
  return job;
}

Job JobStore::cancel(std::int64_t id) {
  Transaction transaction(database_);
  const auto job = require(id, {state::kQueued, state::kRunning, state::kPaused}, "cancelled");
  if (job.state == state::kRunning) {
    database_.run("UPDATE jobs SET stopping = 'cancel' WHERE id = ?", {id});
  } else {
    database_.run("UPDATE jobs SET state = 'cancelled', waiting = NULL, ended = ? WHERE id = ?",
                  {time_now(), id});
  }
  auto after = changed(id);
  transaction.commit();
  return after;
}

Job JobStore::pause(std::int64_t id) {
  Transaction transaction(database_);
  const auto job = require(id, {state::kQueued, state::kRunning}, "paused");
  if (!can_pause(job)) {
    refuse(
        409, "conflict",
        fmt::format("[serve.job] job {} cannot be paused while it runs: only trainings save what "
                    "they have done. It can be cancelled.",
                    id));
  }
  if (job.state == state::kRunning) {
    database_.run("UPDATE jobs SET stopping = 'pause' WHERE id = ?", {id});
  } else {
    database_.run("UPDATE jobs SET state = 'paused', waiting = NULL WHERE id = ?", {id});
  }
  auto after = changed(id);
  transaction.commit();
  return after;
}

Job JobStore::resume(std::int64_t id) {
  Transaction transaction(database_);
  require(id, {state::kPaused}, "resumed");
  database_.run("UPDATE jobs SET state = 'queued' WHERE id = ?", {id});
  auto after = changed(id);
  transaction.commit();
  return after;
}

Job JobStore::retry(std::int64_t id) {
  Transaction transaction(database_);
  const auto job = require(id, {state::kFailed, state::kCancelled}, "tried again");
  const auto last = database_.row("SELECT coalesce(max(place), 0) AS place FROM jobs");
  database_.run(
      "UPDATE jobs SET state = 'queued', stopping = NULL, crashes = 0, error_kind = NULL, "
      "error_message = NULL, outcome = NULL, predicted = NULL, ended = NULL, place = ? WHERE id = "
      "?",
      {last->real("place") + 1, job.id});
  auto after = changed(id);
  transaction.commit();
  return after;
}

Job JobStore::reorder(std::int64_t id, std::optional<int> priority,
                      std::optional<std::int64_t> before, std::optional<std::string> title) {
  Transaction transaction(database_);
  auto job = get(id);
  if (title) database_.run("UPDATE jobs SET title = ? WHERE id = ?", {*title, id});
  if (priority) {
    database_.run("UPDATE jobs SET priority = ? WHERE id = ?", {std::int64_t{*priority}, id});
  }
  if (before) {
    require(id, {state::kQueued, state::kPaused}, "moved");
    const auto next =
        require(*before, {state::kQueued, state::kPaused}, "what another is put before");
    const auto earlier = database_.row(
        "SELECT max(place) AS place FROM jobs WHERE place < ? AND id <> ?", {next.place, id});
    const double low = earlier->is_null("place") ? next.place - 2 : earlier->real("place");
    database_.run("UPDATE jobs SET place = ?, priority = ? WHERE id = ?",
                  {low + (next.place - low) / 2, std::int64_t{next.priority}, id});
  }
  auto after = changed(id);
  transaction.commit();
  return after;
}

void JobStore::remove(std::int64_t id) {
  Transaction transaction(database_);
  require(id, {state::kSucceeded, state::kFailed, state::kCancelled}, "forgotten");
  database_.run("DELETE FROM jobs WHERE id = ?", {id});
  events_.append("job", {{"id", std::to_string(id)}, {"deleted", true}});
  transaction.commit();
}

bool JobStore::held() const {
  const auto row = database_.row("SELECT value FROM settings WHERE name = 'held'");
  return row && row->text("value") == "yes";
}

void JobStore::hold(bool held) {
  database_.run("INSERT OR REPLACE INTO settings (name, value) VALUES ('held', ?)",
                {std::string(held ? "yes" : "no")});
  events_.notify();
}

bool JobStore::start(std::int64_t id) {
  Transaction transaction(database_);
  database_.run(
      "UPDATE jobs SET state = 'running', stopping = NULL, waiting = NULL, attempts = attempts + "
      "1, started = ? WHERE id = ? AND state = 'queued'",
      {time_now(), id});
  const bool started = database_.changes() == 1;
  if (started) changed(id);
  transaction.commit();
  return started;
}

void JobStore::set_waiting(std::int64_t id, const std::string& why) {
  Transaction transaction(database_);
  database_.run(
      "UPDATE jobs SET waiting = ? WHERE id = ? AND state = 'queued' AND waiting IS NOT ?",
      {why, id, why});
  if (database_.changes() == 1) changed(id);
  transaction.commit();
}

void JobStore::set_predicted(std::int64_t id, std::int64_t bytes) {
  database_.run("UPDATE jobs SET predicted = ? WHERE id = ?", {bytes, id});
}

void JobStore::put_back(std::int64_t id, bool crashed) {
  Transaction transaction(database_);
  // Somebody may have asked for a stop in the same moment.
  database_.run(
      "UPDATE jobs SET state = CASE stopping WHEN 'cancel' THEN 'cancelled' WHEN 'pause' THEN "
      "'paused' ELSE 'queued' END, ended = CASE stopping WHEN 'cancel' THEN ? END, stopping = "
      "NULL, "
      "crashes = crashes + ? WHERE id = ? AND state = 'running'",
      {time_now(), std::int64_t{crashed ? 1 : 0}, id});
  clear_progress(id);
  if (database_.changes() == 1) changed(id);
  transaction.commit();
}

void JobStore::end(std::int64_t id, const Ending& ending, const std::function<void()>& more) {
  Transaction transaction(database_);
  database_.run(
      "UPDATE jobs SET state = ?, stopping = NULL, waiting = NULL, error_kind = ?, error_message = "
      "?, outcome = coalesce(?, outcome), item = ?, ended = ? WHERE id = ? AND state = 'running'",
      {ending.state, ending.error_kind, ending.error_message, cell_of(ending.outcome),
       cell_of(ending.item), time_now(), id});
  const bool ended = database_.changes() == 1;
  clear_progress(id);
  if (ended) {
    if (more) more();
    changed(id);
  }
  transaction.commit();
}

}  // namespace ubique::serve
