// SPDX-License-Identifier: Apache-2.0
// Kills and full disks while a checkpoint is saved. Each happens in a child process; afterwards the
// run must have one whole checkpoint, the old or the new.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <csignal>
#include <set>

#include "checkpoint_samples.h"
#include "ubique/base/files/fault.h"
#include "ubique/engine/checkpoint/atomic_folder.h"
#include "ubique/engine/checkpoint/checkpoint_files.h"

using namespace ubique;
using namespace ubique::engine;
using namespace ubique::test;

namespace {

namespace fs = std::filesystem;
using Save = std::function<void(const fs::path&, const Checkpoint&)>;

/// Like save_checkpoint on a file system that cannot exchange two folders.
void save_by_renames(const fs::path& folder, const Checkpoint& checkpoint) {
  fs::create_directories(folder.parent_path());
  TemporaryFolder temporary(folder.parent_path());
  write_checkpoint_files(temporary.path(), checkpoint);
  temporary.publish(folder, /*keep_previous=*/folder.filename() == "last", Swap::Renames);
}

/// Saves step 3 in a child process with `faults` armed. Returns the child's exit status.
int save_under(const std::string& faults, const fs::path& run, const Save& save) {
  return wait_for(start_child([&] {
    arm_faults(faults);
    save(run / "checkpoints/last", checkpoint_of(3));
    return 0;
  }));
}

/// The step of the last checkpoint, which must be complete.
std::int64_t step_left(const fs::path& run) {
  const auto found = load_last(run);
  REQUIRE(found.has_value());
  CHECK(is_whole(*found));
  return found->step;
}

std::vector<std::string> temporaries_in(const fs::path& folder) {
  auto names = names_in(folder);
  std::erase_if(names, [](const std::string& name) { return !name.starts_with(".tmp-"); });
  return names;
}

/// Kills the third save at its first, second, ... fault point until one succeeds. Returns the steps
/// of the checkpoints that were left.
std::set<std::int64_t> kill_at_every_point(const Save& save) {
  const ScratchFolder before;
  for (const std::int64_t step : {1, 2}) save(before / "checkpoints/last", checkpoint_of(step));
  std::set<std::int64_t> left;
  for (int point = 1;; ++point) {
    REQUIRE(point < 200);
    CAPTURE(point);
    const ScratchFolder run;
    fs::copy(before.path(), run.path(), fs::copy_options::recursive);
    const int status = save_under("*:" + std::to_string(point) + "=kill", run.path(), save);
    left.insert(step_left(run.path()));
    if (WIFEXITED(status)) {
      CHECK(WEXITSTATUS(status) == 0);
      CHECK(point > 20);  // a save has at least that many fault points
      return left;
    }
    CHECK(WTERMSIG(status) == SIGKILL);
    save(run / "checkpoints/last", checkpoint_of(4));  // removes what the killed process left
    CHECK(step_left(run.path()) == 4);
    CHECK(temporaries_in(run / "checkpoints").empty());
  }
}

}  // namespace

TEST_CASE("fault: a list that cannot be read is refused, and nothing happens without one") {
  for (const char* bad : {"x", "x=explode", "x:0=kill", "x:two=kill", "=kill", ":2=kill"}) {
    CAPTURE(bad);
    CHECK(contains(refusal_of(ErrorKind::Usage, [&] { arm_faults(bad); }), "expected NAME:HIT"));
  }
  fault_point("checkpoint.rename");
}

TEST_CASE("fault: happens once, at the named pass") {
  arm_faults("a:2=throw, b=enospc");
  fault_point("a");
  CHECK(contains(refusal_of(ErrorKind::Internal, [] { fault_point("a"); }), "'a'"));
  fault_point("a");
  CHECK(contains(refusal_of(ErrorKind::Input, [] { fault_point("b"); }), "space"));
  arm_faults("");
  fault_point("b");
}

TEST_CASE("checkpoint: a kill at any point leaves the old or the new one") {
  CHECK(kill_at_every_point(save_checkpoint) == std::set<std::int64_t>{2, 3});
}

