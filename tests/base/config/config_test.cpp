// SPDX-License-Identifier: Apache-2.0
// Config: precedence of the layers, sections, lists, sources of values.
#include "ubique/base/config/config.h"

#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "ubique/base/files/file.h"

using namespace ubique;
using test::contains;
using test::error_of;

namespace {
Config config_of(const std::string& text) {
  auto config = Config::from_text(text, "train.yaml");
  config.set_environment({});
  return config;
}
}  // namespace

TEST_CASE("config: flag beats environment beats file beats default") {
  auto config = config_of("training:\n  lr: 0.1\n  steps: 5\n  seed: 1\n");
  config.set_environment({{"UBIQUE_TRAINING_LR", "0.2"}, {"UBIQUE_TRAINING_STEPS", "6"}});
  config.set_flag("training.lr", "0.3");
  const auto training = config.section("training");
  CHECK(training.get("lr", 0.0) == 0.3);
  CHECK(training.get("steps", 0) == 6);
  CHECK(training.get("seed", 0) == 1);
  CHECK(training.get("epochs", 7) == 7);
  config.finish();
  const auto resolved = config.resolved();
  REQUIRE(resolved.size() == 4);
  CHECK(resolved[0].key == "training.lr");
  CHECK(resolved[0].value == "0.3");
  CHECK(resolved[0].source == "flag");
  CHECK(resolved[1].source == "environment UBIQUE_TRAINING_STEPS");
  CHECK(resolved[2].source == "train.yaml:4");
  CHECK(resolved[3].value == "7");
  CHECK(resolved[3].source == "default");
}

TEST_CASE("config: the process environment is used unless replaced") {
  const test::ScopedVariable variable("UBIQUE_A_B_C", "9");
  Config config;
  CHECK(config.get("a.b-c", 0) == 9);
  config.set_environment({});
  CHECK(config.get("a.b-c", 0) == 0);
  config.set_environment({{"UBIQUE_A_B_C", ""}});
  CHECK(config.get("a.b-c", 3) == 3);
}

TEST_CASE("config: a value read twice is recorded once, as last read") {
  const auto config = config_of("b: 1\n");
  CHECK_FALSE(config.find<int>("a").has_value());
  CHECK(config.resolved()[0].value == "null");
  CHECK(config.get("b", 0) == 1);
  CHECK(config.get("a", 4) == 4);
  REQUIRE(config.resolved().size() == 2);
  CHECK(config.resolved()[0].key == "a");
  CHECK(config.resolved()[0].value == "4");
}

TEST_CASE("config: null means not given, and a flag null undoes the file") {
  auto config = config_of("a: null\nb: ~\nc:\nd: 5\ne: 'null'\nsection: null\nitems:\n");
  CHECK(config.get("a", 1) == 1);
  CHECK(config.get("b", 2) == 2);
  CHECK(config.get("c", 3) == 3);
  CHECK_FALSE(config.has("a"));
  CHECK(config.get<std::string>("e", "") == "null");
  config.set_flag("d", "null");
  CHECK(config.get("d", 4) == 4);
  CHECK(config.section("section").get("x", 1) == 1);
  CHECK(config.items("items").empty());
  config.finish();
}

TEST_CASE("config: dotted keys and sections are the same thing") {
  const auto config = config_of("a:\n  b:\n    c: 1\nd.e: 2\n");
  CHECK(config.get("a.b.c", 0) == 1);
  CHECK(config.section("a").get("b.c", 0) == 1);
  CHECK(config.section("a.b").get("c", 0) == 1);
  CHECK(config.get("d.e", 0) == 2);
  CHECK(config.get("a.x.c", 5) == 5);
  config.finish();
  CHECK(config.resolved().size() == 3);
  CHECK(contains(error_of([&] { config.get("a.b.c.d", 0); }),
                 "usage: [base.config] train.yaml:3: a.b.c must be a mapping; got '1'"));
}

TEST_CASE("config: lists of mappings are read item by item") {
  const auto config = config_of("layers:\n  - name: a\n    size: 3\n  - name: b\n");
  const auto layers = config.items("layers");
  REQUIRE(layers.size() == 2);
  CHECK(layers[0].require<std::string>("name") == "a");
  CHECK(layers[0].get("size", 0) == 3);
  CHECK(layers[1].require<std::string>("name") == "b");
  CHECK(layers[1].get("size", 1) == 1);
  CHECK(layers[1].where("name") == "train.yaml:4");
  config.finish();
  CHECK(config.resolved()[0].key == "layers[0].name");
  CHECK(config.items("absent").empty());
}

TEST_CASE("config: keys lists what is written, has and where say whether and where") {
  auto config = config_of("b: 1\na:\n  c: 2\n");
  CHECK(config.keys() == std::vector<std::string>{"b", "a"});
  CHECK(config.section("nothing").keys().empty());
  CHECK(config.has("b"));
  CHECK(config.has("a.c"));
  CHECK_FALSE(config.has("z"));
  CHECK(config.where("b") == "train.yaml:1");
  CHECK(config.section("a").where("") == "train.yaml:2");
  CHECK(config.section("a").where("absent") == "train.yaml:2");
  config.set_flag("b", "3");
  CHECK(config.where("b") == "flag");
}

