// SPDX-License-Identifier: Apache-2.0
// Run folders: contents, locks, resumes, pruning; and metrics.jsonl.
#include "ubique/engine/run/run_folder.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fstream>

#include "tests/engine/checkpoint/checkpoint_samples.h"
#include "ubique/engine/run/metrics_log.h"

using namespace ubique;
using namespace ubique::engine;
using namespace ubique::test;

namespace {

namespace fs = std::filesystem;

StepRecord step_record(std::int64_t step, double loss = 0.5) {
  return {step, step / 10, loss, 1e-3, 2.5, 1, 40, 1 << 20, 1 << 21, {{"dice", 0.25}}, false};
}

EpochRecord epoch_record(std::int64_t epoch, std::int64_t step) {
  return {epoch, step, 0.4, {{"dice", 0.7}, {"avd", 2}}, 12.5, epoch == 2};
}

std::vector<Json> lines_of(const fs::path& path) {
  std::vector<Json> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(parse_json(line, "line"));
  return lines;
}

/// "s1 s2 e0": the records of the file, in order.
std::string outline_of(const fs::path& path) {
  std::string outline;
  for (const auto& line : lines_of(path)) {
    const bool step = line.at("kind") == "step";
    if (!outline.empty()) outline += ' ';
    outline += step ? 's' : 'e';
    outline += std::to_string(line.at(step ? "step" : "epoch").get<std::int64_t>());
  }
  return outline;
}

std::size_t event_files_in(const fs::path& folder) {
  const auto names = names_in(folder);
  return static_cast<std::size_t>(std::count_if(names.begin(), names.end(), [](const auto& name) {
    return name.starts_with("events.out.tfevents.");
  }));
}

}  // namespace

TEST_CASE("run folder: has all files of a run") {
  const ScratchFolder scratch;
  const auto path = scratch / "runs/first";
  RunFolder run(path, /*resume=*/false);
  run.write_configuration("lr: 0.001\n");
  plan::Plan plan;
  plan.machine = "a machine";
  run.write_plan(plan);
  run.log_step(step_record(1));
  run.log_epoch(epoch_record(0, 1));
  run.save(checkpoint_of(1), "last", 3);
  ReportContent content;
  content.title = "first";
  run.write_report(content);
  CHECK(read_file(path / "run.yaml") == "lr: 0.001\n");
  const auto plan_json = parse_json(read_file(path / "plan.json"), "plan.json");
  CHECK(plan_json.at("schema") == "ubique.run_plan");
  CHECK(plan_json.at("machine") == "a machine");
  CHECK(outline_of(path / "metrics.jsonl") == "s1 e0");
  CHECK(run.checkpoint_path("last") == path / "checkpoints/last");
  CHECK(run.load_last().value().step == 1);
  CHECK(contains(read_file(path / "report.html"), "lr: 0.001"));
  CHECK(event_files_in(path) == 1);
}

TEST_CASE("run folder: a run without checkpoints is replaced by a new one, others are refused") {
  const ScratchFolder scratch;
  const auto path = scratch / "run";
  {
    RunFolder failed(path, false);
    failed.write_configuration("lr: 0.001\n");
    failed.log_step(step_record(1));
  }
  {
    RunFolder again(path, false);
    CHECK(event_files_in(path) == 0);
    again.write_configuration("lr: 0.01\n");
    again.log_step(step_record(1));
    again.save(checkpoint_of(1), "last", 3);
  }
  CHECK(outline_of(path / "metrics.jsonl") == "s1");
  CHECK(contains(refusal_of(ErrorKind::Usage, [&] { RunFolder(path, false); }),
                 "holds a run already"));
  make_folder(scratch / "own");
  write_file(scratch / "own/run.yaml", "lr: 3\n");  // not written by a run
  CHECK(contains(refusal_of(ErrorKind::Usage, [&] { RunFolder(scratch / "own", false); }),
                 "got run.yaml in it"));
}

