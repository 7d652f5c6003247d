// SPDX-License-Identifier: Apache-2.0
// Chat data sets: splits, tokenizers, row lengths.
#include "ubique/data/chat/chat_set.h"

#include <doctest/doctest.h>

#include <set>

#include "chat_samples.h"
#include "tests/base/scratch.h"
#include "ubique/base/files/file.h"
#include "ubique/data/puzzles/set/puzzle_set.h"

using namespace ubique;
using test::asks;
using test::says;

namespace {

std::vector<io::Conversation> talks(int count) {
  std::vector<io::Conversation> list;
  for (int i = 0; i < count; ++i) {
    list.push_back({{asks("What is number " + std::to_string(i) + "?"),
                     says("It is " + std::to_string(i * i) + ".")}});
  }
  return list;
}

std::set<std::string> texts_of(const data::PuzzleSet& set, const io::Tokenizer& tokenizer) {
  std::set<std::string> texts;
  for (std::int64_t i = 0; i < set.examples(); ++i) {
    const auto row = set.inputs.row(i);
    texts.insert(tokenizer.decode(row, true));
  }
  return texts;
}

}  // namespace

TEST_CASE("chat set: a folder holds both parts and the tokenizer, and can be read again") {
  const test::ScratchFolder folder;
  const auto list = talks(20);
  const auto report =
      data::write_chat_set(folder / "set", list, data::train_chat_tokenizer(list, 300),
                           {.rows = {.length = 40}, .split = 0.8});
  CHECK(report.train.conversations == 16);
  CHECK(report.test.conversations == 4);
  CHECK(report.vocabulary <= 300);
  CHECK(report.train.cut == 0);
  CHECK(report.train.text_tokens < report.train.characters);

  const auto tokenizer = io::read_tokenizer(folder / "set/tokenizer");
  CHECK(tokenizer.size() == report.vocabulary);
  const auto train = data::read_puzzle_set(folder / "set", "train");
  const auto tests = data::read_puzzle_set(folder / "set", "test");
  CHECK(train.groups() == 16);
  CHECK(train.puzzles() == 16);
  CHECK(train.metadata.vocab_size == report.vocabulary);
  CHECK(train.metadata.seq_len == 40);
  CHECK(train.metadata.pad_id == *tokenizer.find("<|pad|>"));
  CHECK(train.metadata.ignore_label_id == data::kIgnoredLabel);
  CHECK(train.metadata.provenance["kind"] == "chat");
  auto texts = texts_of(train, tokenizer);
  const auto unseen = texts_of(tests, tokenizer);
  texts.insert(unseen.begin(), unseen.end());
  CHECK(texts.size() == 20);  // each conversation is in exactly one part
  CHECK(texts.count("What is number 7?It is 49.") == 1);
}

TEST_CASE("chat set: rows of one conversation are one puzzle") {
  const test::ScratchFolder folder;
  const std::vector<io::Conversation> list = {
      {{asks("one"), says("two"), asks("three"), says("four")}}};
  const auto report =
      data::write_chat_set(folder / "set", list, data::train_chat_tokenizer({}, 266),
                           {.rows = {.length = 16}, .split = 1});
  CHECK(report.train.rows == 2);
  CHECK(report.test.conversations == 0);
  const auto train = data::read_puzzle_set(folder / "set", "train");
  CHECK(train.puzzles() == 1);
  CHECK(train.examples() == 2);
}

TEST_CASE("chat set: the split depends on the seed, and a folder keeps its options") {
  const test::ScratchFolder folder;
  const auto list = talks(40);
  const auto model = data::train_chat_tokenizer(list, 266);
  const auto write = [&](const std::string& name, std::uint64_t seed) {
    (void)data::write_chat_set(folder / name, list, model, {{.length = 64}, 0.5, seed});
    return read_file(folder / (name + "/train/all__inputs.npy"));
  };
  const auto first = write("a", 1);
  CHECK(write("b", 1) == first);
  CHECK(write("c", 2) != first);
  CHECK(write("a", 1) == first);
  CHECK(test::contains(test::refusal_of(ErrorKind::Usage, [&] { (void)write("a", 2); }),
                       "other options"));
}

TEST_CASE("chat set: GPT-2's kind of tokenizer gets the nine markers that it lacks") {
  const test::ScratchFolder folder;
  io::TokenizerModel model;
  std::int32_t id = 0;
  for (const char letter : std::string("abcdefgh"))
    model.vocabulary.emplace_back(std::string(1, letter), id++);
  model.vocabulary.emplace_back("<|endoftext|>", id);
  model.added.push_back({.id = id, .content = "<|endoftext|>"});
  const std::vector<io::Conversation> list = {{{asks("abc"), says("def")}}};
  const auto report = data::write_chat_set(folder / "set", list, model, {.rows = {.length = 12}});
  CHECK(report.vocabulary == 9 + 9);
  CHECK(io::read_tokenizer(folder / "set/tokenizer").find("<|pad|>") == 9);
}

TEST_CASE("chat set: an invalid split is refused") {
  const test::ScratchFolder folder;
  for (const double split : {0.0, 1.5, -1.0}) {
    CHECK(test::contains(test::refusal_of(ErrorKind::Usage,
                                          [&] {
                                            (void)data::write_chat_set(
                                                folder / "set", talks(4),
                                                data::train_chat_tokenizer({}, 266),
                                                {.split = split});
                                          }),
                         "--split"));
  }
}

TEST_CASE("chat set: rows can be shortened to the longest conversation") {
  const test::ScratchFolder folder;
  auto list = talks(3);
  const auto length = [&](const std::string& name) {
    return data::write_chat_set(folder / name, list, data::train_chat_tokenizer({}, 266),
                                {.rows = {.length = 200}, .shorten = true})
        .length;
  };
  CHECK(length("short") == 64);
  CHECK(data::read_puzzle_set(folder / "short", "train").metadata.seq_len == 64);
  list.push_back({{asks(std::string(70, 'x')), says("So it is.")}});
  CHECK(length("longer") == 128);
  list.push_back({{asks(std::string(500, 'x')), says("So it is.")}});
  CHECK(length("longest") == 200);
}

TEST_CASE("chat set: absurd row lengths are refused before memory is allocated") {
  const test::ScratchFolder folder;
  for (const std::int64_t length : {std::int64_t{1000000000}, std::int64_t{1}, std::int64_t{-5}}) {
    const auto message = test::refusal_of(ErrorKind::Usage, [&] {
      (void)data::write_chat_set(folder / "set", talks(4), data::train_chat_tokenizer({}, 266),
                                 {.rows = {.length = length}});
    });
    CHECK(test::contains(message, "expected 2 to 65536"));
  }
  CHECK_FALSE(std::filesystem::exists(folder / "set"));
  const auto message = test::refusal_of(ErrorKind::Usage, [&] {
    (void)data::write_chat_set(folder / "many", std::vector<io::Conversation>(70000, talks(1)[0]),
                               data::train_chat_tokenizer({}, 266), {.rows = {.length = 65536}});
  });
  CHECK(test::contains(message, "70000 conversations in rows of 65536 tokens"));
}
