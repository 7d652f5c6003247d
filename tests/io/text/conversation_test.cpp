// SPDX-License-Identifier: Apache-2.0
// The JSON formats of conversations, and errors that name entry and keys.
#include "ubique/io/text/conversation.h"

#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "tests/data/chat/chat_samples.h"
#include "ubique/base/files/file.h"

using namespace ubique;
using test::asks;
using test::contains;
using test::says;

namespace {

using Turns = std::vector<io::Turn>;

std::string conversation_error(const std::string& text) {
  return test::refusal_of(ErrorKind::Input,
                          [&] { (void)io::parse_conversations(text, "talks.json"); });
}

}  // namespace

TEST_CASE("conversations: ShareGPT, OpenAssistant and Alpaca come out alike") {
  const auto list = io::parse_conversations(
      R"([{"id": "x", "conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Ho"}]},
          {"messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hi"},
                        {"role": "assistant", "content": "Ho"}]},
          {"instruction": "Add.", "input": "1 and 2", "output": "3"},
          {"instruction": "Hi", "input": "", "output": "Ho"},
          {"instruction": "Hi", "output": "Ho"}])",
      "talks.json");
  REQUIRE(list.conversations.size() == 5);
  CHECK(list.conversations[0].turns == Turns{asks("Hi"), says("Ho")});
  CHECK(list.conversations[1].turns ==
        Turns{{io::Role::System, "Be kind."}, asks("Hi"), says("Ho")});
  CHECK(list.conversations[2].turns == Turns{asks("Add.\n\n1 and 2"), says("3")});
  CHECK(list.conversations[3].turns == Turns{asks("Hi"), says("Ho")});
  CHECK(list.conversations[4].turns == Turns{asks("Hi"), says("Ho")});
}

TEST_CASE("conversations: JSON lines work like a list, and empty entries are counted") {
  const auto list = io::parse_conversations(
      "\xEF\xBB\xBF{\"instruction\": \"a\", \"output\": \"b\"}\r\n\n"
      "{\"conversations\": []}\n{\"messages\": [{\"role\": \"prompter\", \"content\": \"c\"}]}",
      "talks.jsonl");
  REQUIRE(list.conversations.size() == 2);
  CHECK(list.conversations[1].turns == Turns{asks("c")});
  CHECK(list.empty == 1);
}

TEST_CASE("conversations: an entry of no known format is named with its keys and number") {
  const auto message = conversation_error(
      R"([{"instruction": "a", "output": "b"}, {"question": "a", "answer": "b"}])");
  CHECK(contains(message, "talks.json entry 2"));
  CHECK(contains(message, "got the keys 'question', 'answer'"));
  CHECK(contains(message, "(ShareGPT)"));
  CHECK(contains(message, "(OpenAssistant)"));
  CHECK(contains(message, "(Alpaca)"));
  CHECK(contains(conversation_error("[3]"), "entry 1 is in none of the formats; got number"));
  CHECK(contains(conversation_error("[{}]"), "got no keys"));
  CHECK(contains(conversation_error(R"({"conversations": "hello"})"), "line 1"));
  CHECK(contains(conversation_error(R"([{"instruction": "a", "output": 3}])"), "entry 1"));
}

TEST_CASE("conversations: a turn without text or known role is named") {
  CHECK(contains(conversation_error(R"([{"conversations": [{"from": "human"}]}])"),
                 "entry 1 turn 1 lacks a text; expected \"from\" and \"value\""));
  CHECK(contains(conversation_error(R"([{"messages": [{"role": "user", "content": "a"},
                                              {"role": "tool", "content": "b"}]}])"),
                 "turn 2 has an unknown role; got 'tool'"));
}

TEST_CASE("conversations: text that is no JSON is named with its line") {
  CHECK(contains(conversation_error("[{]"), "talks.json is not JSON"));
  CHECK(contains(conversation_error("{\"instruction\": \"a\", \"output\": \"b\"}\nhello"),
                 "talks.json line 2"));
}

TEST_CASE("conversations: several files are one list; none at all is an error") {
  const test::ScratchFolder folder;
  write_file(folder / "a.json", R"([{"instruction": "a", "output": "b"}])");
  write_file(folder / "b.jsonl", R"({"instruction": "c", "output": "d"})");
  write_file(folder / "none.json", "[]");
  CHECK(io::read_conversations({folder / "a.json", folder / "b.jsonl"}).conversations.size() == 2);
  CHECK(contains(test::refusal_of(ErrorKind::Input,
                                  [&] { (void)io::read_conversations({folder / "none.json"}); }),
                 "no conversations"));
}
