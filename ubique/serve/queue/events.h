// SPDX-License-Identifier: Apache-2.0
// What happened, in order and numbered: kept with the data, so that a page that lost its
// connection, or the server, misses nothing.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "ubique/base/text/json_fwd.h"
#include "ubique/serve/store/database.h"

namespace ubique::serve {

struct Event {
  std::int64_t number = 0;
  std::string kind, data;  ///< "job", its JSON on one line
};

class EventLog {
 public:
  explicit EventLog(Database& database) : database_(database) {}

  /// Inside the transaction of the change that it tells about.
  void append(const std::string& kind, const Json& data);
  std::vector<Event> after(std::int64_t number, int most) const;
  std::int64_t last() const;
  /// Events after `number` are all still kept.
  bool reaches_back_to(std::int64_t number) const;

  /// Counts whatever a stream may want to know about: events, progress.
  std::uint64_t changes() const;
  void notify();
  /// Until changes() differs from `seen` or the time is over; returns changes().
  std::uint64_t wait(std::uint64_t seen, std::chrono::milliseconds time) const;

 private:
  Database& database_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::uint64_t changes_ = 0;
};

}  // namespace ubique::serve
