// SPDX-License-Identifier: Apache-2.0
// Parsing --device, selecting a device, and looking up backends.
#include "ubique/device/select.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/base/scratch.h"
#include "ubique/base/error.h"
#include "ubique/device/backend.h"
#include "ubique/device/profile.h"

using namespace ubique;
using namespace ubique::device;

using test::contains;
using test::refusal_of;

TEST_CASE("device names: aliases, case and indices are understood") {
  CHECK(parse_request("auto").backend == "auto");
  CHECK(parse_request("Metal").backend == "mps");
  CHECK(parse_request("mps").backend == "mps");
  CHECK(parse_request("cuda").index == -1);
  CHECK(parse_request("cuda:3").backend == "cuda");
  CHECK(parse_request("cuda:3").index == 3);
  CHECK(parse_request("gpu").backend == "gpu");
  CHECK(parse_request("CPU").backend == "cpu");
  CHECK(parse_request("sham").backend == "sham");
}

TEST_CASE("device names: a typo gets a usage error with a suggestion") {
  const auto message = refusal_of(ErrorKind::Usage, [] { parse_request("cdua"); });
  CHECK(contains(message, "got 'cdua'"));
  CHECK(contains(message, "Did you mean 'cuda'?"));
}

TEST_CASE("device names: hardware without a backend is refused as such, not as a typo") {
  const auto tpu = refusal_of(ErrorKind::Usage, [] { parse_request("TPU"); });
  CHECK(contains(tpu, "TPUs are not supported; got 'TPU'"));
  CHECK_FALSE(contains(tpu, "Did you mean"));
  const auto rocm = refusal_of(ErrorKind::Usage, [] { parse_request("rocm:0"); });
  CHECK(contains(rocm, "AMD GPUs (ROCm) are not supported"));
}

TEST_CASE("device names: other libraries of the program are no backends") {
  const auto names = backend_names();
  for (const char* library : {"cli", "house", "house_program_cli"}) {
    CAPTURE(library);
    CHECK(std::find(names.begin(), names.end(), library) == names.end());
    CHECK(find_backend(library) == nullptr);
  }
}

TEST_CASE("device names: a bad index is a usage error") {
  for (const char* text : {"cuda:", "cuda:x", "cuda:-1", "cuda:1x", "auto:1", "gpu:0"}) {
    CAPTURE(text);
    refusal_of(ErrorKind::Usage, [&] { parse_request(text); });
  }
}

TEST_CASE("selection: the CPU is always there and is last in auto's order") {
  const auto selection = select(parse_request("cpu"));
  CHECK(selection.facts.backend == "cpu");
  CHECK(selection.torch_device.is_cpu());
  CHECK(selection.facts.budget_bytes > 0);
  CHECK_FALSE(selection.facts.budget_reason.empty());
  CHECK(survey().back().backend == "cpu");
  CHECK(survey().front().backend == "cuda");
}

TEST_CASE("selection: an index beyond the devices there are is a device error") {
  const auto message = refusal_of(ErrorKind::Device, [] { select(parse_request("cpu:4")); });
  CHECK(contains(message, "index 4 is out of range"));
}

TEST_CASE("selection: auto never picks a pretend device") {
  for (const auto& candidate : survey()) CHECK(candidate.backend != "sham");
  CHECK_FALSE(select(parse_request("auto")).facts.pretend);
}

TEST_CASE("selection: a missing device is an error with the reason, or the CPU with --fallback") {
  // Not testable on a build for Intel GPUs.
  if (select(parse_request("auto")).facts.backend == "xpu") return;
  const auto message = refusal_of(ErrorKind::Device, [] { select(parse_request("xpu")); });
  CHECK(contains(message, "xpu is not available"));
  CHECK(contains(message, "--fallback"));
  const auto selection = select(parse_request("xpu"), /*fallback=*/true);
  CHECK(selection.facts.backend == "cpu");
  CHECK(contains(selection.reason, "fallback"));
}

TEST_CASE("selection: each process of a machine takes a CUDA device of its own") {
  const auto machine = [](std::size_t cards, bool functional) {
    std::vector<Candidate> all(2);
    all[0] = {"cuda", std::vector<Facts>(cards), functional, ""};
    all[1] = {"cpu", std::vector<Facts>(1), true, ""};
    return all;
  };
  const Request any;
  CHECK(device_of_process(any, 0, 2, machine(2, true)) == "cuda:0");
  CHECK(device_of_process(any, 1, 2, machine(4, true)) == "cuda:1");
  CHECK(device_of_process(any, 0, 1, machine(4, true)).empty());
  CHECK(device_of_process(any, 1, 2, machine(1, true)).empty());  // each sees its own alone
  CHECK(device_of_process(any, 1, 2, machine(2, false)).empty());
  CHECK(device_of_process({"cuda", 3}, 1, 2, machine(4, true)).empty());
  CHECK(device_of_process({"cpu", -1}, 1, 2).empty());
  const auto message =
      refusal_of(ErrorKind::Device, [&] { device_of_process(any, 2, 3, machine(2, true)); });
  CHECK(contains(message, "more processes than CUDA devices on this machine; got 3 and 2"));
}

TEST_CASE("backends: every folder is registered, and unknown names give none") {
  for (const char* name : {"cpu", "cuda", "mps", "xpu"}) CHECK(find_backend(name) != nullptr);
  CHECK(find_backend("abacus") == nullptr);
}

TEST_CASE("datasheet rates: a detected card gets the figures of its profile, and keeps its own") {
  Facts facts;
  facts.backend = "cuda";
  facts.name = "NVIDIA H200";
  facts.memory_gbps = 4321;
  add_datasheet_rates(facts);
  CHECK(facts.tflops_half > 500);
  CHECK(facts.tflops_f32 > 50);
  CHECK(facts.memory_gbps == 4321);
  Facts unknown;
  unknown.backend = "cuda";
  unknown.name = "NVIDIA H2";  // no profile has just this name
  add_datasheet_rates(unknown);
  CHECK(unknown.tflops_half == 0);
}