TEST_CASE("checkpoint: a kill at any point leaves one where folders cannot be exchanged") {
  CHECK(kill_at_every_point(save_by_renames) == std::set<std::int64_t>{2, 3});
}

TEST_CASE("checkpoint: one that was being replaced by renames is found under its previous name") {
  const ScratchFolder run;
  const auto best = run / "checkpoints/best";
  save_by_renames(best, checkpoint_of(1));
  const auto child = start_child([&] {
    arm_faults("checkpoint.rename:2=kill");  // the old one is renamed, the new one is not yet
    save_by_renames(best, checkpoint_of(2));
    return 0;
  });
  CHECK(WIFSIGNALED(wait_for(child)));
  CHECK(!fs::exists(best));
  CHECK(load_checkpoint(best).step == 1);
  save_by_renames(best, checkpoint_of(3));
  CHECK(load_checkpoint(best).step == 3);
  CHECK(names_in(run / "checkpoints") == std::vector<std::string>{"best"});
}

TEST_CASE("checkpoint: kill -9 at any moment leaves one whole checkpoint") {
  const ScratchFolder run;
  save_checkpoint(run / "checkpoints/last", checkpoint_of(1));
  std::int64_t newest = 1;
  for (int round = 0; round < 6; ++round) {
    const auto child = start_child([&] {
      for (std::int64_t step = newest + 1;; ++step) {
        save_checkpoint(run / "checkpoints/last", checkpoint_of(step));
      }
      return 0;
    });
    ::usleep(static_cast<useconds_t>(20'000 + 17'000 * round));
    ::kill(child, SIGKILL);
    CHECK(WIFSIGNALED(wait_for(child)));
    const auto step = step_left(run.path());
    CHECK(step >= newest);
    newest = step;
  }
}

TEST_CASE("checkpoint: a full disk at any point leaves a complete one and no temporary files") {
  const ScratchFolder before;
  save_checkpoint(before / "checkpoints/last", checkpoint_of(1));
  for (int point = 1;; ++point) {
    REQUIRE(point < 100);
    CAPTURE(point);
    const ScratchFolder run;
    const auto last = run / "checkpoints/last";
    fs::copy(before.path(), run.path(), fs::copy_options::recursive);
    arm_faults("*:" + std::to_string(point) + "=enospc");
    const auto error = error_of([&] { save_checkpoint(last, checkpoint_of(2)); });
    arm_faults("");
    CHECK(temporaries_in(run / "checkpoints").empty());
    const auto step = step_left(run.path());
    if (error == "no error") {
      CHECK(step == 2);
      break;
    }
    CHECK((step == 1 || step == 2));
    CHECK(error.starts_with("input: [engine.checkpoint] cannot save " + last.string()));
    CHECK(contains(error, "No space left on device"));
    CHECK(contains(error, " free, this checkpoint takes "));
  }
}

TEST_CASE("checkpoint: a file size limit leaves the old one and no temporary files") {
  const ScratchFolder run;
  const auto last = run / "checkpoints/last";
  save_checkpoint(last, checkpoint_of(1));
  const auto child = start_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    auto large = checkpoint_of(2);
    large.trainer.emplace_back("large", at::zeros({4096}));
    const auto error = error_of([&] { save_checkpoint(last, large); });
    return contains(error, "input: [engine.checkpoint] cannot save") ? 0 : 2;
  });
  const int status = wait_for(child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(step_left(run.path()) == 1);
  CHECK(names_in(run / "checkpoints") == std::vector<std::string>{"last"});
}

TEST_CASE("checkpoint: what another process is writing is left alone") {
  const ScratchFolder folder;
  const TemporaryFolder busy(folder.path());
  fs::create_directory(folder / ".tmp-of-a-dead-one");
  save_checkpoint(folder / "last", checkpoint_of(1));
  CHECK(fs::exists(busy.path()));
  CHECK(!fs::exists(folder / ".tmp-of-a-dead-one"));
}
