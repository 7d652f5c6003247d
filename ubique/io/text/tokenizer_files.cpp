// SPDX-License-Identifier: Apache-2.0
// GPT-2's pair of files, the search for a tokenizer in a folder, and what the readers share.
#include "ubique/io/text/tokenizer_files.h"

#include <algorithm>
#include <limits>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/printable.h"

namespace ubique::io {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEndOfText = "<|endoftext|>";
constexpr std::int64_t kLongestTokenizer = 1LL << 28;  // bytes; the largest known has 20 MB

}  // namespace

std::int32_t token_id(const Json& id, const std::string& where) {
  const bool whole = id.is_number_integer();
  const auto value =
      !whole ? -1
      : id.is_number_unsigned()
          ? static_cast<std::int64_t>(std::min<std::uint64_t>(id.get<std::uint64_t>(), 1ULL << 40U))
          : id.get<std::int64_t>();
  check(whole && value >= 0 && value < std::numeric_limits<std::int32_t>::max(), ErrorKind::Input,
        "[io.tokenizer] {} has an invalid token id; got {}.", where,
        printable(id.dump(-1, ' ', true), 40));
  return static_cast<std::int32_t>(value);
}

void read_vocabulary(const Json& vocabulary, TokenizerModel& model, const std::string& where) {
  check(vocabulary.is_object(), ErrorKind::Input,
        "[io.tokenizer] {} has no vocabulary; got {}, expected tokens with their ids.", where,
        vocabulary.type_name());
  for (const auto& [spelling, id] : vocabulary.items()) {
    model.vocabulary.emplace_back(spelling, token_id(id, where));
  }
}

std::pair<std::string, std::string> merge_line(const std::string& line, const std::string& where) {
  const auto blank = line.find(' ');
  const bool two = blank != std::string::npos && blank > 0 && blank + 1 < line.size() &&
                   line.find(' ', blank + 1) == std::string::npos;
  check(two, ErrorKind::Input,
        "[io.tokenizer] {} has a merge that is not two tokens with a blank between; got '{}'.",
        where, printable(line, 80));
  return {line.substr(0, blank), line.substr(blank + 1)};
}

Tokenizer parse_gpt2_tokenizer(std::string_view vocabulary, std::string_view merges,
                               std::string_view added, const std::string& where) {
  TokenizerModel model;
  read_vocabulary(parse_json(vocabulary, where), model, where);
  while (!merges.empty()) {
    const auto end = std::min(merges.find('\n'), merges.size());
    auto line = std::string(merges.substr(0, end));
    merges.remove_prefix(std::min(end + 1, merges.size()));
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty() || line.starts_with("#version")) continue;
    model.merges.push_back(merge_line(line, where));
  }
  for (const auto& [spelling, id] : model.vocabulary) {
    if (spelling == kEndOfText) model.added.push_back({.id = id, .content = spelling});
  }
  TokenizerModel extra;
  if (!added.empty()) read_vocabulary(parse_json(added, where), extra, where);
  for (const auto& [content, id] : extra.vocabulary) {
    if (content != kEndOfText) model.added.push_back({.id = id, .content = content});
  }
  return Tokenizer(std::move(model), where);
}

Tokenizer read_tokenizer(const fs::path& path) {
  const auto text = [](const fs::path& file) { return read_file(file, kLongestTokenizer); };
  if (!fs::is_directory(path)) return parse_tokenizer_json(text(path), path.string());
  if (fs::exists(path / "tokenizer.json")) {
    return parse_tokenizer_json(text(path / "tokenizer.json"), (path / "tokenizer.json").string());
  }
  const bool pair = fs::exists(path / "vocab.json") && fs::exists(path / "merges.txt");
  check(pair, ErrorKind::Input,
        "[io.tokenizer] no tokenizer in {}; expected tokenizer.json, or vocab.json and merges.txt.",
        path.string());
  const auto added = path / "added_tokens.json";
  return parse_gpt2_tokenizer(text(path / "vocab.json"), text(path / "merges.txt"),
                              fs::exists(added) ? text(added) : std::string(), path.string());
}

}  // namespace ubique::io
