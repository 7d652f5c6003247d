// SPDX-License-Identifier: Apache-2.0
// Profiles and the memory budget: the facts that a plan starts from.
#include "ubique/device/profile.h"

#include <algorithm>
#include <fstream>
#include <set>

#include "tests/plan/table.h"
#include "ubique/base/text/embedded.h"

using namespace ubique;
using namespace ubique::plan;

namespace {

const std::string kMine =
    "id: mine\nname: My card\nbackend: cuda\ncapability: 86\ntotal_bytes: 8GiB\ncores: 20\n";

std::string profile_error(const std::string& yaml) {
  return test::refusal_of(ErrorKind::Usage, [&] { device::read_profile(yaml, "mine.yaml"); });
}

}  // namespace

TEST_CASE("profiles: every one parses, is named like its file, and has a source for every figure") {
  const auto files = embedded::profiles();
  CHECK(files.size() >= 26);
  std::set<std::string> ids;
  for (const auto& file : files) {
    CAPTURE(file.name);
    const auto profile = device::read_profile(file.text, std::string(file.name));
    CHECK(profile.facts.profile + ".yaml" == file.name);
    CHECK(profile.unsourced.empty());
    CHECK(profile.sources.size() >= 6);
    CHECK(profile.facts.budget_bytes > 0);
    CHECK(profile.facts.budget_bytes < profile.facts.total_bytes);
    CHECK(profile.facts.has_dtype(DType::F32));
    CHECK_FALSE(profile.facts.chip.empty());
    ids.insert(profile.facts.profile);
  }
  CHECK(ids.size() == files.size());
}

TEST_CASE("profiles: all common families of machines have one") {
  const auto ids = device::profile_ids();
  CHECK(std::is_sorted(ids.begin(), ids.end()));
  for (const char* id : {"m1-8g",      "m1-pro-16g", "m2-max-32g", "m3-max-36g",     "m4-max-128g",
                         "m2-pro-16g", "rtx2060-6g", "rtx2060-8g", "rtx4060ti-16g",  "rtx4080-16g",
                         "rtx3090",    "rtx4090",    "t4",         "a100-40g",       "a100-80g",
                         "h100",       "h200",       "cpu-laptop", "cpu-server-amx", "ci-2core"}) {
    CAPTURE(id);
    CHECK(std::find(ids.begin(), ids.end(), id) != ids.end());
  }
}

TEST_CASE("profiles: facts agree with their kind") {
  for (const auto& id : device::profile_ids()) {
    CAPTURE(id);
    const auto facts = machine(id);
    if (facts.kind == device::Kind::Mps) {
      CHECK(facts.platform == "Darwin");
      CHECK(facts.recommended_bytes > 0);
      CHECK_FALSE(facts.has_dtype(DType::F64));
    }
    if (facts.kind == device::Kind::Cuda)
      CHECK(facts.has_dtype(DType::BF16) == (facts.capability >= 80));
    if (facts.kind == device::Kind::Cpu) CHECK(facts.has_instruction_set("avx2"));
  }
}

TEST_CASE("profiles: an unknown one gets a suggestion") {
  try {
    device::load_profile("m3-max-36");
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::Usage);
    CHECK(contains(error.what(), "Did you mean 'm3-max-36g'?"));
  }
}

TEST_CASE("profiles: a user's own file, with or without sources") {
  const std::string path = std::string(UBIQUE_BINARY_DIR) + "/mine.yaml";
  std::ofstream(path) << kMine << "memory_gbps: 400\nsources: {memory_gbps: measured}\n";
  const auto profile = device::load_profile(path);
  CHECK(profile.facts.profile == "mine");
  CHECK(profile.facts.capability == 86);
  CHECK(profile.sources.size() == 1);
  CHECK(profile.unsourced == std::vector<std::string>{"capability", "total_bytes", "cores"});
  CHECK(make_plan(profile.facts, {}, linear_model(), {}).dtype.value == DType::BF16);
  CHECK_THROWS_AS(device::load_profile("/no/such/machine.yaml"), Error);
}

TEST_CASE("profiles: invalid figures are refused") {
  struct Bad {
    std::string yaml;
    const char* word;
  };
  const Bad kBad[] = {
      {kMine + "memory_gps: 3\n", "Did you mean 'memory_gbps'?"},
      {kMine + "native_dtypes: [f33]\n", "unknown dtype"},
      {kMine + "memory_gbps: -1\n", "must be positive"},
      {kMine + "sources: {tflops_f32: somewhere}\n", "a figure that is not there"},
      {kMine + "recommended_bytes: 9GiB\n", "more than the memory"},
      {"id: x\nname: x\nbackend: cuda\ntotal_bytes: 8GiB\ncores: 4\n", "compute capability"},
      {"id: x\nname: x\nbackend: metal\ntotal_bytes: 8GiB\n", "unknown backend"},
      {"id: x\nname: x\nbackend: cpu\n", "total_bytes must be positive"},
      {"name: x\n", "id is missing"},
  };
  for (const auto& bad : kBad) {
    CAPTURE(bad.yaml);
    const auto message = profile_error(bad.yaml);
    CAPTURE(message);
    CHECK(contains(message, bad.word));
  }
}

TEST_CASE("budget: CUDA has its free memory less the margin, a profile its total less the margin") {
  device::Facts facts;
  facts.kind = device::Kind::Cuda;
  facts.total_bytes = std::int64_t{80} << 30;
  facts.free_bytes = std::int64_t{50} << 30;
  CHECK(device::memory_budget(facts).bytes == std::int64_t{46} << 30);  // 5 % of 80 GiB
  CHECK(contains(device::memory_budget(facts).reason, "50.0 GiB free of 80.0 GiB"));
  facts.profile = "some-card";
  CHECK(device::memory_budget(facts).bytes == std::int64_t{76} << 30);
  facts.free_bytes = std::int64_t{1} << 30;
  facts.profile.clear();
  CHECK(device::memory_budget(facts).bytes == 0);  // never negative
}

TEST_CASE("budget: small devices keep half a GiB back") {
  CHECK(device::memory_margin(std::int64_t{6} << 30) == std::int64_t{512} << 20);
  CHECK(device::memory_margin(std::int64_t{100} << 30) == std::int64_t{5} << 30);
}

TEST_CASE("budget: Apple's recommended working set, else four fifths of RAM") {
  device::Facts facts;
  facts.kind = device::Kind::Mps;
  facts.total_bytes = std::int64_t{16} << 30;
  facts.free_bytes = std::int64_t{1} << 30;  // on a Mac "free" says little
  facts.recommended_bytes = std::int64_t{10} << 30;
  CHECK(device::memory_budget(facts).bytes == (std::int64_t{10} << 30) - (std::int64_t{512} << 20));
  facts.recommended_bytes = 0;
  CHECK(device::memory_budget(facts).bytes == (std::int64_t{16} << 30) / 10 * 8);
}

TEST_CASE("budget: a CPU has the RAM that is available to this process") {
  device::Facts facts;
  facts.total_bytes = std::int64_t{4} << 30;  // a container's limit
  facts.free_bytes = std::int64_t{3} << 30;
  CHECK(device::memory_budget(facts).bytes == (std::int64_t{3} << 30) - (std::int64_t{512} << 20));
  CHECK(contains(device::memory_budget(facts).reason, "RAM"));
}
