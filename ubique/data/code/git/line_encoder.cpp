// SPDX-License-Identifier: Apache-2.0
// Cuts texts where no word can cross, and looks the pieces up.
#include "ubique/data/code/git/line_encoder.h"

#include "ubique/data/code/filter/secrets.h"

namespace ubique::data {
namespace {

/// A quarter of a million lines, about 30 MB if they are as long as those of source code are.
constexpr io::WordCache::Limits kLines = {.longest = 256, .slots = std::size_t{1} << 19U};

/// Bytes that are words by themselves come back from their tokens, and no step changes them before.
bool gives_text_back(const io::Tokenizer& tokenizer) {
  const auto& model = tokenizer.model();
  if (model.units != io::TokenUnits::Bytes || !model.normal.empty() || !model.scores.empty()) {
    return false;
  }
  for (int value = 0; value < 256; ++value) {
    const std::string byte(1, static_cast<char>(value));
    const auto ids = tokenizer.encode(byte);
    if (ids.size() != 1 || tokenizer.bytes(ids.front()) != byte) return false;
  }
  return true;
}

/// Whether a character that is no whitespace surely ends here. Then a line end behind it begins a
/// word: whitespace is a word of its own, but for its last character, which the next word takes.
bool ends_word(char byte) {
  const auto value = static_cast<unsigned char>(byte);
  return value > ' ' && value < 0x80U;
}

/// Removes the text up to the first place where it can be cut.
std::string_view take_line(std::string_view& text) {
  auto end = text.find('\n', 1);
  while (end != std::string_view::npos && !ends_word(text[end - 1])) end = text.find('\n', end + 1);
  const auto line = text.substr(0, end);
  text.remove_prefix(line.size());
  return line;
}

}  // namespace

LineEncoder::LineEncoder(TextEncoder& encoder)
    : encoder_(encoder),
      gives_text_back_(encoder.by_words() && gives_text_back(encoder.tokenizer())),
      lines_(kLines) {}

bool LineEncoder::encode_line(const io::WordCache::Key& line, std::vector<std::int32_t>& out) {
  bool known = false;
  const auto ids = lines_.find(line, known);
  if (known) {
    out.insert(out.end(), ids.begin(), ids.end());
    return true;
  }
  const auto before = out.size();
  encoder_.encode(line.word, out);
  if (may_begin_secret(line.word)) return false;
  lines_.add(line, std::span(out).subspan(before));
  return true;
}

bool LineEncoder::encode(std::string_view text, std::vector<std::int32_t>& out) {
  if (!gives_text_back_) {
    encoder_.encode(text, out);
    return false;
  }
  bool none = true;
  auto line = lines_.key(take_line(text));
  while (!text.empty()) {
    const auto next = lines_.key(take_line(text));  // is loaded while this one is encoded
    none &= encode_line(line, out);
    line = next;
  }
  return encode_line(line, out) && none;
}

}  // namespace ubique::data
