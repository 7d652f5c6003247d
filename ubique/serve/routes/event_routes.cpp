// SPDX-License-Identifier: Apache-2.0
// /api/events: what happened since a number, and from then on what happens.
#include <fmt/format.h>

#include <chrono>

#include "ubique/base/text/json.h"
#include "ubique/serve/routes/routes.h"

namespace ubique::serve {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr int kEventsAtOnce = 200;

/// Counts one stream for as long as it lives.
class OpenStream {
 public:
  explicit OpenStream(Figures& figures, int most) : figures_(figures) {
    if (++figures_.event_streams <= most) return;
    --figures_.event_streams;
    ++figures_.refused_streams;
    refuse(503, "limit",
           fmt::format("[serve.events] too many event streams are open; expected {} at most. Close "
                       "pages that are not needed.",
                       most));
  }
  ~OpenStream() { --figures_.event_streams; }
  OpenStream(const OpenStream&) = delete;
  OpenStream& operator=(const OpenStream&) = delete;

 private:
  Figures& figures_;
};

std::string event_text(const std::string& kind, const std::string& data, std::int64_t number) {
  const auto id = number > 0 ? fmt::format("id: {}\n", number) : std::string();
  return fmt::format("{}event: {}\ndata: {}\n\n", id, kind, data);
}

class EventWriter {
 public:
  EventWriter(Services& services, std::int64_t after, bool reset)
      : services_(services), after_(after), reset_(reset) {}

  void write(const Send& send, const std::function<bool()>& open) {
    send("retry: 1000\n: connected\n\n");
    if (reset_) send(event_text("reset", "{}", after_));
    auto seen = services_.events.changes();
    while (open()) {
      if (!send_news(send) || !tell_machine(send)) return;
      seen = services_.events.wait(seen, 500ms);
    }
  }

 private:
  /// All that is new, in order.
  bool send_news(const Send& send) {
    while (true) {
      const auto events = services_.events.after(after_, kEventsAtOnce);
      for (const auto& event : events) {
        if (!send(event_text(event.kind, event.data, event.number))) return false;
        after_ = event.number;
      }
      if (events.size() < kEventsAtOnce) break;
    }
    for (const auto& [job, progress] : services_.jobs.progress_since(progress_seen_)) {
      const Json data = {{"job", std::to_string(job)}, {"progress", progress.json()}};
      if (!send(event_text("progress", json_text(data), 0))) return false;
    }
    return true;
  }

  /// Also shows that the connection lives.
  bool tell_machine(const Send& send) {
    const auto now = Clock::now();
    if (now - told_ < 2s) return true;
    told_ = now;
    return send(event_text("machine", json_text(services_.activity.now().json()), 0));
  }

  Services& services_;
  std::int64_t after_;
  bool reset_;
  std::uint64_t progress_seen_ = 0;
  Clock::time_point told_ = {};
};

Response event_stream(const Request& request, Services& services) {
  auto given = request.header("Last-Event-ID");
  if (given.empty()) given = request.asked("after");
  auto after = services.events.last();
  bool reset = false;
  if (!given.empty()) {
    const auto wanted = given == "0" ? 0 : id_of(given);
    reset = (wanted == 0 && given != "0") || !services.events.reaches_back_to(wanted);
    if (!reset) after = wanted;
  }
  const auto stream = std::make_shared<OpenStream>(services.figures, services.facts.event_streams);
  const auto writer = std::make_shared<EventWriter>(services, after, reset);
  Response response;
  response.type = "text/event-stream";
  response.headers["X-Accel-Buffering"] = "no";
  response.stream = Stream{[stream, writer](const Send& send, const std::function<bool()>& open) {
    writer->write(send, open);
  }};
  return response;
}

}  // namespace

void add_event_routes(Router& router, Services& services) {
  router.add("GET", "/api/events", [&](const Request& r) {
    // A HEAD request gets no stream that nobody would read.
    if (r.method == "HEAD") return Response{.type = "text/event-stream"};
    return event_stream(r, services);
  });
}

}  // namespace ubique::serve
