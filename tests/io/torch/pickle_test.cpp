// SPDX-License-Identifier: Apache-2.0
// Pickles of protocols 2 to 5: every supported value, and refusal of code.
#include <doctest/doctest.h>

#include <cmath>

#include "pickle_samples.h"
#include "tests/base/scratch.h"
#include "tests/io/samples.h"
#include "ubique/base/text/json.h"
#include "ubique/io/torch/pickle.h"
#include "ubique/io/torch/pickle_writer.h"

using namespace ubique;
using io::PickleKind;
namespace pickled = test::pickled;

namespace {

constexpr std::string_view kAllowed[] = {"collections.OrderedDict", "torch.Size"};

io::Pickle parsed_pickle(const std::string& text) {
  return io::parse_pickle(test::bytes_of(text), "x.pt", kAllowed);
}

/// The root of a pickle of one value.
io::PickleNode value_of(const std::string& body) {
  const auto pickle = parsed_pickle(pickled::whole(body));
  return pickle[pickle.root];
}

std::string refusal(const std::string& text) {
  return test::refusal_of(ErrorKind::Input, [&] { parsed_pickle(text); });
}

}  // namespace

TEST_CASE("pickle: numbers of every width") {
  CHECK(value_of("N").kind == PickleKind::None);
  CHECK(value_of("\x88").integer == 1);
  CHECK(value_of("\x89").integer == 0);
  CHECK(value_of("\x89").kind == PickleKind::Bool);
  CHECK(value_of("K\xff").integer == 255);
  CHECK(value_of("M\x01\x02").integer == 0x201);
  CHECK(value_of("J\xfb\xff\xff\xff").integer == -5);
  CHECK(value_of(std::string("\x8a\0", 2)).integer == 0);
  CHECK(value_of("\x8a\x01\xff").integer == -1);
  CHECK(value_of(std::string("\x8a\x02\xff\x00", 4)).integer == 255);
  CHECK(value_of("\x8a\x08" + test::little(1ULL << 63U, 8)).integer == INT64_MIN);
  CHECK(value_of("\x8b" + test::little(1, 4) + "\x07").integer == 7);
  const auto seed = value_of("\x8a\x09" + test::little(~0ULL, 8) + std::string(1, '\0'));
  CHECK(seed.kind == PickleKind::Unsigned);
  CHECK(static_cast<std::uint64_t>(seed.integer) == ~0ULL);
  CHECK(value_of("\x8a\x09" + test::little(0, 8) + "\x01").text == "0x010000000000000000");
  CHECK(value_of(std::string("G\x3f\xf8\0\0\0\0\0\0", 9)).number == 1.5);
  CHECK(std::isinf(value_of(std::string("G\x7f\xf0\0\0\0\0\0\0", 9)).number));
}

TEST_CASE("pickle: texts and bytes of every width") {
  CHECK(value_of(pickled::text("häh")).text == "häh");
  CHECK(value_of("\x8c\x02"
                 "ab")
            .kind == PickleKind::Text);
  CHECK(value_of("\x8d" + test::little(2, 8) + "ab").text == "ab");
  CHECK(value_of("U\x02"
                 "ab")
            .kind == PickleKind::Text);
  CHECK(value_of("U\x02"
                 "a\xff")
            .kind == PickleKind::Bytes);
  CHECK(value_of("C\x02"
                 "a\xff")
            .text == "a\xff");
  CHECK(value_of("B" + test::little(1, 4) + "a").kind == PickleKind::Bytes);
  CHECK(value_of("\x8e" + test::little(1, 8) + "a").kind == PickleKind::Bytes);
  CHECK(value_of("\x96" + test::little(1, 8) + "a").kind == PickleKind::Bytes);
}

TEST_CASE("pickle: containers keep the order, and memoized values are shared") {
  const auto pickle =
      parsed_pickle(pickled::whole("](K\x01q\x05h\x05K\x02\x86K\x03"
                                   "e"));
  const auto& root = pickle[pickle.root];
  CHECK(root.kind == PickleKind::List);
  REQUIRE(root.items.size() == 3);
  CHECK(pickle[root.items[0]].integer == 1);
  const auto& pair = pickle[root.items[1]];
  CHECK(pair.kind == PickleKind::Tuple);
  CHECK(pair.items[0] == root.items[0]);
  CHECK(pickle[pair.items[1]].integer == 2);

  CHECK(value_of(")").kind == PickleKind::Tuple);
  CHECK(value_of("K\x01K\x02K\x03\x87").items.size() == 3);
  CHECK(value_of("]K\x01"
                 "a")
            .items.size() == 1);
  CHECK(value_of("(K\x01l").kind == PickleKind::List);
  CHECK(value_of("(K\x01K\x02"
                 "d")
            .kind == PickleKind::Dict);
  CHECK(value_of("}K\x01K\x02s").items.size() == 2);
  CHECK(value_of("\x8f(K\x01\x90").kind == PickleKind::Set);
  CHECK(value_of("(K\x01\x91").kind == PickleKind::Set);
  CHECK(value_of("K\x01K\x02"
                 "0")
            .integer == 1);
  CHECK(value_of("(K\x01K\x02"
                 "1N")
            .kind == PickleKind::None);
  CHECK(value_of("K\x01"
                 "2\x86")
            .items.size() == 2);
}

