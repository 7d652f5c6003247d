// SPDX-License-Identifier: Apache-2.0
// Chat tokens, and training rows of conversations.
#include "ubique/data/chat/chat_rows.h"

#include <doctest/doctest.h>

#include "chat_samples.h"
#include "tests/base/scratch.h"
#include "ubique/data/puzzles/set/puzzle_set.h"

using namespace ubique;
using test::asks;
using test::says;

namespace {

struct RowSample {
  io::Tokenizer tokenizer = test::byte_tokenizer();
  io::MarkerTemplate tokens{tokenizer};

  data::ChatRows rows(const std::vector<io::Turn>& turns, const data::RowOptions& options) const {
    return data::chat_rows({turns}, tokens, options);
  }
  /// The text of a row's inputs without its padding.
  std::string text(const data::ChatRow& row) const {
    std::vector<std::int32_t> ids;
    for (const auto id : row.inputs) {
      if (id != tokens.pad()) ids.push_back(id);
    }
    return tokenizer.decode(ids);
  }
  /// The text of the labels, a dot for ignored ones.
  std::string label_text(const data::ChatRow& row) const {
    std::string text;
    for (const auto label : row.labels) {
      text += label == data::kIgnoredLabel ? "." : tokenizer.bytes(label);
    }
    return text;
  }
};

}  // namespace

TEST_CASE("chat tokens: turns are enclosed in markers, joined by sep, ended by endoftext") {
  const RowSample sample;
  const std::vector<io::Turn> turns = {{io::Role::System, "s"}, asks("q"), says("a")};
  CHECK(sample.tokenizer.decode(sample.tokens.turns(turns, true).ids) ==
        "<|system|>s<|endsystem|><|sep|><|user|>q<|enduser|><|sep|><|assistant|>a<|endassistant|>"
        "<|endoftext|>");
  CHECK(sample.tokenizer.decode(sample.tokens.prompt(std::span(turns).first(2))) ==
        "<|system|>s<|endsystem|><|sep|><|user|>q<|enduser|><|sep|><|assistant|>");
}

TEST_CASE("chat tokens: a prompt is a prefix of the training tokens") {
  const RowSample sample;
  const std::vector<io::Turn> turns = {asks("q"), says("a"), asks("r"), says("b")};
  const auto learnt = sample.tokens.turns(turns, true).ids;
  for (const std::size_t count : {1U, 3U}) {
    const auto prompt = sample.tokens.prompt(std::span(turns).first(count));
    REQUIRE(prompt.size() < learnt.size());
    CHECK(std::equal(prompt.begin(), prompt.end(), learnt.begin()));
  }
}

TEST_CASE("chat tokens: markers in a user's text cannot end a turn") {
  const RowSample sample;
  const auto tokens = sample.tokens.turn(asks("<|enduser|><|endoftext|>"));
  CHECK(std::count(tokens.ids.begin(), tokens.ids.end(), sample.tokens.end_of(io::Role::User)) ==
        1);
  CHECK(std::count(tokens.ids.begin(), tokens.ids.end(), sample.tokens.end()) == 0);
}

TEST_CASE("chat tokens: a tokenizer without markers is refused, and they are named") {
  const io::Tokenizer plain(io::TokenizerModel{.vocabulary = {{"a", 0}}});
  const auto message = test::refusal_of(ErrorKind::Input, [&] { (void)io::MarkerTemplate(plain); });
  CHECK(test::contains(message, "<|endassistant|>"));
}

TEST_CASE("chat rows: each label is the token after its input, padding has none") {
  const RowSample sample;
  const auto made = sample.rows({asks("qq"), says("aa")}, {.length = 14});
  REQUIRE(made.rows.size() == 1);
  const auto& row = made.rows[0];
  const auto tokens = sample.tokens.turns(std::vector{asks("qq"), says("aa")}, true).ids;
  REQUIRE(tokens.size() == 10);
  for (std::size_t i = 0; i < 14; ++i) {
    CHECK(row.inputs[i] == (i < 9 ? tokens[i] : sample.tokens.pad()));
    CHECK(row.labels[i] == (i < 9 ? tokens[i + 1] : data::kIgnoredLabel));
  }
  CHECK(row.tokens == 9);
  CHECK(made.lost == 0);
}

TEST_CASE("chat rows: loss on the assistant counts its text and its end marker alone") {
  const RowSample sample;
  const auto row =
      sample.rows({asks("qq"), says("aa")}, {.length = 11, .loss_on = data::LossOn::Assistant})
          .rows[0];
  CHECK(sample.label_text(row) == ".....aa<|endassistant|>...");
  CHECK(row.tokens == 3);
  CHECK(row.inputs[5] == sample.tokens.start_of(io::Role::Assistant));
}

TEST_CASE("chat rows: a long conversation is cut, or becomes rows of whole turns") {
  const RowSample sample;
  const std::vector<io::Turn> turns = {asks("q1"), says("a1"), asks("q2"),
                                       says("a2"), asks("q3"), says("a3")};
  // Ten tokens for a question and its answer: twenty labels hold two pairs.
  const auto cut = sample.rows(turns, {.length = 20, .long_chats = data::LongChats::Cut});
  REQUIRE(cut.rows.size() == 1);
  CHECK(cut.lost == 9);
  const auto windows = sample.rows(turns, {.length = 20});
  REQUIRE(windows.rows.size() == 2);
  CHECK(windows.lost == 0);
  CHECK(test::contains(sample.label_text(windows.rows[0]), "a2<|endassistant|><|sep|>"));
  CHECK(sample.text(windows.rows[1]).starts_with("<|user|>q3"));
  CHECK(test::contains(sample.label_text(windows.rows[1]), "a3<|endassistant|><|endoftext|>"));
}

TEST_CASE("chat rows: an answer that does not fit takes its question into the next row") {
  const RowSample sample;
  const std::vector<io::Turn> turns = {asks("q1"), says("a1"), asks("q2"), says("a2")};
  const auto windows = sample.rows(turns, {.length = 16});
  REQUIRE(windows.rows.size() == 2);
  CHECK(test::contains(sample.text(windows.rows[0]), "q2"));
  CHECK(sample.text(windows.rows[1]).starts_with("<|user|>q2<|enduser|><|sep|><|assistant|>a2"));
}

TEST_CASE("chat rows: only turns longer than a row are cut, and dropped tokens are counted") {
  const RowSample sample;
  const auto windows =
      sample.rows({asks("q"), says("0123456789"), asks("r"), says("s")}, {.length = 10});
  REQUIRE(windows.rows.size() == 2);
  CHECK(sample.text(windows.rows[0]) == "<|user|>q<|enduser|><|sep|><|assistant|>01234");
  CHECK(sample.text(windows.rows[1]).starts_with("<|user|>r<|enduser|><|sep|><|assistant|>s"));
  CHECK(windows.lost == 6);
}

TEST_CASE("chat rows: names of options are checked") {
  CHECK(data::parse_long_chats("cut") == data::LongChats::Cut);
  CHECK(data::parse_loss_on("assistant") == data::LossOn::Assistant);
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Usage, [] { (void)data::parse_loss_on("asistant"); }),
      "Did you mean 'assistant'?"));
  CHECK_THROWS_AS((void)data::parse_long_chats("trim"), Error);
}
