// SPDX-License-Identifier: Apache-2.0
// Workers with a shell script in place of the program: ends of all kinds, stops, kills, and what a
// server that was killed left behind.
#include "ubique/serve/worker/lanes.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>

#include "tests/base/child.h"
#include "tests/base/scratch.h"
#include "tests/serve/table.h"
#include "ubique/base/files/fault.h"
#include "ubique/base/files/file.h"
#include "ubique/serve/store/schema.h"
#include "ubique/serve/worker/progress_reader.h"

using namespace ubique;
using namespace ubique::serve;
using test::contains;
using test::ScratchFolder;

namespace {

namespace fs = std::filesystem;

/// A server without its network, whose program is a script.
struct Workshop {
  Workshop(const fs::path& folder, const std::string& script)
      : folders(folder / "data"), database(open_database(folders.root)) {
    const auto program = folder / "program";
    write_file(program, "#!/bin/sh\n" + script + "\n");
    fs::permissions(program, fs::perms::owner_all);
    context.program = program.string();
  }

  Folders folders;
  std::unique_ptr<Database> database;
  CommandTable table{test::test_rows()};
  EventLog events{*database};
  JobStore jobs{*database, events, table};
  Library library{*database, events, folders};
  Uploads uploads{*database, folders};
  Models models{*database, folders, {}, {}};
  SharedFolders shared;
  References references{uploads, library, models, shared};
  LifeLine life;
  WorkerContext context{jobs, events, library, references, table, folders, life, {}};

  std::int64_t add(const std::string& verb = "data") {
    const bool data = verb == "data";
    return jobs
        .add({.verb = verb, .family = data ? "meshnet" : "trm", .name = data ? "synth" : ""}, "cpu",
             "")
        .job.id;
  }
  /// Runs the workers until no job waits or runs (or `until` says so).
  void work(const std::function<bool()>& until = {}) {
    Lanes lanes(context);
    lanes.start();
    const auto late = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    const auto idle = [&] {
      const auto counts = jobs.counts();
      return counts.at("queued") == 0 && counts.at("running") == 0;
    };
    while (!(until ? until() : idle())) {
      REQUIRE(std::chrono::steady_clock::now() < late);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    lanes.stop();
  }
};

constexpr const char* kMakes =
    "mkdir -p out; echo made >out/result.txt; echo '{\"file\": \"out/result.txt\", \"folder\": "
    "\"out\", \"lists\": [[\"out\"], \"output\"]}'";

}  // namespace

TEST_CASE("worker: a job that succeeds becomes an item with its files, log and outcome") {
  const ScratchFolder folder;
  Workshop shop(folder.path(), std::string("echo working >&2; ") + kMakes);
  const auto id = shop.add();
  shop.work();
  const auto job = shop.jobs.get(id);
  CHECK(job.state == "succeeded");
  CHECK(job.item == id);
  CHECK(job.attempts == 1);
  const auto item = shop.library.get(id);
  CHECK(item["outcome"]["file"] == fmt::format("library:{}/result.txt", id));
  CHECK(item["outcome"]["folder"] == fmt::format("library:{}", id));
  CHECK(item["outcome"]["lists"] == Json::parse(fmt::format("[[\"library:{}\"], \"output\"]", id)));
  CHECK(item["kind"] == "data");
  CHECK(read_file(shop.library.file(id, "log.txt")) == "working\n");
  CHECK(read_file(shop.library.file(id, "result.txt")) == "made\n");
  CHECK(fs::is_empty(shop.folders.work));
}

TEST_CASE("worker: a failure keeps its kind, its message and its log") {
  const ScratchFolder folder;
  Workshop shop(folder.path(),
                "echo 'ubique: error: [scan.read] no scan; got x' >&2; echo more >&2; exit 3");
  const auto id = shop.add();
  shop.work();
  const auto job = shop.jobs.get(id);
  CHECK(job.state == "failed");
  CHECK(job.error_kind == "input");
  CHECK(job.error_message == "[scan.read] no scan; got x");
  CHECK_FALSE(job.item);
  CHECK(fs::exists(shop.folders.work / fmt::format("{}-1", id) / "log.txt"));
}

TEST_CASE("worker: a failure without a word still has a reason") {
  const ScratchFolder folder;
  Workshop shop(folder.path(), "mkdir out; echo half >out/half; exit 3");
  const auto id = shop.add();
  shop.work();
  CHECK(shop.jobs.get(id).state == "failed");
  CHECK(contains(shop.jobs.get(id).error_message, "ended with exit code 3 without a word"));
  CHECK_FALSE(fs::exists(shop.folders.work / fmt::format("{}-1", id) / "out"));
}

TEST_CASE("worker: a process whose number cannot be kept does not run on unseen") {
  if (!fs::exists("/dev/full")) return;  // a file whose disk is always full; Linux has one
  const ScratchFolder folder;
  fs::create_symlink("/dev/full", folder / kAliveFile);
  const LifeLine life;
  const ProcessPlan plan{
      {"/bin/sleep", "60"}, folder.path(), folder / "out.json", folder / "log.txt"};
  const auto start = [&] { const WorkerProcess process(plan, life); };
  CHECK(contains(test::refusal_of(ErrorKind::Input, start), "is the disk full?"));
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);  // there is no child
}

