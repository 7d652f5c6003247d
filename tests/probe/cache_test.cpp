// SPDX-License-Identifier: Apache-2.0
// The verdict cache: hits, keys, damaged files, read-only folders, crashes.
#include "ubique/probe/cache.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <fstream>

#include "tests/base/scratch.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"
#include "ubique/probe/core/crash_note.h"

using namespace ubique;
using namespace ubique::probe;
namespace fs = std::filesystem;

namespace {

const c10::Device kCacheTestDevice(c10::kCPU);

device::Facts some_facts() {
  device::Facts facts;
  facts.backend = "cuda";
  facts.name = "NVIDIA H200";
  facts.chip = "hopper";
  facts.torch_version = "2.11.0";
  facts.os_version = "Debian GNU/Linux 12";
  facts.driver = "CUDA 13.0, driver 580.159";
  return facts;
}

/// Probes that count how often each was run.
struct CountingProbes {
  explicit CountingProbes(std::vector<std::string> names) {
    for (const auto& name : names) {
      list.push_back({name, "", DType::F32, Layout::Contiguous, false, [this, name](const Site&) {
                        runs.push_back(name);
                        return judge(0.25, 0.5, "");
                      }});
    }
  }
  std::vector<Probe> list;
  std::vector<std::string> runs;
};

Report recall(const CountingProbes& probes, bool refresh = false) {
  return recall_or_run(some_facts(), kCacheTestDevice, probes.list, {}, refresh);
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("cache: a second run recalls the verdicts and runs nothing") {
  const test::ScratchFolder folder;
  const test::ScopedVariable cache("UBIQUE_CACHE_DIR", folder.path().c_str());
  CountingProbes probes({"one", "two"});
  const auto first = recall(probes);
  CHECK_FALSE(first.from_cache);
  const auto second = recall(probes);
  CHECK(second.from_cache);
  CHECK(probes.runs == Names{"one", "two"});
  REQUIRE(second.verdicts.size() == 2);
  CHECK(second.verdicts[1].op == "two");
  CHECK(second.verdicts[1].error == 0.25);
  CHECK(second.device == "NVIDIA H200");
}

TEST_CASE("cache: only missing probes are run, and refresh runs all") {
  const test::ScratchFolder folder;
  const test::ScopedVariable cache("UBIQUE_CACHE_DIR", folder.path().c_str());
  CountingProbes few({"two"}), all({"one", "two", "three"});
  recall(few);
  const auto report = recall(all);
  CHECK(all.runs == Names{"one", "three"});
  CHECK(report.verdicts.size() == 3);
  CHECK(report.verdicts[1].op == "two");
  recall(all, true);
  CHECK(all.runs == Names{"one", "three", "one", "two", "three"});
  CHECK(load_cached_report(some_facts())->verdicts.size() == 3);
}

TEST_CASE("cache: a probe that passed without being timed is run again to be timed") {
  const test::ScratchFolder folder;
  const test::ScopedVariable cache("UBIQUE_CACHE_DIR", folder.path().c_str());
  CountingProbes probes({"timed"});
  recall(probes);
  probes.list[0].timed = true;  // its verdict has no time
  recall(probes);
  CHECK(probes.runs == Names{"timed", "timed"});
  RunOptions untimed;
  untimed.timing = false;
  recall_or_run(some_facts(), kCacheTestDevice, probes.list, untimed, /*refresh=*/false);
  CHECK(probes.runs.size() == 2);
}

TEST_CASE("cache: each part of the key has its own file") {
  const test::ScopedVariable variable("UBIQUE_CACHE_DIR", "/nowhere");
  const auto base = cache_path(some_facts());
  for (auto* change : {+[](device::Facts& f) { f.torch_version = "2.12.0"; },
                       +[](device::Facts& f) { f.os_version = "macOS 26.3"; },
                       +[](device::Facts& f) { f.driver = "CUDA 13.1"; },
                       +[](device::Facts& f) { f.chip = "ampere"; },
                       +[](device::Facts& f) { f.name = "NVIDIA A100"; },
                       +[](device::Facts& f) { f.backend = "mps"; }}) {
    auto facts = some_facts();
    change(facts);
    CHECK(cache_path(facts) != base);
  }
  CHECK(base.parent_path() == fs::path("/nowhere/probes"));
  CHECK(base.filename().string().starts_with("cuda-NVIDIA-H200-"));
}

TEST_CASE("cache: a pretend device's verdicts belong to its configuration") {
  auto facts = some_facts();
  facts.backend = "sham";
  facts.pretend = true;
  const auto plain = cache_key(facts);
  const test::ScopedVariable sham("UBIQUE_SHAM", "wrong=cumsum");
  CHECK(cache_key(facts) != plain);
  const test::ScratchFolder folder;
  const auto file = (folder / "sham.yaml").string();
  write_file(file, "wrong: cumsum");
  const test::ScopedVariable by_file("UBIQUE_SHAM", ("@" + file).c_str());
  const auto before = cache_key(facts);
  write_file(file, "wrong: multinomial");
  CHECK(cache_key(facts) != before);
}

TEST_CASE("cache: a damaged file is ignored and replaced") {
  const test::ScratchFolder folder;
  const test::ScopedVariable cache("UBIQUE_CACHE_DIR", folder.path().c_str());
  const auto path = cache_path(some_facts());
  for (const char* damage :
       {"", "{\"schema", "[]", "{\"schema_version\": 99}", "{\"schema_version\": \"x\"}"}) {
    CountingProbes probes({"one"});
    fs::create_directories(path.parent_path());
    write_file(path, damage);
    CHECK_FALSE(load_cached_report(some_facts()).has_value());
    recall(probes);
    CHECK(probes.runs == Names{"one"});
    CHECK(load_cached_report(some_facts()).has_value());
  }
}

TEST_CASE("cache: verdicts of another key under the same name are not taken") {
  const test::ScratchFolder folder;
  const test::ScopedVariable cache("UBIQUE_CACHE_DIR", folder.path().c_str());
  CountingProbes probes({"one"});
  recall(probes);
  const auto path = cache_path(some_facts());
  auto document = parse_json(read_file(path), "cache");
  document["key"] = "something else";
  write_file(path, document.dump());
  CHECK_FALSE(load_cached_report(some_facts()).has_value());
}

TEST_CASE("cache: without a folder that can be written everything works, nothing is kept") {
  const test::ScratchFolder folder;
  const auto blocked = folder / "file";
  write_file(blocked, "not a folder");
  const test::ScopedVariable cache("UBIQUE_CACHE_DIR", blocked.c_str());
  CountingProbes probes({"one"});
  CHECK(recall(probes).verdicts.size() == 1);
  CHECK(recall(probes).verdicts.size() == 1);
  CHECK(probes.runs == Names{"one", "one"});
}

TEST_CASE("cache: a read-only folder is fine") {
  const test::ScratchFolder folder;
  fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
  const test::ScopedVariable cache("UBIQUE_CACHE_DIR", folder.path().c_str());
  if (std::ofstream(folder / "try")) {
    MESSAGE("skipped: this user may write to read-only folders");
    return;
  }
  CountingProbes probes({"one"});
  CHECK(recall(probes).verdicts.size() == 1);
  CHECK_FALSE(load_cached_report(some_facts()).has_value());
}

TEST_CASE("cache: probes skipped for lack of time are run again") {
  const test::ScratchFolder folder;
  const test::ScopedVariable cache("UBIQUE_CACHE_DIR", folder.path().c_str());
  CountingProbes probes({"one", "two"});
  RunOptions hurried;
  hurried.budget_seconds = 1e-9;
  const auto first = recall_or_run(some_facts(), kCacheTestDevice, probes.list, hurried, false);
  CHECK(first.verdicts[1].outcome == Outcome::Skipped);
  const auto second = recall(probes);
  CHECK(second.verdicts[1].outcome == Outcome::Pass);
}

TEST_CASE("cache: a probe that kills the process is reported as failed by the next run") {
  const test::ScratchFolder folder;
  const test::ScopedVariable cache("UBIQUE_CACHE_DIR", folder.path().c_str());
  CountingProbes probes({"one", "two"});
  auto deadly = probes.list;
  deadly[0].run = [](const Site&) -> Finding { std::abort(); };
  const auto child = ::fork();
  if (child == 0) {
    ::signal(SIGABRT, SIG_DFL);  // the test framework's own handler would report it
    REQUIRE(std::freopen((folder.path() / "said").c_str(), "w", stderr) != nullptr);
    recall_or_run(some_facts(), kCacheTestDevice, deadly, {}, false);
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGABRT);
  const auto said = read_file(folder.path() / "said");
  CHECK(test::contains(said, "crashed in the check one"));
  CHECK(test::contains(said, "Type the command again"));

  const auto report = recall(probes);
  CHECK(report.verdicts[0].outcome == Outcome::Fail);
  CHECK(report.verdicts[1].outcome == Outcome::Pass);
  CHECK(probes.runs == Names{"two"});
  CHECK(recall(probes).verdicts[0].outcome == Outcome::Fail);  // kept with the others
  CHECK(recall(probes, true).verdicts[0].outcome == Outcome::Pass);
}
