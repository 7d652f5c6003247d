// SPDX-License-Identifier: Apache-2.0
// Rows of packed documents.
#include "ubique/data/code/packing.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "code_samples.h"
#include "tests/base/scratch.h"

using namespace ubique;

namespace {

/// Ids of every document of the epoch, joined by window, in the order of the rows.
std::vector<std::string> pieces_of(const data::Packing& packing, const io::Tokenizer& tokenizer) {
  std::vector<std::string> pieces;
  for (std::int64_t i = 0; i < packing.rows(); ++i) {
    const auto row = packing.row(i);
    for (std::size_t part = 0; part + 1 < row.starts.size(); ++part) {
      const auto end = row.starts[part + 1];
      if (row.padding > 0 && part + 2 == row.starts.size()) continue;
      std::string text;
      for (auto at = row.starts[part]; at < end; ++at) {
        text += tokenizer.bytes(row.ids[static_cast<std::size_t>(at)]);
      }
      pieces.push_back(text);
    }
  }
  return pieces;
}

std::vector<std::string> many_texts() {
  std::vector<std::string> texts;
  for (int i = 0; i < 40; ++i)
    texts.push_back(
        std::string(static_cast<std::size_t>(1 + i * 7 % 31), static_cast<char>('a' + i % 26)));
  texts.push_back(std::string(45, 'L') + std::string(5, 'M'));
  return texts;
}

}  // namespace

TEST_CASE("packing: every token is there once, short documents are whole, long ones are windows") {
  const auto tokenizer = test::code_tokenizer();
  const auto texts = many_texts();
  const auto documents = test::code_documents(tokenizer, texts);
  const data::Packing packing(documents, {.length = 20}, 0);
  auto pieces = pieces_of(packing, tokenizer);
  std::vector<std::string> expected;
  for (const auto& text : texts) {
    const auto whole = text + "<|endoftext|>";
    if (text.size() < 20) {
      expected.push_back(whole);
    } else {
      std::size_t at = 0;
      for (; at + 20 <= text.size(); at += 20) expected.push_back(text.substr(at, 20));
      if (at < text.size()) expected.push_back(whole.substr(at));
    }
  }
  std::sort(pieces.begin(), pieces.end());
  std::sort(expected.begin(), expected.end());
  CHECK(pieces == expected);
  std::int64_t padding = 0;
  for (std::int64_t i = 0; i < packing.rows(); ++i) padding += packing.row(i).padding;
  CHECK(padding == packing.padding());
  CHECK(padding < 20);
}

TEST_CASE("packing: labels are the next token, and stop at the end of a document") {
  const auto tokenizer = test::code_tokenizer();
  const auto documents = test::code_documents(tokenizer, {"abc", "de"});
  const data::Packing packing(documents, {.length = 9, .shuffle = false}, 0);
  REQUIRE(packing.rows() == 1);
  const auto row = packing.row(0);
  const auto id = [&](char letter) { return tokenizer.encode(std::string(1, letter))[0]; };
  const auto none = data::kNoLabel;
  CHECK(row.ids ==
        std::vector<std::int32_t>{id('a'), id('b'), id('c'), 0, id('d'), id('e'), 0, 0, 0});
  CHECK(row.labels ==
        std::vector<std::int32_t>{id('b'), id('c'), 0, none, id('e'), 0, none, none, none});
  CHECK(row.positions == std::vector<std::int32_t>{0, 1, 2, 3, 0, 1, 2, 0, 1});
  CHECK(row.starts == std::vector<std::int32_t>{0, 4, 7, 9});
  CHECK(row.label_count == 5);
  CHECK(row.padding == 2);
}

TEST_CASE("packing: a window that is cut keeps the label of its last token") {
  const auto tokenizer = test::code_tokenizer();
  const auto documents = test::code_documents(tokenizer, {"abcdef"});
  const data::Packing packing(documents, {.length = 3, .shuffle = false}, 0);
  // "abc" and "def"; end-of-text alone has nothing to predict.
  REQUIRE(packing.rows() == 2);
  CHECK(packing.row(0).labels[2] == tokenizer.encode("d")[0]);
  CHECK(packing.row(1).labels[2] == 0);
  CHECK(packing.row(1).label_count == 3);
}

