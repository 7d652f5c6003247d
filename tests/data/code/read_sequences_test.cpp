// SPDX-License-Identifier: Apache-2.0
// Readers of token lists, texts, prompts, conversations, folders and shards.
#include "ubique/data/code/read_sequences.h"

#include <doctest/doctest.h>

#include <cstring>

#include "code_samples.h"
#include "tests/base/scratch.h"
#include "ubique/base/files/file.h"
#include "ubique/data/code/text_encoder.h"

using namespace ubique;

namespace {

using Lists = std::vector<std::vector<std::int32_t>>;

Lists lists_of(const data::CodeDocuments& documents) {
  Lists lists;
  for (std::int64_t i = 0; i < documents.size(); ++i) lists.push_back(documents.document(i));
  return lists;
}

struct ReadSample {
  test::ScratchFolder scratch;
  io::Tokenizer tokenizer = test::code_tokenizer();

  data::CodeDocuments read(const std::string& name, const std::string& content) const {
    write_file(scratch / name, content);
    return data::read_sequences({scratch / name}, tokenizer, tokenizer.size());
  }
  std::string refusal(const std::string& name, const std::string& content) const {
    return test::refusal_of(ErrorKind::Input, [&] { (void)read(name, content); });
  }
};

std::string shard_bytes(const std::vector<std::uint16_t>& ids) {
  return {reinterpret_cast<const char*>(ids.data()), ids.size() * 2};
}

std::string shard_header(std::int32_t magic, std::int32_t version, std::int32_t count) {
  std::string header(1024, '\0');
  const std::int32_t values[3] = {magic, version, count};
  std::memcpy(header.data(), values, sizeof(values));
  return header;
}

}  // namespace

TEST_CASE("read: the three line forms of token lists give the same documents") {
  const ReadSample sample;
  const Lists expected = {{11, 12, 13}, {20, 21}};
  const std::string bundle =
      R"({"token_sequences": [[11, 12, 13], [20, 21, 0, 0]], "vocab_size": 266, "num_sequences": 2,)"
      R"( "metadata": {"0": {"sample_commit": "abc", "deep": [1, {"x": null}]}, "1": {}}})";
  CHECK(lists_of(sample.read("a.json", bundle)) == expected);
  const std::string lines =
      "{\"tokens\": [11, 12, 13], \"metadata\": {\"file_path\": \"x.rs\", \"sample_commit\": "
      "\"abc\"}}\n\n{\"tokens\": [20, 21], \"length\": 2}\n";
  const auto documents = sample.read("b.jsonl", lines);
  CHECK(lists_of(documents) == expected);
  CHECK(documents.info(0).path == "x.rs");
  CHECK(documents.info(0).commit == "abc");
  CHECK(test::contains(documents.info(1).path, "b.jsonl#1"));
  CHECK(lists_of(sample.read("c.jsonl", "[11, 12, 13]\n[20, 21]\n")) == expected);
  CHECK(lists_of(sample.read("d.json", "[[11, 12, 13], [20, 21]]")) == expected);
}

TEST_CASE("read: a pretty-printed bundle, as the original writes it, is read") {
  const ReadSample sample;
  std::string text = "{\n  \"token_sequences\": [\n";
  for (int i = 0; i < 500; ++i) {
    text += "    [\n      " + std::to_string(i % 200) + ",\n      7\n    ]";
    text += i < 499 ? ",\n" : "\n";
  }
  text +=
      "  ],\n  \"vocab_size\": 266,\n  \"metadata\": {\n    \"0\": {\n      \"a\": 1\n    }\n  "
      "}\n}\n";
  const auto documents = sample.read("full.json", text);
  REQUIRE(documents.size() == 500);
  CHECK(documents.document(499) == std::vector<std::int32_t>{99, 7});
}

TEST_CASE("read: ids of another tokenizer are refused by place, never clamped") {
  const ReadSample sample;
  CHECK(test::contains(sample.refusal("a.jsonl", "[11, 12]\n[13, 14, 266]\n"),
                       "line 2: sequence 1, token 2 is no id of this vocabulary; got 266"));
  CHECK(test::contains(sample.refusal("b.jsonl", "[11, -1]"), "got -1"));
  CHECK(test::contains(sample.refusal("c.jsonl", "[18446744073709551615]"), "token 0"));
  CHECK(test::contains(sample.refusal("d.jsonl", "[1, 2.5]"), "got 2.5"));
  CHECK(test::contains(sample.refusal("e.jsonl", "[1, \"x\"]"), "token 1"));
  CHECK(
      test::contains(sample.refusal("f.json", R"({"token_sequences": [[1]], "vocab_size": 50257})"),
                     "vocab_size is 50257, this one has 266"));
}

