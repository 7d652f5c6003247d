// SPDX-License-Identifier: Apache-2.0
// Damaged checkpoints: refused by file name, and a run resumes from an older one.
#include <doctest/doctest.h>
#include <fcntl.h>

#include <cstdio>

#include "checkpoint_samples.h"

using namespace ubique;
using namespace ubique::engine;
using namespace ubique::test;

namespace {

namespace fs = std::filesystem;

std::string refused_load(const fs::path& folder) {
  return refusal_of(ErrorKind::Input, [&] { load_checkpoint(folder); });
}

/// What `code` writes to the log.
std::string logged_by(const std::function<void()>& code) {
  const ScratchFolder folder;
  const auto path = folder / "log";
  const int kept = ::dup(STDERR_FILENO);
  const int log = ::open(path.c_str(), O_WRONLY | O_CREAT, 0600);
  REQUIRE(log >= 0);
  ::dup2(log, STDERR_FILENO);
  code();
  std::fflush(stderr);
  ::dup2(kept, STDERR_FILENO);
  ::close(kept);
  ::close(log);
  return read_file(path);
}

}  // namespace

TEST_CASE("checkpoint: one flipped bit is detected, in any file") {
  const ScratchFolder folder;
  save_checkpoint(folder / "x", checkpoint_of(5));
  for (const std::string name : {"model.safetensors", "trainer.safetensors", "checkpoint.json"}) {
    const auto path = folder / ("x/" + name);
    const auto good = read_file(path);
    const std::size_t stride = name == "checkpoint.json" ? 1 : 7;
    for (std::size_t byte = 0; byte < good.size(); byte += stride) {
      flip_bit(path, byte, static_cast<int>(byte % 8));
      CAPTURE(name);
      CAPTURE(byte);
      CHECK(contains(refused_load(folder / "x"), name));
      damage_file(path, good);
    }
  }
  CHECK(is_whole(load_checkpoint(folder / "x")));
}

TEST_CASE("checkpoint: a truncated, longer or missing file is refused by name") {
  const ScratchFolder folder;
  save_checkpoint(folder / "x", checkpoint_of(5));
  for (const std::string name : {"model.safetensors", "trainer.safetensors", "checkpoint.json"}) {
    const auto path = folder / ("x/" + name);
    const auto good = read_file(path);
    for (const auto& bad : {good.substr(0, good.size() - 1), good.substr(0, 9), std::string(),
                            good + std::string(1, '\0')}) {
      CAPTURE(name);
      CAPTURE(bad.size());
      damage_file(path, bad);
      CHECK(is_checkpoint(folder / "x"));  // ours, though damaged
      CHECK(contains(refused_load(folder / "x"), name));
    }
    fs::remove(path);
    CHECK(contains(refused_load(folder / "x"), name));
    write_file(path, good);
  }
}

TEST_CASE("checkpoint: a damaged one may be replaced") {
  const ScratchFolder folder;
  save_checkpoint(folder / "x", checkpoint_of(5));
  damage_file(folder / "x/model.safetensors", "");
  damage_file(folder / "x/checkpoint.json", "");
  save_checkpoint(folder / "x", checkpoint_of(6));
  CHECK(load_checkpoint(folder / "x").step == 6);
}

TEST_CASE("load_last: nothing in a folder without checkpoints") {
  const ScratchFolder folder;
  CHECK(!load_last(folder.path()));
  CHECK(!load_last(folder / "nowhere"));
}

TEST_CASE("load_last: falls back step by step and says why") {
  const ScratchFolder folder;
  const auto at = [&](const std::string& name) { return folder / ("checkpoints/" + name); };
  save_checkpoint(at("step-10"), checkpoint_of(10));
  save_checkpoint(at("best"), checkpoint_of(15));
  save_checkpoint(at("step-20"), checkpoint_of(20));
  save_checkpoint(at("last"), checkpoint_of(25));
  save_checkpoint(at("last"), checkpoint_of(30));
  const auto step_loaded = [&](std::string* log) {
    std::int64_t step = 0;
    *log = logged_by([&] { step = load_last(folder.path()).value().step; });
    return step;
  };
  std::string log;
  CHECK(step_loaded(&log) == 30);
  CHECK(log.empty());

  flip_bit(at("last/model.safetensors"), 600);
  CHECK(step_loaded(&log) == 25);
  CHECK(contains(log, "warning"));
  CHECK(contains(log, "last/model.safetensors is damaged"));
  CHECK(contains(log, "(step 25)"));

  damage_file(at(".last.previous/trainer.safetensors"), "");
  CHECK(step_loaded(&log) == 20);
  damage_file(at("step-20/checkpoint.json"), "{}");
  CHECK(step_loaded(&log) == 15);
  fs::remove(at("best/model.safetensors"));
  CHECK(step_loaded(&log) == 10);

  damage_file(at("step-10/model.safetensors"), "");
  const auto error = refusal_of(ErrorKind::Input, [&] { load_last(folder.path()); });
  CHECK(contains(error, "no checkpoint of"));
  for (const char* name : {"last/", ".last.previous/", "step-10/", "step-20/", "best/"}) {
    CHECK(contains(error, name));
  }
}

TEST_CASE("load_last: prefers a checkpoint that can be resumed") {
  const ScratchFolder folder;
  auto model_only = checkpoint_of(40);
  model_only.trainer.clear();
  model_only.trainer_state = nullptr;
  save_checkpoint(folder / "checkpoints/best", model_only);
  save_checkpoint(folder / "checkpoints/step-20", checkpoint_of(20));
  CHECK(load_last(folder.path()).value().step == 20);
}
