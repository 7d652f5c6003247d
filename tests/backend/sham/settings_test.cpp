// SPDX-License-Identifier: Apache-2.0
// Parsing of UBIQUE_SHAM, and its error messages.
#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>

#include "device.h"
#include "ubique/base/files/file.h"

using namespace ubique;
using namespace ubique::test;

namespace {

bool says(const std::string& settings, const std::string& part) {
  const auto message = settings_error(settings);
  INFO(message);
  return message.find(part) != std::string::npos;
}

/// A YAML file that is removed with this object.
struct TemporaryYaml {
  explicit TemporaryYaml(const std::string& text) { write_file(path, text); }
  ~TemporaryYaml() { std::filesystem::remove(path); }
  std::filesystem::path path = std::filesystem::temp_directory_path() /
                               ("ubique_sham_" + std::to_string(::getpid()) + ".yaml");
};

}  // namespace

TEST_CASE("sham settings: all keys together are understood") {
  sham_device();
  const Told told(
      "refuse=bf16, op:aten::cumsum; wrong=sdpa_causal,op:mm; fallback=aten::relu; memory=2GiB; "
      "max_buffer=1GiB; delay=0us; ledger=ops.txt");
  CHECK(error_of([&] { (void)at::ones({2}, sham_device()).cumsum(0); }) != "");
}

TEST_CASE("sham settings: misspelt words are errors that name the right one") {
  sham_device();
  CHECK(says("refsue=bf16", "Did you mean 'refuse'?"));
  CHECK(says("wrong=sdpa_casual", "Did you mean 'sdpa_causal'?"));
  CHECK(says("refuse=op:aten::cumsun", "Did you mean 'aten::cumsum'?"));
  CHECK(says("fallback=aten::rellu", "Did you mean 'aten::relu'?"));
  CHECK(says("refuse=bf61", "Did you mean 'bf16'?"));
}

TEST_CASE("sham settings: values of the wrong kind say what was expected") {
  sham_device();
  CHECK(says("memory=plenty", "expected for example 2GiB"));
  CHECK(says("memory=1GiB,2GiB", "takes one value; got 2"));
  CHECK(says("max_buffer=0", "is no size"));
  CHECK(says("delay=5", "expected for example 50us"));
  CHECK(says("delay=2h", "expected for example 50us"));
  CHECK(says("bf16", "expected KEY=VALUES"));
  CHECK(says("wrong=op:aten::linear", "made of other ops"));
  CHECK(says("wrong=op:aten::view", "computes nothing"));
}

TEST_CASE("sham settings: an error leaves the settings as they were") {
  const auto device = sham_device();
  const Told told("refuse=bf16");
  CHECK(says("memory=plenty", "[" UBIQUE_TESTED_BACKEND ".settings]"));
  CHECK(error_of([&] { (void)at::ones({2}, device).to(at::kBFloat16); }) != "");
}

TEST_CASE("sham settings: a YAML file holds the same keys") {
  const auto device = sham_device();
  const TemporaryYaml file(
      "refuse: [bf16, 'op:aten::cumsum']\nmemory: 2GiB\nwrong: [layer_norm]\n");
  for (const auto& text : {"@" + file.path.string(), file.path.string()}) {
    const Told told(text);
    CHECK(error_of([&] { (void)at::ones({2}, device).to(at::kBFloat16); }) != "");
    CHECK(error_of([&] { (void)at::ones({2}, device).cumsum(0); }) != "");
    CHECK(c10::getDeviceAllocator(device.type())->getMemoryInfo(0).second == std::size_t{2} << 30);
  }
}

TEST_CASE("sham settings: a YAML file with an unknown key or none at all is an error") {
  sham_device();
  const TemporaryYaml file("refuse: [bf16]\nmemroy: 2GiB\n");
  CHECK(says("@" + file.path.string(), "memory"));
  CHECK(says("@/no/such/file.yaml", "/no/such/file.yaml"));
}