TEST_CASE("read: texts, prompts with completions and conversations") {
  const ReadSample sample;
  const auto& tokenizer = sample.tokenizer;
  const auto documents = sample.read(
      "mix.jsonl",
      "{\"text\": \"def f(): <|endoftext|>\"}\n"
      "{\"prompt\": \"say hi:\", \"completion\": \" hi\"}\n"
      "{\"messages\": [{\"role\": \"user\", \"content\": \"2+2?\"}, {\"role\": \"assistant\", "
      "\"content\": \"4\"}, {\"role\": \"user\", \"content\": \"sure?\"}, {\"role\": "
      "\"assistant\", "
      "\"content\": \"yes\"}]}\n");
  REQUIRE(documents.size() == 4);
  CHECK(tokenizer.decode(documents.document(0)) == "def f(): <|endoftext|>");
  CHECK(documents.length(0) == 22);  // typed text, not the special token
  CHECK(tokenizer.decode(documents.document(1)) == "say hi: hi");
  CHECK(documents.prompt_length(1) == 7);
  CHECK(tokenizer.decode(documents.document(2)) == "Question: 2+2?\n\nAnswer: 4");
  CHECK(documents.prompt_length(2) == documents.length(2) - 2);
  CHECK(tokenizer.decode(documents.document(3)) ==
        "Question: 2+2?\n\nAnswer: 4\n\nQuestion: sure?\n\nAnswer: yes");
  CHECK(documents.prompt_length(3) == documents.length(3) - 4);
  CHECK(documents.info(3).kind == "chat");
}

TEST_CASE("read: the caller's own chat encoder is used") {
  const ReadSample sample;
  write_file(
      sample.scratch / "chat.jsonl",
      R"({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]})");
  const data::ReadOptions options{.chat = [](const io::Conversation& conversation) {
    return std::vector<data::EncodedDocument>{
        {{30, static_cast<std::int32_t>(conversation.turns.size())}, 1, {}}};
  }};
  const auto documents = data::read_sequences({sample.scratch / "chat.jsonl"}, sample.tokenizer,
                                              sample.tokenizer.size(), options);
  CHECK(documents.document(0) == std::vector<std::int32_t>{30, 2});
  CHECK(documents.prompt_length(0) == 1);
}

TEST_CASE("read: a folder's chat template writes the turns, of which the replies carry loss") {
  const ReadSample sample;
  const auto& tokenizer = sample.tokenizer;
  write_file(sample.scratch / "chat.jsonl",
             "{\"messages\": [{\"role\": \"user\", \"content\": \"2+2?\"}, {\"role\": "
             "\"assistant\", \"content\": \"4\"}, {\"role\": \"user\", \"content\": \"sure?\"}, "
             "{\"role\": \"assistant\", \"content\": \"yes\"}]}\n");
  write_file(sample.scratch / "chat_template.jinja",
             "{% for m in messages %}[{{ m.role }}]{{ m.content }};{% endfor %}"
             "{% if add_generation_prompt %}[assistant]{% endif %}");
  data::ReadOptions options;
  options.chat = data::folder_chat_encoder(sample.scratch.path(), tokenizer);
  const auto documents =
      data::read_sequences({sample.scratch / "chat.jsonl"}, tokenizer, tokenizer.size(), options);
  REQUIRE(documents.size() == 2);
  const auto part = [&](std::int64_t i, bool reply) {
    auto ids = documents.document(i);
    const auto prompt = static_cast<std::ptrdiff_t>(documents.prompt_length(i));
    return tokenizer.decode(reply ? std::vector(ids.begin() + prompt, ids.end())
                                  : std::vector(ids.begin(), ids.begin() + prompt));
  };
  CHECK(part(0, false) == "[user]2+2?;[assistant]");
  CHECK(part(0, true).starts_with("4"));
  CHECK(part(1, false) == "[user]2+2?;[assistant]4;[user]sure?;[assistant]");
  CHECK(part(1, true).starts_with("yes"));

  std::filesystem::create_directory(sample.scratch / "other");
  options.chat = data::folder_chat_encoder(sample.scratch / "other", tokenizer);
  const auto plain =
      data::read_sequences({sample.scratch / "chat.jsonl"}, tokenizer, tokenizer.size(), options);
  CHECK(tokenizer.decode(plain.document(0)) == "Question: 2+2?\n\nAnswer: 4");
}