TEST_CASE("worker: one that is killed starts again, but not for ever") {
  const ScratchFolder folder;
  Workshop shop(folder.path(), "echo x >>" + (folder / "starts").string() + "; kill -9 $$");
  const auto id = shop.add();
  shop.work();
  const auto job = shop.jobs.get(id);
  CHECK(job.state == "failed");
  CHECK(contains(job.error_message, "killed 5 times, last by signal 9"));
  CHECK(read_file(folder / "starts") == "x\nx\nx\nx\nx\n");
}

TEST_CASE("worker: a running job is cancelled, or goes back into the queue when the server ends") {
  const ScratchFolder folder;
  Workshop shop(folder.path(), "exec sleep 60");
  const auto id = shop.add();
  const auto running = [&] { return shop.jobs.get(id).state == "running"; };
  shop.work(running);
  CHECK(shop.jobs.get(id).state == "queued");
  CHECK(shop.jobs.get(id).crashes == 0);
  bool asked = false;
  shop.work([&] {
    if (running() && !asked) asked = (shop.jobs.cancel(id), true);
    return shop.jobs.get(id).is_over();
  });
  CHECK(shop.jobs.get(id).state == "cancelled");
}

TEST_CASE("worker: a training that is paused keeps its folder and goes on in it") {
  const ScratchFolder folder;
  Workshop shop(folder.path(),
                "if [ -d out/checkpoints/last ]; then echo \"$@\" >out/words; exit 0; fi; "
                "mkdir -p out/checkpoints/last; exec sleep 60");
  const auto id = shop.add("train");
  const auto folder_of_run = shop.folders.work / fmt::format("{}-run", id);
  bool asked = false;
  shop.work([&] {
    const bool saved = fs::exists(folder_of_run / "out" / "checkpoints" / "last");
    if (saved && !asked) asked = (shop.jobs.pause(id), true);
    return shop.jobs.get(id).state == "paused";
  });
  shop.jobs.resume(id);
  shop.work();
  CHECK(shop.jobs.get(id).state == "succeeded");
  CHECK(contains(read_file(shop.library.file(id, "words")), "--resume"));
}

TEST_CASE("worker: killed between moving a result and registering it, a job is done once") {
  for (const auto* point :
       {"serve.publish.marked", "serve.publish.renamed", "serve.publish.registered"}) {
    CAPTURE(point);
    const ScratchFolder folder;
    const auto script = "echo x >>" + (folder / "starts").string() + "; " + std::string(kMakes);
    const auto child = test::start_child([&] {
      Workshop shop(folder.path(), script);
      shop.add();
      arm_faults(fmt::format("{}=kill", point));
      shop.work();
      return 0;
    });
    CHECK(WTERMSIG(test::wait_for(child)) == SIGKILL);
    Workshop shop(folder.path(), script);
    Lanes(shop.context).recover();
    shop.work();
    CHECK(shop.jobs.get(1).state == "succeeded");
    CHECK(shop.library.list({}).size() == 1);
    CHECK(read_file(shop.library.file(1, "result.txt")) == "made\n");
    // Only before the move there was nothing that could be kept.
    const bool again = std::string(point) == "serve.publish.marked";
    CHECK(read_file(folder / "starts") == (again ? "x\nx\n" : "x\n"));
    int ends = 0;
    for (const auto& event : shop.events.after(0, 1000)) {
      ends += event.kind == "job" && Json::parse(event.data)["state"] == "succeeded" ? 1 : 0;
    }
    CHECK(ends == 1);
  }
}

