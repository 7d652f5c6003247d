// SPDX-License-Identifier: Apache-2.0
// Behaviour that depends on the start of the process: the environment variable, and what was loaded
// before. The cases named "child" are skipped here and run in a new process.
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/detail/MPSHooksInterface.h>
#include <doctest/doctest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>

#include "device.h"
#include "ubique/base/error.h"

using namespace ubique;
using namespace ubique::test;

namespace {

/// Runs one skipped case in a new process with its variable set.
bool passes_alone(const std::string& name, const std::string& settings) {
  const auto program = std::filesystem::read_symlink("/proc/self/exe").string();
  const auto command = fmt::format("{}='{}' '{}' --no-skip --test-case='{}' 2>&1",
                                   settings_variable(), settings, program, name);
  FILE* pipe = popen(command.c_str(), "r");
  std::string output;
  std::array<char, 4096> buffer{};
  while (const auto count = fread(buffer.data(), 1, buffer.size(), pipe)) {
    output.append(buffer.data(), count);
  }
  const int status = pclose(pipe);
  INFO(output);
  const bool ran = output.find("1 passed") != std::string::npos;
  CHECK(ran);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 && ran;
}

}  // namespace

TEST_CASE("sham: the environment variable is read when the device is asked for") {
  CHECK(passes_alone("child: settings come from the environment", "refuse=bf16; memory=2GiB"));
}

TEST_CASE("child: settings come from the environment" * doctest::skip()) {
  const auto found = sham_backend().detect();
  REQUIRE(found.devices.size() == 1);
  const auto& facts = found.devices[0];
  CHECK(facts.total_bytes == 2LL << 30);
  CHECK_FALSE(facts.has_dtype(DType::BF16));
  CHECK(facts.has_dtype(DType::F16));
}

TEST_CASE("sham: malformed settings in the environment are a Usage error") {
  CHECK(passes_alone("child: a malformed variable stops detection", "refsue=bf16"));
}

TEST_CASE("child: a malformed variable stops detection" * doctest::skip()) {
  auto& backend = sham_backend();
  try {
    backend.detect();
    FAIL("detected");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::Usage);
    CHECK(std::string(error.what()).find(settings_variable()) != std::string::npos);
  }
}

TEST_CASE("sham: its facts say that it pretends") {
  CHECK(passes_alone("child: facts of the device", ""));
}

TEST_CASE("child: facts of the device" * doctest::skip()) {
  auto& backend = sham_backend();
  CHECK(backend.auto_order() == 0);
  CHECK_FALSE(c10::impl::hasDeviceGuardImpl(c10::DeviceType::MPS));  // loading alone does nothing
  const auto found = backend.detect();
  REQUIRE(found.devices.size() == 1);
  const auto& facts = found.devices[0];
  CHECK(facts.backend == UBIQUE_TESTED_BACKEND);
  CHECK(facts.kind == device::Kind::Mps);
  CHECK(facts.pretend);
  CHECK(facts.label() == UBIQUE_TESTED_BACKEND " (pretend Metal on CPU)");
  CHECK(facts.max_tensor_bytes == 1LL << 32);
  CHECK(facts.total_bytes > facts.recommended_bytes);
  CHECK(at::hasMPS());
}

TEST_CASE("sham: beside CUDA it is refused with the reason") {
  CHECK(passes_alone("child: CUDA came first", ""));
}

TEST_CASE("child: CUDA came first" * doctest::skip()) {
  at::CUDAHooksRegistry()->Register(
      "CUDAHooks", [](at::CUDAHooksArgs) { return std::make_unique<at::CUDAHooksInterface>(); });
  const auto found = sham_backend().detect();
  CHECK(found.devices.empty());
  CHECK(found.reason.find("CUDA is loaded in this process") != std::string::npos);
  CHECK_FALSE(c10::impl::hasDeviceGuardImpl(c10::DeviceType::MPS));
}

TEST_CASE("sham: after LibTorch was asked about Metal it is refused with the reason") {
  CHECK(passes_alone("child: someone asked before", ""));
}

TEST_CASE("child: someone asked before" * doctest::skip()) {
  CHECK_FALSE(at::hasMPS());
  const auto found = sham_backend().detect();
  CHECK(found.devices.empty());
  CHECK(found.reason.find("asked about Metal before") != std::string::npos);
  CHECK_FALSE(c10::impl::hasDeviceGuardImpl(c10::DeviceType::MPS));
}