TEST_CASE("read: shards of token ids are split at end-of-text") {
  const ReadSample sample;
  const Lists expected = {{11, 12}, {13}};
  CHECK(lists_of(sample.read("raw.bin", shard_bytes({11, 12, 0, 13, 0}))) == expected);
  const auto header = shard_header(20240520, 1, 5);
  CHECK(lists_of(sample.read("llm.bin", header + shard_bytes({0, 11, 12, 0, 13}))) == expected);
  CHECK(test::contains(sample.refusal("odd.bin", "abc"), "even number"));
  CHECK(test::contains(sample.refusal("bad.bin", shard_bytes({11, 9999})),
                       "token 1 is outside the vocabulary; got id 9999"));
  CHECK(test::contains(sample.refusal("lie.bin", shard_header(20240520, 1, 1000) + "ab"),
                       "says it has 1000 tokens"));
  CHECK(test::contains(sample.refusal("new.bin", shard_header(20240520, 3, 0)), "version 3"));
  CHECK(test::contains(sample.refusal("cut.bin", header.substr(0, 100)), "says it has"));
}

TEST_CASE("read: a folder is read in order, without hidden, binary and large files") {
  const ReadSample sample;
  const auto folder = sample.scratch / "source";
  make_folder(folder / "sub");
  make_folder(folder / ".git");
  write_file(folder / "b.py", "print(1)");
  write_file(folder / "a.py", "broken \xFF byte");
  write_file(folder / "sub/package.json", "{\"name\": 1}");
  write_file(folder / "empty.txt", "");
  write_file(folder / "picture.raw", std::string("a\0b", 3));
  write_file(folder / "large.txt", std::string(300, 'x'));
  write_file(folder / ".git/HEAD", "ref");
  std::vector<std::string> paths;
  const auto counts = data::read_sequences_into(
      {folder}, sample.tokenizer, sample.tokenizer.size(),
      [&](data::EncodedDocument&& document) { paths.push_back(document.info.path); },
      {.max_file_size = 200});
  CHECK(paths == std::vector<std::string>{"a.py", "b.py", "sub/package.json"});
  CHECK(counts.repaired == 1);
  CHECK(counts.files == 6);
  CHECK(counts.skipped.at("binary") == 1);
  CHECK(counts.skipped.at("too large") == 1);
  CHECK(counts.skipped.at("empty") == 1);
}

TEST_CASE("read: files that are no data are refused with a reason") {
  const ReadSample sample;
  CHECK(test::contains(sample.refusal("a.json", "{\"tokens\": [1, 2"), "is not JSON"));
  CHECK(test::contains(sample.refusal("b.json", "{\"name\": \"x\"}"), "none of the forms"));
  CHECK(test::contains(sample.refusal("c.json", "42"), "where an entry was expected"));
  CHECK(test::contains(sample.refusal("d.json", "{\"messages\": " + std::string(500, '[')),
                       "nested deeper than 64"));
  CHECK(test::contains(sample.refusal("e.json", "{\"skip\": " + std::string(500, '[')),
                       "nested deeper than 64"));
  CHECK(test::contains(sample.refusal("f.json", R"({"token_sequences": [{"a": 1}]})"),
                       "expected lists of ids"));
  CHECK(test::contains(sample.refusal("g.json", "[[1, [2]]]"), "got a list"));
  CHECK(test::contains(sample.refusal("h.json", "[]"), "no document"));
  CHECK(test::contains(sample.refusal("i.json", ""), "no document"));
  CHECK(test::contains(sample.refusal("j.json", "{\"text\": \"\xFF\"}"), "is not JSON"));
  CHECK(test::contains(sample.refusal("k.dat", std::string("\0\1", 2)), "is binary"));
  CHECK(test::contains(test::refusal_of(ErrorKind::Input,
                                        [&] {
                                          (void)data::read_sequences({sample.scratch / "none.json"},
                                                                     sample.tokenizer, 266);
                                        }),
                       "there is no"));
}

TEST_CASE("text encoder: gives the tokenizer's ids, also for words met again") {
  io::TokenizerTrainer trainer({.size = 400,
                                .special = {"<|endoftext|>"},
                                .split = {io::SplitStep::EachNumber, io::SplitStep::Words}});
  const std::string text =
      "def add(self, a, b):\n    return a + b  # it's 123 naïve 世界\n\n\n\tself.x = 'y'  \n"
      "aVeryLongIdentifierNameThatDoesNotFitIntoOneSlotOfTheTable <|endoftext|> \xFF\xFE end";
  trainer.add(text);
  const io::Tokenizer tokenizer(trainer.train());
  data::TextEncoder encoder(tokenizer);
  CHECK(encoder.encode(text) == tokenizer.encode(text));
  CHECK(encoder.encode(text) == tokenizer.encode(text));
  auto prefixed = tokenizer.model();
  prefixed.split = {io::SplitStep::PrefixSpace, io::SplitStep::Words};
  const io::Tokenizer spaced(prefixed);
  CHECK(data::TextEncoder(spaced).encode(text) == spaced.encode(text));
}
