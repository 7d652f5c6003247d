// SPDX-License-Identifier: Apache-2.0
// The queue: which changes a job's state allows, its order, what a restart and a kill leave.
#include "ubique/serve/queue/job_store.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <csignal>

#include "tests/base/child.h"
#include "tests/base/scratch.h"
#include "tests/serve/table.h"
#include "ubique/serve/http/message.h"
#include "ubique/serve/store/schema.h"

using namespace ubique;
using namespace ubique::serve;
using test::ScratchFolder;

namespace {

/// The queue of a folder, opened as a start of the server does.
struct Queue {
  explicit Queue(const std::filesystem::path& folder) : database(open_database(folder)) {}

  std::unique_ptr<Database> database;
  CommandTable table{test::test_rows()};
  EventLog events{*database};
  JobStore jobs{*database, events, table};

  std::int64_t add(const std::string& title = "a job", const std::string& verb = "data",
                   int priority = 0) {
    const bool data = verb == "data";
    const JobRequest request{.verb = verb,
                             .family = data ? "meshnet" : "trm",
                             .name = data ? "synth" : "",
                             .title = title,
                             .priority = priority};
    return jobs.add(request, "cpu", "").job.id;
  }
  std::string state(std::int64_t id) { return jobs.get(id).state; }
  std::vector<std::string> order() {
    std::vector<std::string> titles;
    for (const auto& job : jobs.queued("cpu")) titles.push_back(job.title);
    return titles;
  }
};

/// The status with which a change is refused, or 0.
template <typename Change>
int refused(const Change& change) {
  try {
    change();
  } catch (const ErrorAnswer& answer) {
    return answer.status;
  }
  return 0;
}

using Titles = std::vector<std::string>;

}  // namespace

TEST_CASE("queue: each state allows its own changes and refuses the others") {
  const ScratchFolder folder;
  Queue queue(folder.path());
  auto& jobs = queue.jobs;
  struct Row {
    const char* state;
    const char* cancel;  // the state after it; null: refused
    const char* pause;
    const char* resume;
    const char* retry;
    bool can_be_removed;
  };
  const std::vector<Row> rows = {
      {"queued", "cancelled", "paused", nullptr, nullptr, false},
      {"running", "running", nullptr, nullptr, nullptr, false},  // stops at its next step
      {"paused", "cancelled", nullptr, "queued", nullptr, false},
      {"succeeded", nullptr, nullptr, nullptr, nullptr, true},
      {"failed", nullptr, nullptr, nullptr, "queued", true},
      {"cancelled", nullptr, nullptr, nullptr, "queued", true}};
  const auto in_state = [&](const std::string& state) {
    const auto id = queue.add();
    if (state == "paused") jobs.pause(id);
    if (state == "cancelled") jobs.cancel(id);
    if (state == "running" || state == "succeeded" || state == "failed") jobs.start(id);
    if (state == "succeeded" || state == "failed") jobs.end(id, {.state = state});
    CHECK(queue.state(id) == state);
    return id;
  };
  using Change = Job (JobStore::*)(std::int64_t);
  const auto try_change = [&](const Row& row, Change change, const char* after) {
    const auto id = in_state(row.state);
    CHECK(refused([&] { (jobs.*change)(id); }) == (after != nullptr ? 0 : 409));
    CHECK(queue.state(id) == (after != nullptr ? after : row.state));
  };
  for (const auto& row : rows) {
    CAPTURE(row.state);
    try_change(row, &JobStore::cancel, row.cancel);
    try_change(row, &JobStore::pause, row.pause);
    try_change(row, &JobStore::resume, row.resume);
    try_change(row, &JobStore::retry, row.retry);
    const auto id = in_state(row.state);
    CHECK(refused([&] { jobs.remove(id); }) == (row.can_be_removed ? 0 : 409));
    CHECK(jobs.find(id).has_value() != row.can_be_removed);
    CHECK(jobs.start(in_state(row.state)) == (std::string(row.state) == "queued"));
  }
  CHECK(refused([&] { jobs.cancel(99999); }) == 404);
}

TEST_CASE("queue: a running training can be paused, and wishes are settled with it") {
  const ScratchFolder folder;
  Queue queue(folder.path());
  auto& jobs = queue.jobs;
  const auto training = queue.add("t", "train"), other = queue.add("o", "run");
  jobs.start(training);
  jobs.start(other);
  CHECK(jobs.pause(training).stopping == "pause");
  CHECK(refused([&] { jobs.pause(other); }) == 409);
  // Killed in the moment in which somebody asked for a stop: it stops.
  jobs.put_back(training, true);
  CHECK(queue.state(training) == "paused");
  jobs.cancel(other);
  jobs.put_back(other, false);
  CHECK(queue.state(other) == "cancelled");
}

TEST_CASE("queue: priority comes first, then the order in which they came or were put") {
  const ScratchFolder folder;
  Queue queue(folder.path());
  auto& jobs = queue.jobs;
  const auto a = queue.add("a"), b = queue.add("b"), c = queue.add("c");
  const auto urgent = queue.add("urgent", "data", 5);
  CHECK(queue.order() == Titles{"urgent", "a", "b", "c"});
  jobs.reorder(c, std::nullopt, a, std::nullopt);
  CHECK(queue.order() == Titles{"urgent", "c", "a", "b"});
  jobs.reorder(b, 9, std::nullopt, "B");
  CHECK(queue.order() == Titles{"B", "urgent", "c", "a"});
  jobs.reorder(a, std::nullopt, urgent, std::nullopt);  // takes its priority too
  CHECK(queue.order() == Titles{"B", "a", "urgent", "c"});
  CHECK(jobs.json(jobs.get(urgent))["position"] == 3);
  jobs.start(b);
  CHECK(refused([&] { jobs.reorder(a, std::nullopt, b, std::nullopt); }) == 409);
  for (int i = 0; i < 100; ++i) jobs.reorder(c, std::nullopt, urgent, std::nullopt);
  CHECK(queue.order() == Titles{"a", "c", "urgent"});
}