TEST_CASE("run folder: a line of metrics has every field") {
  const ScratchFolder folder;
  RunFolder run(folder.path(), false);
  auto record = step_record(3);
  record.loss = std::nan("");
  record.skipped = true;
  run.log_step(record);
  run.log_epoch(epoch_record(2, 3));
  const auto lines = lines_of(folder / "metrics.jsonl");
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].dump() ==
        R"({"kind":"step","step":3,"epoch":0,"loss":null,"lr":0.001,"grad_norm":2.5,"scale":1.0,)"
        R"("samples_per_second":40.0,"memory_now":1048576,"memory_peak":2097152,)"
        R"("metrics":{"dice":0.25},"skipped":true})");
  CHECK(lines[1].dump() ==
        R"({"kind":"epoch","epoch":2,"step":3,"train_loss":0.4,"scores":{"dice":0.7,"avd":2.0},)"
        R"("seconds":12.5,"best":true})");
}

TEST_CASE("run folder: a second run in it is refused, a resume is not") {
  const ScratchFolder folder;
  {
    RunFolder first(folder.path(), false);
    first.log_step(step_record(1));
    first.save(checkpoint_of(1), "last", 3);
  }
  const auto error = refusal_of(ErrorKind::Usage, [&] { RunFolder(folder.path(), false); });
  CHECK(contains(error, "Pass --resume or another -o"));
  CHECK(outline_of(folder / "metrics.jsonl") == "s1");
  RunFolder(folder.path(), true).log_step(step_record(2));
  CHECK(outline_of(folder / "metrics.jsonl") == "s1 s2");
}

TEST_CASE("run folder: a folder with other things in it is fine, and so is resuming nothing") {
  const ScratchFolder folder;
  write_file(folder / "notes.txt", "mine");
  { const RunFolder run(folder.path(), false); }
  CHECK(!RunFolder(folder / "new", true).load_last());
  CHECK(read_file(folder / "notes.txt") == "mine");
}

TEST_CASE("run folder: a file in its place is an input error") {
  const ScratchFolder folder;
  write_file(folder / "x", "");
  CHECK(contains(refusal_of(ErrorKind::Input, [&] { RunFolder(folder / "x", false); }), "x"));
}

TEST_CASE("run folder: one process at a time, and a dead process holds no lock") {
  const ScratchFolder folder;
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const auto child = start_child([&] {
    const RunFolder run(folder.path(), true);
    if (::write(ready[1], "!", 1) != 1) return 1;
    while (true) ::pause();
    return 0;
  });
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  const auto error = refusal_of(ErrorKind::Usage, [&] { RunFolder(folder.path(), true); });
  CHECK(contains(error, "process " + std::to_string(child) + " trains into it"));
  ::kill(child, SIGKILL);
  wait_for(child);
  ::close(ready[0]);
  ::close(ready[1]);
  const RunFolder run(folder.path(), true);
  CHECK(contains(refusal_of(ErrorKind::Usage, [&] { RunFolder(folder.path(), true); }),
                 "process " + std::to_string(::getpid())));
}

TEST_CASE("run folder: after a resume each step is there once") {
  const ScratchFolder folder;
  {
    RunFolder run(folder.path(), false);
    for (std::int64_t step = 1; step <= 4; ++step) run.log_step(step_record(step, 1));
    run.log_epoch(epoch_record(0, 4));
    run.save(checkpoint_of(4), "last", 3);
    for (std::int64_t step = 5; step <= 8; ++step) run.log_step(step_record(step, 1));
    run.log_epoch(epoch_record(1, 8));
  }
  {
    RunFolder run(folder.path(), true);
    CHECK(run.load_last().value().step == 4);
    CHECK(outline_of(folder / "metrics.jsonl") == "s1 s2 s3 s4 e0 s5 s6 s7 s8 e1");
    run.log_step(step_record(6, 2));  // logged every second step now
    CHECK(outline_of(folder / "metrics.jsonl") == "s1 s2 s3 s4 e0 s6");
    run.log_step(step_record(8, 2));
    run.log_epoch(epoch_record(1, 8));
  }
  CHECK(outline_of(folder / "metrics.jsonl") == "s1 s2 s3 s4 e0 s6 s8 e1");
  CHECK(lines_of(folder / "metrics.jsonl")[5].at("loss") == 2);
  CHECK(event_files_in(folder.path()) == 2);
}

