// SPDX-License-Identifier: Apache-2.0
// Unknown keys: how they are found and what the message suggests.
#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "ubique/base/config/config.h"

using namespace ubique;
using test::contains;
using test::error_of;

namespace {
Config unknown_config(const std::string& text) {
  auto config = Config::from_text(text, "run.yaml");
  config.set_environment({});
  return config;
}
}  // namespace

TEST_CASE("unknown keys: a misspelt one is named with its line and the nearest known key") {
  const auto config = unknown_config("training:\n  steps: 1\n  learning_rat: 1e-3\n");
  const auto training = config.section("training");
  training.get("steps", 0);
  training.get("learning_rate", 0.1);
  CHECK(error_of([&] { config.finish(); }) ==
        "usage: [base.config] run.yaml:3: unknown key training.learning_rat. Did you mean "
        "'learning_rate'?");
}

TEST_CASE("unknown keys: one that is read later can be announced, and is still read") {
  const auto config = unknown_config("steps: 1\nstimuly: 2\n");
  for (const auto* key : {"steps", "stimuli"}) config.expect(key);
  CHECK(contains(error_of([&] { config.finish(); }),
                 "run.yaml:2: unknown key stimuly. Did you mean 'stimuli'?"));
  CHECK(config.resolved().empty());
  CHECK(config.get("steps", 0) == 1);
}

TEST_CASE("unknown keys: hints come from the level of the key") {
  const auto config = unknown_config("outer: {}\nstep: 1\n");
  config.section("outer").get("steps", 0);
  config.get("seed", 0);
  const auto error = error_of([&] { config.finish(); });
  CHECK(contains(error, "run.yaml:2: unknown key step."));
  CHECK_FALSE(contains(error, "steps"));
}

TEST_CASE("unknown keys: a known key at the wrong level gets a hint with its level") {
  const auto config = unknown_config("lr: 1\n");
  config.get("training.lr", 0.1);
  CHECK(contains(error_of([&] { config.finish(); }), "Did you mean 'training.lr'?"));
}

TEST_CASE("unknown keys: if no known key is near, the known ones are listed") {
  const auto config = unknown_config("zebra: 1\n");
  config.get("alpha", 0);
  config.get("omega", 0);
  CHECK(contains(error_of([&] { config.finish(); }), "Known here: alpha, omega."));
}

TEST_CASE("unknown keys: whole sections and items of lists are searched") {
  const auto config = unknown_config(
      "layers:\n  - name: a\n  - name: b\n    sise: 2\nextra:\n  deep: 1\ntags: [x, y]\n");
  for (const auto& layer : config.items("layers")) {
    layer.get<std::string>("name", "");
    layer.get("size", 0);
  }
  config.get<std::vector<std::string>>("tags", {});
  const auto error = error_of([&] { config.finish(); });
  CHECK(contains(error, "run.yaml:4: unknown key layers[1].sise. Did you mean 'size'?"));
  CHECK(contains(error, "Also unknown: extra (run.yaml:5)."));
  CHECK_FALSE(contains(error, "tags"));
}

TEST_CASE("unknown keys: opening a section does not count as reading its keys") {
  const auto config = unknown_config("a:\n  b: 1\nlist:\n  - c: 1\n");
  config.section("a");
  config.items("list");
  const auto error = error_of([&] { config.finish(); });
  CHECK(contains(error, "unknown key a.b."));
  CHECK(contains(error, "list[0].c (run.yaml:4)"));
}

TEST_CASE("unknown keys: a flag that was never read is one too") {
  auto config = unknown_config("a: 1\n");
  config.set_flag("a", "2");
  config.set_flag("training.sede", "3");
  config.get("a", 0);
  config.section("training").get("seed", 0);
  CHECK(error_of([&] { config.finish(); }) ==
        "usage: [base.config] flag: unknown key training.sede. Did you mean 'training.seed'?");
}

TEST_CASE("unknown keys: other environment variables are not reported") {
  auto config = unknown_config("");
  config.set_environment({{"UBIQUE_OTHER", "1"}});
  CHECK(error_of([&] { config.finish(); }) == "no error");
}

TEST_CASE("unknown keys: an ignored key may hold anything, in the file and as a flag") {
  auto config = Config::from_text("defaults:\n  - arch: x\n  - _self_\na:\n  b: 1\n  c: 2\n", "f");
  config.set_flag("evaluators", "[]");
  for (const char* key : {"defaults", "evaluators", "a.b"}) config.ignore(key);
  CHECK(config.get("a.c", std::int64_t{0}) == 2);
  config.finish();
}
