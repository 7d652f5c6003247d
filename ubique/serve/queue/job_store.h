// SPDX-License-Identifier: Apache-2.0
// The queue as it is kept: every change of a job's state is one transaction, with the event that
// tells about it. Progress alone is not kept: it is of the moment.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ubique/serve/jobs/commands.h"
#include "ubique/serve/queue/events.h"
#include "ubique/serve/queue/job.h"

namespace ubique::serve {

struct JobQuery {
  std::vector<std::string> states = {};  ///< empty: all
  std::int64_t before = 0;               ///< only ids below it; 0: all
  std::int64_t most = 100;
  std::string verb = {}, family = {};  ///< empty: any
};

/// How an attempt ended, as it is kept.
struct Ending {
  std::string state;
  std::string error_kind = {}, error_message = {};
  std::optional<std::string> outcome = std::nullopt;  ///< JSON
  std::optional<std::int64_t> item = std::nullopt;
};

class JobStore {
 public:
  JobStore(Database& database, EventLog& events, const CommandTable& table);

  struct Added {
    Job job;
    bool is_new = true;  ///< false: the same request came before
  };
  /// `again`: the client's word for this request, or empty.
  Added add(const JobRequest& request, const std::string& lane, const std::string& again);
  std::optional<Job> find(std::int64_t id) const;
  Job get(std::int64_t id) const;  ///< 404 if there is none
  std::vector<Job> list(const JobQuery& query) const;
  std::vector<Job> queued(const std::string& lane) const;  ///< in order; all lanes if empty
  std::optional<std::string> outcome(std::int64_t id) const;
  Json json(const Job& job) const;
  std::map<std::string, std::int64_t> counts() const;  ///< by state

  // What people ask for. 409 where the state does not allow it.
  Job cancel(std::int64_t id);
  Job pause(std::int64_t id);
  Job resume(std::int64_t id);
  Job retry(std::int64_t id);
  Job reorder(std::int64_t id, std::optional<int> priority, std::optional<std::int64_t> before,
              std::optional<std::string> title);
  void remove(std::int64_t id);
  bool held() const;
  void hold(bool held);

  // What the workers do.
  bool start(std::int64_t id);  ///< false: it is no longer queued
  void set_waiting(std::int64_t id, const std::string& why);
  void set_predicted(std::int64_t id, std::int64_t bytes);
  void put_back(std::int64_t id, bool crashed);  ///< from running into the queue, at its place
  /// `more` runs inside the transaction: it registers the item.
  void end(std::int64_t id, const Ending& ending, const std::function<void()>& more = {});

  void set_progress(std::int64_t id, const Progress& progress);
  void clear_progress(std::int64_t id);
  std::optional<Progress> progress(std::int64_t id) const;
  /// Progress that was set since `seen`, which is moved on.
  std::vector<std::pair<std::int64_t, Progress>> progress_since(std::uint64_t& seen) const;

 private:
  Job changed(std::int64_t id);  // tells about it
  Job require(std::int64_t id, const std::vector<std::string>& states, const char* what) const;
  bool can_pause(const Job& job) const;

  Database& database_;
  EventLog& events_;
  const CommandTable& table_;
  mutable std::mutex mutex_;  // of the progress
  std::map<std::int64_t, std::pair<std::uint64_t, Progress>> progress_;
  std::uint64_t progress_count_ = 0;
};

}  // namespace ubique::serve
