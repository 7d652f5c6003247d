// SPDX-License-Identifier: Apache-2.0
// Compares with texts that the tokenizers library encoded, decoded and split; skipped where the
// golden files are missing.
#include <doctest/doctest.h>

#include "tests/shared.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"
#include "ubique/io/text/tokenizer.h"
#include "ubique/io/text/tokenizer_bytes.h"

using namespace ubique;

namespace {

using Ids = std::vector<std::int32_t>;

struct Golden {
  io::Tokenizer tokenizer;
  Json cases;
};

std::optional<Golden> golden_tokenizer() {
  const auto folder = test::shared_folder("golden/codelm/tokenizer");
  if (folder.empty()) return std::nullopt;
  return Golden{io::read_tokenizer(folder),
                parse_json(read_file(folder / "tokenizer_cases.json"), "cases")};
}

}  // namespace

TEST_CASE("tokenizer: every text has the ids, tokens and decoded forms of the original") {
  const auto golden = golden_tokenizer();
  if (!golden) return;
  const auto& [tokenizer, root] = *golden;
  CHECK(tokenizer.size() == root["vocab_size"].get<std::int64_t>());
  REQUIRE(root["cases"].size() > 400);
  for (const auto& row : root["cases"]) {
    const auto text = row["text"].get<std::string>();
    CAPTURE(text);
    const auto ids = tokenizer.encode(text, io::SpecialTokens::Parse);
    CHECK(ids == row["ids"].get<Ids>());
    std::vector<std::string> tokens;
    for (const auto id : ids) tokens.push_back(tokenizer.spelling(id));
    CHECK(tokens == row["tokens"].get<std::vector<std::string>>());
    CHECK(tokenizer.decode(ids) == row["decoded"].get<std::string>());
    CHECK(tokenizer.decode(ids, true) == row["decoded_skip_special"].get<std::string>());
  }
}

TEST_CASE("tokenizer: cut and shuffled tokens decode to the original's replacement characters") {
  const auto golden = golden_tokenizer();
  if (!golden) return;
  for (const auto& row : golden->cases["decode_only"]) {
    CHECK(golden->tokenizer.decode(row["ids"].get<Ids>()) == row["decoded"].get<std::string>());
  }
}

TEST_CASE("tokenizer: texts are cut into the original's words") {
  const auto golden = golden_tokenizer();
  if (!golden) return;
  for (const auto& row : golden->cases["pre_tokenizer"]) {
    std::vector<std::string> pieces;
    io::split_words(row["text"].get<std::string>(), golden->tokenizer.model().split,
                    [&](std::string_view word) { pieces.push_back(io::visible_bytes(word)); });
    CHECK(pieces == row["pieces"].get<std::vector<std::string>>());
  }
}

TEST_CASE("tokenizer: a file that is read and written again encodes as before") {
  const auto golden = golden_tokenizer();
  if (!golden) return;
  const auto text = io::tokenizer_json(golden->tokenizer.model());
  const auto again = io::parse_tokenizer_json(text, "again");
  CHECK(io::tokenizer_json(again.model()) == text);
  for (const auto& row : golden->cases["cases"]) {
    CHECK(again.encode(row["text"].get<std::string>(), io::SpecialTokens::Parse) ==
          row["ids"].get<Ids>());
  }
}