/// tests/peers/tensorboard_test.py gives the folder and reads it with TensorBoard.
TEST_CASE("run folder: a killed and resumed run for TensorBoard") {
  const ScratchFolder scratch;
  const char* asked = std::getenv("UBIQUE_TEST_EVENTS");
  const fs::path folder = asked != nullptr ? asked : scratch / "run";
  {
    RunFolder run(folder, false);
    for (std::int64_t step = 1; step <= 12; ++step) run.log_step(step_record(step, 10));
    run.log_epoch(epoch_record(0, 12));
    run.save(checkpoint_of(8), "last", 1);
  }
  RunFolder run(folder, true);
  run.load_last();
  for (std::int64_t step = 9; step <= 20; ++step) {
    run.log_step(step_record(step, 1 / static_cast<double>(step)));
    if (step % 10 == 0) run.log_epoch(epoch_record(step / 10, step));
  }
  CHECK(lines_of(folder / "metrics.jsonl").size() == 22);
  CHECK(event_files_in(folder) == 2);
}

TEST_CASE("run folder: an epoch that is logged again after a resume is there once") {
  const ScratchFolder folder;
  {
    RunFolder run(folder.path(), false);
    run.log_step(step_record(4));
    run.save(checkpoint_of(4), "last", 3);
    run.log_epoch(epoch_record(0, 4));
  }
  RunFolder run(folder.path(), true);
  run.load_last();
  run.log_epoch(epoch_record(0, 4));
  CHECK(outline_of(folder / "metrics.jsonl") == "s4 e0");
}

TEST_CASE("run folder: after a resume from elsewhere, later steps are dropped when logged again") {
  const ScratchFolder folder;
  {
    RunFolder run(folder.path(), false);
    for (std::int64_t step = 1; step <= 6; ++step) run.log_step(step_record(step));
  }
  RunFolder run(folder.path(), true);
  run.log_step(step_record(3));
  CHECK(outline_of(folder / "metrics.jsonl") == "s1 s2 s3");
}

TEST_CASE("metrics: a truncated line is dropped") {
  const ScratchFolder folder;
  const auto path = folder / "metrics.jsonl";
  { MetricsLog(path).add(step_record(1)); }
  const auto good = read_file(path);
  for (const auto& rest : {std::string(R"({"kind":"step","st)"), std::string(R"({"kind":1}))")}) {
    write_file(path, good + rest);
    MetricsLog log(path);
    CHECK(log.steps().size() == 1);
    log.add(step_record(2));
    CHECK(outline_of(path) == "s1 s2");
  }
}

TEST_CASE("metrics: NaN comes back as NaN") {
  const ScratchFolder folder;
  { MetricsLog(folder / "m").add(step_record(1, std::nan(""))); }
  const MetricsLog log(folder / "m");
  REQUIRE(log.steps().size() == 1);
  CHECK(std::isnan(log.steps()[0].loss));
  CHECK((log.steps()[0].metrics == Scores{{"dice", 0.25}}));
  CHECK(log.steps()[0].memory_peak == 1 << 21);
}

TEST_CASE("metrics: a full disk leaves complete lines") {
  const ScratchFolder folder;
  const auto child = start_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    MetricsLog log(folder / "m");
    const auto error = error_of([&] {
      for (std::int64_t step = 1; step < 100; ++step) log.add(step_record(step));
    });
    return contains(error, "input: [engine.metrics] cannot write") ? 0 : 2;
  });
  const int status = wait_for(child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  const auto lines = lines_of(folder / "m");
  CHECK(lines.size() >= 2);
  CHECK(lines.back().at("step") == lines.size());
}

TEST_CASE("run folder: keeps the newest step-N checkpoints, and best and last") {
  const ScratchFolder folder;
  RunFolder run(folder.path(), false);
  run.save(checkpoint_of(5), "best", 2);
  for (const std::int64_t step : {8, 9, 10, 11}) {
    run.save(checkpoint_of(step), "step-" + std::to_string(step), 2);
    run.save(checkpoint_of(step), "last", 2);
  }
  CHECK(names_in(folder / "checkpoints") ==
        std::vector<std::string>{".last.previous", "best", "last", "step-10", "step-11"});
  SUBCASE("the one just saved is kept, even with a smaller number") {
    run.save(checkpoint_of(3), "step-3", 1);
    CHECK(names_in(folder / "checkpoints") ==
          std::vector<std::string>{".last.previous", "best", "last", "step-3"});
  }
  SUBCASE("other names with the same prefix are not removed") {
    fs::create_directory(folder / "checkpoints/step-1-mine");
    run.save(checkpoint_of(12), "step-12", 1);
    CHECK(fs::exists(folder / "checkpoints/step-1-mine"));
    CHECK(!fs::exists(folder / "checkpoints/step-11"));
  }
}