TEST_CASE("worker: a full disk holds a result back until there is room") {
  const ScratchFolder folder;
  Workshop shop(folder.path(), kMakes);
  const auto id = shop.add();
  arm_faults("serve.publish.marked:1=enospc");
  shop.work();
  arm_faults("");
  CHECK(shop.jobs.get(id).state == "succeeded");
  CHECK(shop.jobs.get(id).attempts == 1);
}

TEST_CASE("worker: a process that outlived its server is ended before its job starts again") {
  const ScratchFolder folder;
  Workshop shop(folder.path(), "true");
  const auto attempt = shop.folders.work / "7-1";
  fs::create_directories(attempt);
  fs::create_directories(shop.folders.work / "models");
  const auto child = test::start_child([&] {
    const LifeLine life;
    WorkerProcess process({{"/bin/sleep", "60"}, attempt, attempt / "out", attempt / "log"}, life);
    const auto id = process.id();
    write_file(folder / "orphan", std::to_string(id));
    ::kill(::getpid(), SIGKILL);  // without its destructor
    return 0;
  });
  test::wait_for(child);
  const auto orphan = std::stoi(read_file(folder / "orphan"));
  CHECK(::kill(orphan, 0) == 0);
  end_orphan(attempt, 10);
  // Its lock is free: it has ended, whether or not anybody has waited for it.
  std::ifstream status(fmt::format("/proc/{}/status", orphan));
  const std::string text((std::istreambuf_iterator<char>(status)), {});
  CHECK((text.empty() || contains(text, "Z (zombie)")));
  Lanes(shop.context).recover();
  CHECK_FALSE(fs::exists(attempt));  // there is no job 7
  CHECK(fs::exists(shop.folders.work / "models"));
}

TEST_CASE("worker: a job that cannot fit fails at once; one that does not fit now lets others go") {
  const ScratchFolder folder;
  Workshop shop(folder.path(), kMakes);
  std::int64_t free = 50;
  shop.context.predict = [](const Job& job) { return job.id == 1 ? 1000 : job.id == 2 ? 60 : 10; };
  shop.context.memory = [&](const std::string&) {
    return LaneMemory{.free_bytes = free, .total_bytes = 100};
  };
  for (int i = 0; i < 3; ++i) shop.add();
  shop.work([&] { return shop.jobs.get(3).is_over() && !shop.jobs.get(2).waiting.empty(); });
  CHECK(shop.jobs.get(1).state == "failed");
  CHECK(contains(shop.jobs.get(1).error_message, "does not fit on cpu"));
  CHECK(shop.jobs.get(2).state == "queued");
  CHECK(shop.jobs.get(2).waiting == "needs 60 B of memory; 50 B are free");
  CHECK(shop.jobs.get(3).state == "succeeded");
  free = 70;
  shop.work();
  CHECK(shop.jobs.get(2).state == "succeeded");
}

TEST_CASE("worker: progress is read from a growing log, and left out of what people see") {
  const ScratchFolder folder;
  const auto log = folder / "log";
  ProgressReader reader(log, 0);
  CHECK_FALSE(reader.read());
  write_file(log,
             "begin\n{\"event\":\"progress\",\"title\":\"epoch 1/3\",\"done\":2,\"total\":8,"
             "\"eta_seconds\":1.5}\n{\"event\":\"progress\",\"ti");
  const auto progress = reader.read();
  REQUIRE(progress);
  CHECK(progress->stage == "epoch 1/3");
  CHECK(progress->json()["fraction"] == 0.25);
  CHECK(progress->json()["eta_s"] == 1.5);
  CHECK_FALSE(reader.read());  // half a line says nothing yet
  const auto part = read_log(log, 0, 1000);
  CHECK(part.text == "begin\n");
  CHECK(read_log(log, part.next, 1000).text.empty());
  CHECK_FALSE(progress_of("{\"event\":\"progress\",\"done\":"));
  CHECK_FALSE(progress_of("{\"event\":\"progress\"} x"));
}
