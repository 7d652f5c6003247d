// SPDX-License-Identifier: Apache-2.0
// One loaded model: its process, and the requests that it works on.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "ubique/base/text/json.h"
#include "ubique/serve/openai/worker_link.h"

namespace ubique::serve {

/// What a worker says about the choices of one call, in the order in which it came.
class Mailbox {
 public:
  void put(std::size_t choice, Json event);
  /// Nothing if none came in that time.
  std::optional<std::pair<std::size_t, Json>> take(std::chrono::milliseconds wait);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<std::size_t, Json>> events_;
};

class ModelWorker {
 public:
  enum class State { Loading, Ready, Gone };

  /// Starts the process. Loading goes on in it.
  explicit ModelWorker(const LinkPlan& plan);
  ~ModelWorker();
  ModelWorker(const ModelWorker&) = delete;
  ModelWorker& operator=(const ModelWorker&) = delete;

  State state() const;
  /// Until it is no longer loading or the time is over; the state.
  State wait(std::chrono::milliseconds time) const;
  Json facts() const;         ///< its first line: context, slots, memory
  std::string ended() const;  ///< how it ended, with the last error of its log

  /// Sends a request; its events go to the mailbox, as does {"event": "gone"} if the process ends
  /// first. Returns its id.
  std::string submit(Json request, std::shared_ptr<Mailbox> mailbox, std::size_t choice);
  /// Frees the slot of a request whose client is gone.
  void cancel(const std::string& id);
  std::size_t active() const;  ///< requests that have not ended

  void touch();                 ///< it is being used
  double idle_seconds() const;  ///< since it was; 0 while requests are active

 private:
  struct Waiting {
    std::shared_ptr<Mailbox> mailbox;
    std::size_t choice;
  };

  void receive(const std::string& line);
  void end(const std::string& how);

  std::filesystem::path log_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  State state_ = State::Loading;
  Json facts_;
  std::string ended_;
  std::map<std::string, Waiting> waiting_;  // by id
  std::uint64_t submitted_ = 0;
  std::chrono::steady_clock::time_point used_ = std::chrono::steady_clock::now();
  std::unique_ptr<WorkerLink> link_;  // last: its thread uses all of the above
};

}  // namespace ubique::serve
