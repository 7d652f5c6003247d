// SPDX-License-Identifier: Apache-2.0
// Fill-in-the-middle against golden examples, and its random use.
#include "ubique/data/code/fim.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "code_samples.h"
#include "tests/base/scratch.h"
#include "tests/shared.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"

using namespace ubique;

namespace {

using Ids = std::vector<std::int32_t>;

Ids ids_at(const Json& json, const char* key) { return json.at(key).get<Ids>(); }

/// What follows the sentinels, back in its order.
Ids restored(Ids ids, const data::FimTokens& tokens) {
  std::erase(ids, tokens.pad);
  const auto suffix = std::find(ids.begin(), ids.end(), tokens.suffix);
  const auto middle = std::find(ids.begin(), ids.end(), tokens.middle);
  Ids out(ids.begin() + 1, suffix);
  out.insert(out.end(), middle + 1, ids.end());
  out.insert(out.end(), suffix + 1, middle);
  return out;
}

}  // namespace

TEST_CASE("fim: the golden examples are reproduced exactly") {
  const auto folder = test::shared_folder("golden/codelm");
  if (folder.empty()) return;
  const auto tokenizer = io::read_tokenizer(folder / "tokenizer");
  const auto golden = parse_json(read_file(folder / "fim/fim.json"), "fim.json");
  const auto tokens = data::find_fim_tokens(tokenizer);
  REQUIRE(tokens.has_value());
  int examples = 0;
  for (const auto& example : golden.at("examples")) {
    const auto cuts = example.at("char_cuts").get<std::vector<std::int64_t>>();
    const auto parts =
        data::cut_characters(example.at("text").get<std::string>(), cuts[0], cuts[1], tokenizer);
    CHECK(data::arrange_fim(parts, data::FimOrder::Psm, *tokens) ==
          ids_at(example, "char_psm_ids"));
    CHECK(data::arrange_fim(parts, data::FimOrder::Spm, *tokens) ==
          ids_at(example, "char_spm_ids"));
    const auto ids = ids_at(example, "ids");
    const auto token_cuts = example.at("token_cuts").get<std::vector<std::int64_t>>();
    const auto pieces = data::cut_tokens(ids, token_cuts[0], token_cuts[1]);
    CHECK(data::arrange_fim(pieces, data::FimOrder::Psm, *tokens) ==
          ids_at(example, "token_psm_ids"));
    CHECK(data::arrange_fim(pieces, data::FimOrder::Spm, *tokens) ==
          ids_at(example, "token_spm_ids"));
    const auto fits = [&](const data::FimParts& cut, std::int64_t length, const Json& expected) {
      const auto psm = data::arrange_fim_to(cut, data::FimOrder::Psm, *tokens, length);
      const auto spm = data::arrange_fim_to(cut, data::FimOrder::Spm, *tokens, length);
      REQUIRE(psm.has_value() == !expected.is_null());
      if (!psm) return;
      CHECK(*psm == ids_at(expected, "psm_ids"));
      CHECK(*spm == ids_at(expected, "spm_ids"));
    };
    fits(pieces, static_cast<std::int64_t>(ids.size()),
         example.at("token_truncated_to_original_length"));
    fits(parts, example.at("char_fixed_length_target").get<std::int64_t>(),
         example.at("char_truncate_or_pad_to_target"));
    ++examples;
  }
  CHECK(examples == 10);
}

TEST_CASE("fim: a rearranged document keeps its length and loses only the end of its suffix") {
  const auto tokenizer = test::code_tokenizer();
  const data::FimTransform fim(tokenizer, {.rate = 1});
  const auto original = tokenizer.encode("def f(x):\n    return x * 2  # naïve\n");
  int changed = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    auto ids = original;
    if (!fim.apply(ids, Random(seed))) {
      CHECK(ids == original);
      continue;
    }
    ++changed;
    CHECK(ids.size() == original.size());
    const auto psm = ids[1] != fim.tokens().suffix;
    if (psm) {
      const auto text = restored(ids, fim.tokens());
      CHECK(std::equal(text.begin(), text.end(), original.begin()));
      CHECK(text.size() + 3 >= original.size());
    }
    auto again = original;
    fim.apply(again, Random(seed));
    CHECK(again == ids);
  }
  CHECK(changed > 30);
}

TEST_CASE(
    "fim: a header of special tokens stays in front, and a window inside a character is left") {
  const auto tokenizer = test::code_tokenizer();
  const data::FimTransform fim(tokenizer, {.rate = 1, .spm_share = 0});
  auto ids = tokenizer.encode("<filename>", io::SpecialTokens::Parse);
  const auto text = tokenizer.encode("a.py\nprint(1)\nprint(2)\nprint(3)\n");
  ids.insert(ids.end(), text.begin(), text.end());
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    auto made = ids;
    if (!fim.apply(made, Random(seed))) continue;
    CHECK(made[0] == ids[0]);
    CHECK(made[1] == fim.tokens().prefix);
  }
  auto broken = tokenizer.encode("\xC3\xA9nough text to be cut here");
  broken.erase(broken.begin());
  const auto before = broken;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CHECK_FALSE(fim.apply(broken, Random(seed)));
    CHECK(broken == before);
  }
}

TEST_CASE("fim: a tokenizer without sentinels and shares out of range are refused") {
  const auto plain = test::code_tokenizer({"<|endoftext|>"});
  CHECK(test::contains(test::refusal_of(ErrorKind::Input, [&] { data::FimTransform(plain, {}); }),
                       "<fim_prefix>"));
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Usage, [&] { data::validate(data::FimOptions{.rate = 1.5}); }),
      "--fim-rate"));
  const auto santa = test::code_tokenizer(
      {"<|endoftext|>", "<fim-prefix>", "<fim-middle>", "<fim-suffix>", "<fim-pad>"});
  CHECK(data::find_fim_tokens(santa)->suffix == 3);
}