TEST_CASE(
    "config: of two names of one setting the stronger source counts, the other is not stored") {
  auto config = Config::from_text("wd: 1\nclip: 2\nclip_norm: 2\nbad: 1\nworse: 2\n", "a.yaml");
  config.set_environment({{"UBIQUE_RATE", "3"}});
  config.set_flag("weight_decay", "5");
  CHECK(config.effective_name({"weight_decay", "wd"}) == "weight_decay");
  CHECK(config.effective_name({"wd", "weight_decay"}) == "weight_decay");
  CHECK(config.effective_name({"lr", "rate"}) == "rate");
  CHECK(config.effective_name({"none", "neither"}) == "none");
  CHECK(config.effective_name({"clip", "clip_norm"}) == "clip_norm");  // they agree
  const auto told = ubique::test::refusal_of(ErrorKind::Usage, [&] {
    (void)config.effective_name({"bad", "worse"});
  });
  CHECK(contains(told, "bad and worse are one setting; got 1 and 2"));
  CHECK(config.get("weight_decay", 0) == 5);
  config.ignore("bad");
  config.ignore("worse");
  config.finish();  // the weaker name is not reported as unknown
  CHECK(config.resolved().size() == 1);
}

TEST_CASE("config: a missing required key says what is expected and where") {
  const auto config = config_of("training:\n  steps: 1\n");
  CHECK(error_of([&] { config.section("training").require<double>("lr"); }) ==
        "usage: [base.config] train.yaml:1: training.lr is missing; expected a number, e.g. "
        "0.001.");
  CHECK(contains(error_of([] { Config().require<bool>("x"); }), "x is missing"));
}

TEST_CASE("config: shapes that do not fit are usage errors") {
  const auto config = config_of("a: [1, 2]\nb: {c: 1}\nd: 1\ne: [{f: 1}, 2]\n");
  CHECK(error_of([&] { config.section("a"); }) ==
        "usage: [base.config] train.yaml:1: a must be a mapping; got a list, expected 'key: "
        "value' lines under it.");
  CHECK(contains(error_of([&] { config.section("d"); }), "d must be a mapping; got '1'"));
  CHECK(
      contains(error_of([&] { config.items("b"); }), "must be a list of mappings; got a mapping"));
  CHECK(contains(error_of([&] { config.items("e"); }), "train.yaml:4: e[1] must be a mapping"));
  CHECK(contains(error_of([&] { config.get("b", 0); }), "b must be a whole number; got a mapping"));
  CHECK(contains(error_of([] { config_of("- 1\n- 2\n"); }), "the document must be a mapping"));
}

TEST_CASE("config: files are read, missing and broken ones are input errors") {
  const test::ScratchFolder folder;
  write_file(folder / "run.yaml", "a: 1\nb: [\n");
  CHECK(contains(error_of([&] { Config::from_file(folder / "run.yaml"); }), "input: [base.yaml]"));
  CHECK(contains(error_of([&] { Config::from_file(folder / "run.yaml"); }), "run.yaml:"));
  CHECK(contains(error_of([&] { Config::from_file(folder / "none.yaml"); }), "input: [base.file]"));
  CHECK(contains(error_of([&] { Config::from_file(folder.path()); }), "input: [base.file]"));
  write_file(folder / "run.yaml", "a: 1\n");
  CHECK(Config::from_file(folder / "run.yaml").get("a", 0) == 1);
  write_file(folder / "run.yaml", "");
  CHECK(Config::from_file(folder / "run.yaml").get("a", 2) == 2);
}

TEST_CASE("config: another program's variable sets a key where ours does not, and is named") {
  auto config = Config::from_text("dtype: f16\n", "run.yaml");
  config.set_environment({});
  config.add_variable("dtype", "ACE_PIPELINE_DTYPE");
  CHECK(config.get<std::string>("dtype", "") == "f16");
  config.set_environment({{"ACE_PIPELINE_DTYPE", "f32"}});
  CHECK(config.get<std::string>("dtype", "") == "f32");
  CHECK(config.where("dtype") == "environment ACE_PIPELINE_DTYPE");
  config.set_environment({{"ACE_PIPELINE_DTYPE", "f32"}, {"UBIQUE_DTYPE", "bf16"}});
  CHECK(config.get<std::string>("dtype", "") == "bf16");
  config.set_flag("dtype", "f64");
  CHECK(config.get<std::string>("dtype", "") == "f64");
}

TEST_CASE("config: implied values and other programs' keys count where nobody sets ours") {
  auto config = Config::from_text(
      "model: {name: phi, width: 4}\nrate: 1e-5\nown: 1\nlist: [a, \"b, c\"]\n", "old.yaml");
  config.set_environment({});
  config.expect("model");
  CHECK(config.adopt("model", "model.name"));
  CHECK(config.adopt("lr", "rate"));
  CHECK(config.adopt("own", "rate"));
  CHECK(config.adopt("words", "list"));
  CHECK_FALSE(config.adopt("lr", "missing"));
  config.imply("lr", "7", "nowhere");  // the first one stays
  config.imply("form", "nf4", "old.yaml:9");
  CHECK(config.get<std::string>("model", "") == "phi");
  CHECK(config.get("lr", 0.0) == 1e-5);
  CHECK(config.where("lr") == "old.yaml:2");
  CHECK(config.get("own", 0.0) == 1);
  CHECK(config.get("words", std::vector<std::string>{}) == std::vector<std::string>{"a", "b, c"});
  CHECK(config.get<std::string>("form", "") == "nf4");
  CHECK(config.where("form") == "old.yaml:9");
  config.set_flag("lr", "0.5");
  CHECK(config.get("lr", 0.0) == 0.5);
  const auto message = test::refusal_of(ErrorKind::Usage, [&] { config.finish(); });
  CHECK(test::contains(message, "model.width"));
}

TEST_CASE("config: a name may be a value in one file and a section in another") {
  auto config = Config::from_text("model: folder\n", "own.yaml");
  config.set_environment({});
  config.expect("model");
  CHECK_FALSE(config.has("model.name"));
  CHECK(config.get<std::string>("model", "") == "folder");
  config.finish();
}
