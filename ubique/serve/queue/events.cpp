// SPDX-License-Identifier: Apache-2.0
// The table of events; the oldest are dropped.
#include "ubique/serve/queue/events.h"

#include "ubique/base/text/json.h"

namespace ubique::serve {
namespace {

constexpr std::int64_t kKeptEvents = 20000;
constexpr std::int64_t kDroppedAtOnce = 1000;

}  // namespace

void EventLog::append(const std::string& kind, const Json& data) {
  database_.run("INSERT INTO events (kind, data) VALUES (?, ?)", {kind, json_text(data)});
  const auto number = database_.last_id();
  if (number % kDroppedAtOnce == 0) {
    database_.run("DELETE FROM events WHERE seq <= ?", {number - kKeptEvents});
  }
  notify();  // who wakes now waits for the transaction to end
}

std::vector<Event> EventLog::after(std::int64_t number, int most) const {
  std::vector<Event> events;
  for (const auto& row :
       database_.rows("SELECT seq, kind, data FROM events WHERE seq > ? ORDER BY seq LIMIT ?",
                      {number, static_cast<std::int64_t>(most)})) {
    events.push_back({row.number("seq"), row.text("kind"), row.text("data")});
  }
  return events;
}

std::int64_t EventLog::last() const {
  return database_.row("SELECT coalesce(max(seq), 0) AS seq FROM events")->number("seq");
}

bool EventLog::reaches_back_to(std::int64_t number) const {
  const auto first = database_.row("SELECT min(seq) AS seq FROM events")->maybe_number("seq");
  return number <= last() && (!first || number >= *first - 1);
}

std::uint64_t EventLog::changes() const {
  const std::lock_guard lock(mutex_);
  return changes_;
}

void EventLog::notify() {
  {
    const std::lock_guard lock(mutex_);
    ++changes_;
  }
  changed_.notify_all();
}

std::uint64_t EventLog::wait(std::uint64_t seen, std::chrono::milliseconds time) const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, time, [&] { return changes_ != seen; });
  return changes_;
}

}  // namespace ubique::serve