TEST_CASE("packing: prompts carry no loss, and windows of a prompt alone are left out") {
  const auto tokenizer = test::code_tokenizer();
  data::CodeDocuments documents(tokenizer, tokenizer.size());
  documents.add({tokenizer.encode("askanswer"), 3, {}});
  const data::Packing packing(documents, {.length = 12}, 0);
  const auto row = packing.row(0);
  const auto none = data::kNoLabel;
  CHECK(row.labels[0] == none);
  CHECK(row.labels[1] == none);
  CHECK(row.labels[2] == tokenizer.encode("a")[0]);
  CHECK(row.label_count == 7);
  const data::Packing contiguous(documents, {.length = 12, .contiguous = true}, 0);
  CHECK(contiguous.row(0).label_count == 7);
  data::CodeDocuments longer(tokenizer, tokenizer.size());
  longer.add({tokenizer.encode(std::string(20, 'p') + "reply"), 20, {}});
  const data::Packing windows(longer, {.length = 8}, 0);
  CHECK(windows.rows() == 2);  // tokens 16..23 and 24..25; 0..7 and 8..15 are prompt
}

TEST_CASE("packing: epochs differ in order and agree in content and number of rows") {
  const auto tokenizer = test::code_tokenizer();
  const auto documents = test::code_documents(tokenizer, many_texts());
  const data::Packing first(documents, {.length = 20, .seed = 7}, 0);
  const data::Packing again(documents, {.length = 20, .seed = 7}, 0);
  const data::Packing second(documents, {.length = 20, .seed = 7}, 1);
  CHECK(first.rows() == second.rows());
  auto a = pieces_of(first, tokenizer), b = pieces_of(again, tokenizer),
       c = pieces_of(second, tokenizer);
  CHECK(a == b);
  CHECK(a != c);
  std::sort(a.begin(), a.end());
  std::sort(c.begin(), c.end());
  CHECK(a == c);
}

TEST_CASE("packing: a contiguous stream crosses documents and misses no token") {
  const auto tokenizer = test::code_tokenizer();
  const auto documents = test::code_documents(tokenizer, {"abc", "defgh", "i"});
  const data::Packing packing(documents, {.length = 4, .shuffle = false, .contiguous = true}, 0);
  REQUIRE(packing.rows() == 3);
  std::string text;
  std::int64_t labels = 0;
  std::vector<std::int32_t> stream;
  for (std::int64_t i = 0; i < 3; ++i) {
    const auto row = packing.row(i);
    CHECK(row.starts.front() == 0);
    CHECK(row.starts.back() == 4);
    for (std::size_t at = 0; at + static_cast<std::size_t>(row.padding) < 4; ++at) {
      text += tokenizer.bytes(row.ids[at]);
    }
    labels += row.label_count;
  }
  CHECK(text == "abc<|endoftext|>defgh<|endoftext|>i<|endoftext|>");
  CHECK(labels == 11);  // all of 12 but the last, which nothing follows
  CHECK(packing.row(0).labels[3] == tokenizer.encode("d")[0]);
}

TEST_CASE("packing: fill-in-the-middle keeps lengths, and its pads and last token carry no loss") {
  const auto tokenizer = test::code_tokenizer();
  std::vector<std::string> texts;
  for (int i = 0; i < 30; ++i) texts.push_back("def f" + std::to_string(i) + "(a):\n  return a\n");
  const auto documents = test::code_documents(tokenizer, texts);
  const data::PackingOptions options{.length = 64, .fim = data::FimOptions{.rate = 1}};
  const data::Packing packing(documents, options, 0, &tokenizer);
  const data::Packing plain(documents, {.length = 64}, 0);
  CHECK(packing.rows() == plain.rows());
  int rearranged = 0;
  for (std::int64_t i = 0; i < packing.rows(); ++i) {
    const auto row = packing.row(i);
    CHECK(row.starts == plain.row(i).starts);
    rearranged += static_cast<int>(std::count(row.ids.begin(), row.ids.end(), 1));
    CHECK(std::count(row.labels.begin(), row.labels.end(), 4) == 0);
  }
  CHECK(rearranged > 15);
}

TEST_CASE("packing: lengths out of range and FIM on a stream are refused") {
  const auto tokenizer = test::code_tokenizer();
  const auto documents = test::code_documents(tokenizer, {"abc"});
  for (const std::int64_t length : {std::int64_t{1}, std::int64_t{-4}, std::int64_t{1} << 40}) {
    CHECK(test::contains(test::refusal_of(ErrorKind::Usage,
                                          [&] { data::Packing(documents, {.length = length}, 0); }),
                         "expected 2 to"));
  }
  CHECK(test::contains(test::refusal_of(ErrorKind::Usage,
                                        [&] {
                                          data::validate(data::PackingOptions{
                                              .contiguous = true, .fim = data::FimOptions{}});
                                        }),
                       "contiguous"));
  const data::CodeDocuments none(tokenizer, tokenizer.size());
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Input, [&] { data::Packing(none, {.length = 4}, 0); }),
      "nothing to learn"));
}