TEST_CASE("queue: a request that is repeated makes no second job") {
  const ScratchFolder folder;
  Queue queue(folder.path());
  const JobRequest request{.verb = "data", .family = "meshnet", .name = "synth"};
  const auto first = queue.jobs.add(request, "cpu", "key");
  const auto again = queue.jobs.add(request, "cpu", "key");
  CHECK(first.is_new);
  CHECK_FALSE(again.is_new);
  CHECK(again.job.id == first.job.id);
  CHECK(queue.jobs.add(request, "cpu", "other").is_new);
  CHECK(queue.jobs.add(request, "cpu", "").job.id != queue.jobs.add(request, "cpu", "").job.id);
}

TEST_CASE("queue: a restart finds everything as it was, and never gives an id twice") {
  const ScratchFolder folder;
  std::int64_t last = 0;
  {
    Queue queue(folder.path());
    queue.jobs.start(queue.add("running"));
    queue.jobs.pause(queue.add("paused"));
    queue.add("waiting");
    queue.jobs.hold(true);
    last = queue.add("removed");
    queue.jobs.cancel(last);
    queue.jobs.remove(last);
  }
  Queue queue(folder.path());
  CHECK(queue.jobs.held());
  CHECK(queue.order() == Titles{"waiting"});
  const auto counts = queue.jobs.counts();
  CHECK(counts.at("running") == 1);
  CHECK(counts.at("paused") == 1);
  CHECK(queue.add() > last);
}

TEST_CASE("queue: what is registered with an end stands or falls with it") {
  const ScratchFolder folder;
  Queue queue(folder.path());
  const auto id = queue.add();
  queue.jobs.start(id);
  const auto before = queue.events.last();
  CHECK_THROWS_AS(queue.jobs.end(id, {.state = "succeeded"},
                                 [] { fail(ErrorKind::Input, "[test] the disk is full"); }),
                  Error);
  CHECK(queue.state(id) == "running");
  CHECK(queue.events.last() == before);
  int registered = 0;
  queue.jobs.end(id, {.state = "succeeded"}, [&] { ++registered; });
  queue.jobs.end(id, {.state = "failed"}, [&] { ++registered; });  // it has ended already
  CHECK(registered == 1);
  CHECK(queue.state(id) == "succeeded");
}

TEST_CASE("queue: every job that was acknowledged survives kill -9, with its last event") {
  const ScratchFolder folder;
  int pipe[2];
  REQUIRE(::pipe(pipe) == 0);
  const auto child = test::start_child([&] {
    Queue queue(folder.path());
    while (true) {
      const auto id = queue.add();
      if (::write(pipe[1], &id, sizeof id) != sizeof id) return 1;
      if (id % 3 == 0) queue.jobs.start(id);
      if (id % 5 == 0) queue.jobs.cancel(id);
    }
    return 0;
  });
  ::close(pipe[1]);
  std::int64_t id = 0, acknowledged = 0;
  while (acknowledged < 60 && ::read(pipe[0], &id, sizeof id) == sizeof id) acknowledged = id;
  ::kill(child, SIGKILL);
  while (::read(pipe[0], &id, sizeof id) == sizeof id) acknowledged = id;
  ::close(pipe[0]);
  CHECK(WTERMSIG(test::wait_for(child)) == SIGKILL);

  Queue queue(folder.path());
  for (std::int64_t i = 1; i <= acknowledged; ++i) REQUIRE(queue.jobs.find(i));
  std::map<std::string, std::string> told;
  for (const auto& event : queue.events.after(0, 100000)) {
    const auto job = Json::parse(event.data);
    told[job["id"].get<std::string>()] = job["state"].get<std::string>();
  }
  for (const auto& job : queue.jobs.list({.most = 100000})) {
    CHECK(told[std::to_string(job.id)] == job.state);
  }
  CHECK(queue.database->row("PRAGMA integrity_check")->text("integrity_check") == "ok");
}

TEST_CASE("events: are numbered without gaps, and the oldest go") {
  const ScratchFolder folder;
  Queue queue(folder.path());
  auto& events = queue.events;
  CHECK(events.last() == 0);
  CHECK(events.reaches_back_to(0));
  CHECK_FALSE(events.reaches_back_to(5));  // of another data folder
  {
    Transaction transaction(*queue.database);
    for (int i = 1; i <= 21000; ++i) events.append("job", {{"i", i}});
    transaction.commit();
  }
  const auto some = events.after(20000, 3);
  REQUIRE(some.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(some[i].number == 20001 + static_cast<std::int64_t>(i));
    CHECK(Json::parse(some[i].data)["i"] == some[i].number);
  }
  CHECK(events.after(20990, 100).size() == 10);
  CHECK_FALSE(events.reaches_back_to(10));
  CHECK(events.reaches_back_to(1000));
}
