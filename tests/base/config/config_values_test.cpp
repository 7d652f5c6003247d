// SPDX-License-Identifier: Apache-2.0
// Values that each type accepts and refuses, in the file and in one-line flags.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "tests/base/scratch.h"
#include "ubique/base/config/config.h"

using namespace ubique;
using test::contains;
using test::error_of;
using Strings = std::vector<std::string>;
using Integers = std::vector<std::int64_t>;
using Numbers = std::vector<double>;

namespace {
template <typename T>
T value_of(const std::string& text) {
  return Config::from_text("x: " + text + "\n", "f.yaml").require<T>("x");
}
template <typename T>
std::string value_error(const std::string& text) {
  return error_of([&] { value_of<T>(text); });
}
template <typename T>
T flag_value(const std::string& text) {
  Config config;
  config.set_flag("x", text);
  return config.require<T>("x");
}
}  // namespace

TEST_CASE("config values: numbers in every usual spelling") {
  CHECK(value_of<double>("1e-5") == 1e-5);
  CHECK(value_of<double>("1E5") == 1e5);
  CHECK(value_of<double>(".5") == 0.5);
  CHECK(value_of<double>("-3") == -3.0);
  CHECK(value_of<double>("'0.25'") == 0.25);
  CHECK(value_of<double>(".inf") == std::numeric_limits<double>::infinity());
  CHECK(value_of<double>("-.inf") == -std::numeric_limits<double>::infinity());
  for (const auto* wrong :
       {"fast", "1_000", "0x10", ".nan", "1e999", "''", "true", "[1]", "{a: 1}"}) {
    CAPTURE(std::string(wrong));
    CHECK(
        contains(value_error<double>(wrong), "usage: [base.config] f.yaml:1: x must be a number"));
  }
  CHECK(value_error<double>("fast") ==
        "usage: [base.config] f.yaml:1: x must be a number; got 'fast', expected e.g. 0.001.");
}

TEST_CASE("config values: whole numbers may have an exponent but no remainder") {
  CHECK(value_of<std::int64_t>("1e3") == 1000);
  CHECK(value_of<std::int64_t>("2.0") == 2);
  CHECK(value_of<std::int64_t>("+7") == 7);
  CHECK(value_of<std::int64_t>("9223372036854775807") == 9223372036854775807);
  CHECK(value_of<std::int64_t>("-9223372036854775808") == std::numeric_limits<std::int64_t>::min());
  CHECK(value_of<int>("2147483647") == 2147483647);
  for (const auto* wrong :
       {"2.5", "9223372036854775808", "1e19", "1e-3", "ten", "1 2", "++1", "+-1"}) {
    CAPTURE(std::string(wrong));
    CHECK(contains(value_error<std::int64_t>(wrong), "x must be a whole number; got '"));
  }
  CHECK(contains(value_error<int>("2147483648"), "within 32 bits"));
  CHECK(contains(value_error<int>("-2147483649"), "within 32 bits"));
}

TEST_CASE("config values: true and false have three spellings each") {
  for (const auto* yes : {"true", "True", "yes", "on", "ON"}) CHECK(value_of<bool>(yes));
  for (const auto* no : {"false", "FALSE", "no", "off"}) CHECK_FALSE(value_of<bool>(no));
  for (const auto* wrong : {"1", "0", "y", "maybe", "''", "[true]"}) {
    CAPTURE(std::string(wrong));
    CHECK(contains(value_error<bool>(wrong), "x must be true or false; got "));
  }
}

TEST_CASE("config values: text is taken literally") {
  CHECK(value_of<std::string>("1.0") == "1.0");
  CHECK(value_of<std::string>("yes") == "yes");
  CHECK(value_of<std::string>("''").empty());
  CHECK(contains(value_error<std::string>("[a]"), "x must be text; got a list"));
  const auto error = value_error<double>(std::string(500, 'x'));
  CHECK(error.size() < 200);
}

TEST_CASE("config values: lists in the file and on one line") {
  CHECK(value_of<Strings>("[a, 1, 'b c']") == Strings{"a", "1", "b c"});
  CHECK(value_of<Integers>("[1, 2e1]") == Integers{1, 20});
  CHECK(value_of<Numbers>("\n  - 0.9\n  - 1e-8") == Numbers{0.9, 1e-8});
  CHECK(value_of<Strings>("[]").empty());
  CHECK(flag_value<Strings>("a, b") == Strings{"a", "b"});
  CHECK(flag_value<Integers>("[1, 2]") == Integers{1, 2});
  CHECK(flag_value<Strings>("[]").empty());
  CHECK(value_of<Numbers>("0.5") == Numbers{0.5});  // one number is a list of one
  CHECK(value_of<Integers>("8") == Integers{8});
  CHECK(contains(value_error<Integers>("8, 16"), "x must be a list of whole numbers; got '8, 16'"));
  CHECK(contains(value_error<Strings>("a"),
                 "x must be a list of texts; got 'a', expected e.g. [a, b]"));
  CHECK(contains(value_error<Integers>("[1, x]"), "x[1] must be a whole number; got 'x'"));
  CHECK(contains(value_error<Numbers>("[1, null]"), "x[1] must be a number; got nothing"));
  CHECK(contains(value_error<Numbers>("[1, [2]]"), "x[1] must be a number; got a list"));
  CHECK(
      contains(error_of([] { flag_value<Integers>("1,b"); }), "flag: x[1] must be a whole number"));
}

TEST_CASE("config values: sizes are numbers or sizes, never negative") {
  const auto config =
      Config::from_text("a: 17179869184\nb: 16GiB\nc: 1e9\nd: -1\ne: big\n", "f.yaml");
  CHECK(config.get_bytes("a", 0) == 17179869184);
  CHECK(config.get_bytes("b", 0) == 16LL << 30);
  CHECK(config.get_bytes("c", 0) == 1000000000);
  CHECK(config.get_bytes("absent", 5) == 5);
  CHECK(contains(error_of([&] { config.get_bytes("d", 0); }),
                 "f.yaml:4: d must be a number of bytes"));
  CHECK(contains(error_of([&] { config.get_bytes("e", 0); }), "expected e.g. 16GiB"));
  CHECK(config.resolved()[1].value == "17179869184");
}

TEST_CASE("config values: wrong flags and variables say where they came from") {
  Config config;
  config.set_environment({{"UBIQUE_TRAINING_LR", "fast"}});
  CHECK(contains(error_of([&] { config.get("training.lr", 0.1); }),
                 "environment UBIQUE_TRAINING_LR: training.lr must be a number; got 'fast'"));
  config.set_flag("training.lr", "quick");
  CHECK(contains(error_of([&] { config.get("training.lr", 0.1); }), "flag: training.lr must be"));
}

TEST_CASE("config values: resolved values are written the same way every time") {
  const auto config = Config::from_text("a: ON\nb: 1.50\nc: [1, 2]\nd: 1e-5\ne: 1e3\n", "f.yaml");
  config.get("a", false);
  config.get("b", 0.0);
  config.get<Integers>("c", {});
  config.get("d", 0.0);
  config.get("e", 0);
  std::string all;
  for (const auto& value : config.resolved()) all += value.value + ";";
  CHECK(all == "true;1.5;[1, 2];1e-05;1000;");
}
