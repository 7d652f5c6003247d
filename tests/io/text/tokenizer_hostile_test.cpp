// SPDX-License-Identifier: Apache-2.0
// Damaged and unsupported tokenizer files: each gives an Input error that names the fault.
#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "tokenizer_samples.h"
#include "ubique/base/text/json.h"

using namespace ubique;
using test::contains;
using test::refusal_of;

namespace {

Json small_file_json() { return parse_json(io::tokenizer_json(test::small_tokenizer()), "sample"); }

std::string refusal_for(const Json& file) {
  return refusal_of(ErrorKind::Input,
                    [&] { (void)io::parse_tokenizer_json(file.dump(), "t.json"); });
}

/// The message for the small file with one value changed.
std::string refusal_with(const std::string& pointer, const Json& value) {
  auto file = small_file_json();
  file[Json::json_pointer(pointer)] = value;
  return refusal_for(file);
}

}  // namespace

TEST_CASE("tokenizer: parts that would change the tokens are refused by name") {
  CHECK(contains(refusal_with("/model/type", "WordPiece"), "model 'WordPiece'"));
  CHECK(contains(refusal_with("/normalizer", {{"type", "NFKC"}}), "normalizer 'NFKC'"));
  CHECK(
      contains(refusal_with("/normalizer", {{"type", "Prepend"}, {"prepend", "x"}}), "'Prepend'"));
  CHECK(contains(refusal_with("/post_processor", {{"type", "BertProcessing"}}),
                 "post_processor 'BertProcessing'"));
  CHECK(
      contains(refusal_with("/post_processor", {{"type", "TemplateProcessing"},
                                                {"single", {{{"SpecialToken", {{"id", "<s>"}}}}}}}),
               "without ids"));
  CHECK(
      contains(refusal_with("/post_processor", {{"type", "TemplateProcessing"},
                                                {"single", {{{"SpecialToken", {{"id", "<s>"}}}}}},
                                                {"special_tokens", {{"<s>", {{"ids", {9999}}}}}}}),
               "unknown token; got id 9999"));
  CHECK(contains(refusal_with("/decoder", {{"type", "Metaspace"}}),
                 "pre_tokenizer ByteLevel with another decoder"));
  CHECK(contains(refusal_with("/model/type", "Unigram"), "Unigram over bytes"));
  CHECK(contains(
      refusal_with("/normalizer", {{"type", "Precompiled"}, {"precompiled_charsmap", "*"}}),
      "precompiled_charsmap is not understood"));
  CHECK(contains(
      refusal_with("/normalizer", {{"type", "Precompiled"}, {"precompiled_charsmap", "/////wAA"}}),
      "precompiled_charsmap is cut short"));
  CHECK(contains(refusal_with("/decoder", {{"type", "WordPiece"}}), "decoder 'WordPiece'"));
  CHECK(contains(refusal_with("/decoder", nullptr), "expected ByteLevel as both"));
  const auto digits = Json{{"type", "Digits"}, {"individual_digits", true}};
  CHECK(contains(refusal_with("/pre_tokenizer", digits), "decoder ByteLevel alone"));
  CHECK(contains(
      refusal_with("/pre_tokenizer",
                   {{"type", "Sequence"}, {"pretokenizers", {{{"type", "ByteLevel"}}, digits}}}),
      "after ByteLevel"));
  CHECK(contains(refusal_with("/pre_tokenizer", {{"type", "Whitespace"}}),
                 "decoder ByteLevel alone"));
  CHECK(contains(refusal_with("/pre_tokenizer", nullptr), "pre_tokenizer without a type"));
  CHECK(contains(
      refusal_with("/pre_tokenizer",
                   {{"type", "Split"}, {"pattern", {{"Regex", "\\w+"}}}, {"behavior", "Isolated"}}),
      "Split at '\\w+'"));
  CHECK(contains(refusal_with("/model/dropout", 0.1), "dropout"));
  CHECK(contains(refusal_with("/model/byte_fallback", true), "byte_fallback"));
  CHECK(contains(refusal_with("/model/end_of_word_suffix", "</w>"), "end_of_word_suffix"));
}

TEST_CASE("tokenizer: invalid ids and merges are refused") {
  CHECK(contains(refusal_with("/model/vocab/the", -1), "got -1"));
  CHECK(contains(refusal_with("/model/vocab/the", 1.5), "got 1.5"));
  CHECK(contains(refusal_with("/model/vocab/the", 18446744073709551615ULL), "token id"));
  CHECK(contains(refusal_with("/model/vocab/the", 2'000'000'000), "far beyond"));
  CHECK(contains(refusal_with("/model/vocab/the", 65), "gives the id 65 to two tokens"));
  CHECK(contains(refusal_with("/added_tokens/0/id", 65), "gives the id 65 to two tokens"));
  CHECK(contains(refusal_with("/added_tokens/0/content", ""), "without content"));
  CHECK(contains(refusal_with("/added_tokens/0/content", "the"), "two ids"));
  CHECK(contains(refusal_with("/model/merges/0", "t"), "two tokens with a blank"));
  CHECK(contains(refusal_with("/model/merges/0", "t h e"), "two tokens with a blank"));
  CHECK(contains(refusal_with("/model/merges/0", "t q"), "the vocabulary lacks; got 'tq'"));
  CHECK(contains(refusal_with("/model/merges/0", {"t", "h", "e"}), "neither"));
  CHECK(contains(refusal_with("/model/merges", "t h"), "no merges"));
  CHECK(contains(refusal_with("/model/vocab", Json::array()), "no vocabulary"));
}

TEST_CASE("tokenizer: merges may be texts or pairs") {
  auto file = small_file_json();
  for (auto& merge : file["model"]["merges"]) {
    const auto line = merge.get<std::string>();
    const auto blank = line.find(' ');
    merge = {line.substr(0, blank), line.substr(blank + 1)};
  }
  CHECK(io::parse_tokenizer_json(file.dump(), "pairs").model().merges ==
        test::small_tokenizer().merges);
}

TEST_CASE("tokenizer: a file cut anywhere is an error, never a crash") {
  const auto text = small_file_json().dump();
  for (std::size_t length = 0; length < text.size(); length += 7) {
    (void)refusal_of(ErrorKind::Input,
                     [&] { (void)io::parse_tokenizer_json(text.substr(0, length), "cut"); });
  }
}

TEST_CASE("tokenizer: an unknown id cannot be decoded") {
  const io::Tokenizer tokenizer(test::small_tokenizer());
  for (const std::int32_t id : {-1, 262}) {
    const std::vector<std::int32_t> ids = {id};
    CHECK(contains(refusal_of(ErrorKind::Input, [&] { (void)tokenizer.decode(ids); }),
                   "expected 0 to 261"));
  }
}