TEST_CASE("pickle: a call of an allowed name is kept as a call, with items and state") {
  const auto pickle = parsed_pickle(
      pickled::whole(pickled::ordered_dict({{pickled::text("a"), "K\x01"}}) + "}K\x07K\x08sb"));
  const auto& root = pickle[pickle.root];
  CHECK(root.kind == PickleKind::Call);
  CHECK(root.text == "collections.OrderedDict");
  CHECK(pickle[root.arguments].items.empty());
  REQUIRE(root.items.size() == 2);
  CHECK(pickle[root.items[0]].text == "a");
  REQUIRE(root.state.has_value());
  CHECK(pickle[*root.state].kind == PickleKind::Dict);

  const std::string framed =
      "\x8c\x05torch\x94\x8c\x04Size\x94\x93\x94)\x81\x94" + std::string("20.");
  const auto newer = parsed_pickle("\x80\x04\x95" + test::little(framed.size(), 8) + framed);
  CHECK(newer[newer.root].text == "torch.Size");
}

TEST_CASE("pickle: any other name is refused by its full name, however it is spelt") {
  for (const auto& body : {pickled::global("os", "system"),
                           pickled::call(pickled::global("os", "system"), {pickled::text("ls")}),
                           pickled::text("os") + pickled::text("system") + "\x93",
                           std::string("(") + "X" + test::little(2, 4) + "ls" + "ios\nsystem\n"}) {
    const auto error = refusal(pickled::whole(body));
    CHECK(test::contains(error, "[io.pickle] x.pt asks to import os.system; expected"));
    CHECK(test::contains(error, "Nothing was run."));
  }
  CHECK(test::contains(refusal(pickled::whole(pickled::global("collections", "OrderedDict.x"))),
                       "asks to import collections.OrderedDict.x"));
  CHECK(test::contains(refusal(pickled::whole(pickled::global("torch.Size\x1b[2J", "x"))),
                       "import torch.Size\\x1b[2J.x"));
}

TEST_CASE("pickle: what is not a pickle of plain values is refused") {
  const auto check_refused = [](const std::string& text, const std::string& message) {
    CAPTURE(message);
    const auto error = refusal(text);
    CHECK(error.starts_with("[io.pickle] x.pt holds a pickle that cannot be read"));
    CHECK_MESSAGE(test::contains(error, message), error);
  };
  const auto body = [&](const std::string& text, const std::string& message) {
    check_refused(pickled::whole(text), message);
  };
  check_refused("", "ends too early");
  check_refused("N.", "no protocol number");
  check_refused("\x80\x01N.", "its protocol is 1, expected 2 to 5");
  check_refused("\x80\x06N.", "its protocol is 6");
  check_refused("\x80\x02N", "ends too early");
  check_refused("\x80\x02NN.", "something left over");
  check_refused("\x80\x02N.N", "something left over");
  check_refused("\x80\x02.", "something left over");
  body("I7\n", "opcode 0x49 is not one of plain values");
  body(std::string("\x82\x01"), "opcode 0x82");  // an extension, which could stand for any name
  body("Pid\n", "opcode 0x50");
  body(pickled::global("torch", "Size") + ")}\x92", "opcode 0x92");
  body("X" + test::little(0xFFFFFFFF, 4) + "a", "ends too early");
  body("\x8d" + test::little(~0ULL, 8) + "a", "ends too early");
  body("X" + test::little(1, 4) + "\xff", "a text is not UTF-8");
  body("0N", "its stack is empty");
  body("t", "a mark is missing");
  body("N(0", "its stack is empty");
  body("(NNNd", "a key without a value");
  body("}(Nu", "a key without a value");
  body("}Na", "adds items to a value that is no container");
  body("]NNs", "adds items to a value that is no container");
  body("NNa", "adds items to a value that is no container");
  body("h\x01", "reads a memo entry that was never written");
  body("}}b", "a state to a plain value");
  body("N)R", "calls a value that is no imported name");
  body(pickled::global("torch", "Size") + "]R", "calls a value that is no imported name");
  body("K\x01K\x02\x93", "imports a name that is no text");
  body("\x95" + test::little(1000, 8), "ends too early");
  body(std::string(20'000, '('), "nested too deeply");
  body(std::string(3'000'000, 'N'), "too many values");
  body("\x8a\x09" + std::string(9, '\xfe'), "negative number does not fit into 64 bits");
}

TEST_CASE("pickle: what the writer spells, the reader reads") {
  const Json json = {{"none", nullptr},
                     {"flags", {true, false}},
                     {"numbers", {0, -1, 255, 256, -70000, 1LL << 40U, INT64_MIN, UINT64_MAX}},
                     {"floats", {0.5, 1e-300}},
                     {"empty", Json::object()}};
  io::PickleWriter writer;
  writer.json(json);
  const auto pickle = parsed_pickle(writer.finish());
  const auto& root = pickle[pickle.root];
  CHECK(root.kind == PickleKind::Dict);
  REQUIRE(root.items.size() == 10);
  CHECK(pickle[root.items[1]].kind == PickleKind::None);
  const auto& numbers = pickle[root.items[5]].items;
  REQUIRE(numbers.size() == 8);
  for (std::size_t i = 0; i < 7; ++i) {
    CHECK(pickle[numbers[i]].integer == json["numbers"][i].get<std::int64_t>());
  }
  CHECK(pickle[numbers[7]].kind == PickleKind::Unsigned);
  CHECK(static_cast<std::uint64_t>(pickle[numbers[7]].integer) == UINT64_MAX);
  CHECK(pickle[pickle[root.items[7]].items[1]].number == 1e-300);
}
