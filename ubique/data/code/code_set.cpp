// SPDX-License-Identifier: Apache-2.0
// Opens a folder of token documents as if a stranger had written it.
#include "ubique/data/code/code_set.h"

#include <algorithm>
#include <cstring>

#include "ubique/base/error.h"
#include "ubique/base/files/digest.h"
#include "ubique/base/text/printable.h"

namespace ubique::data {
namespace {

constexpr std::size_t kIndexEntry = 16;  // bytes per document in SPLIT.idx

std::string known_split(std::string_view split) {
  check(split == kTrainSplit || split == kValSplit, ErrorKind::Usage,
        "[data.code] unknown split; got '{}', expected train or val.", printable(split));
  return std::string(split);
}

template <typename Stored>
std::size_t first_bad_id(std::span<const std::byte> bytes, std::int64_t vocabulary) {
  const auto count = bytes.size() / sizeof(Stored);
  constexpr std::size_t kBlock = 1U << 16U;  // a block's maximum is found at memory speed
  for (std::size_t start = 0; start < count; start += kBlock) {
    const auto end = std::min(count, start + kBlock);
    Stored most = 0;
    for (auto i = start; i < end; ++i) {
      Stored id{};
      std::memcpy(&id, bytes.data() + i * sizeof(Stored), sizeof(Stored));
      most = std::max(most, id);
    }
    if (static_cast<std::int64_t>(most) < vocabulary) continue;
    for (auto i = start; i < end; ++i) {
      Stored id{};
      std::memcpy(&id, bytes.data() + i * sizeof(Stored), sizeof(Stored));
      if (static_cast<std::int64_t>(id) >= vocabulary) return i;
    }
  }
  return count;
}

}  // namespace

CodeSet::CodeSet(const std::filesystem::path& folder, std::string_view split)
    : folder_(folder),
      split_(known_split(split)),
      header_(read_code_set_header(folder)),
      part_(header_.split(split_)),
      width_(token_width(header_.vocabulary)),
      ids_(folder / (split_ + ".bin")),
      index_(folder / (split_ + ".idx")) {
  check_sizes();
  check_index();
  check_ids();
  const auto digest = split_digest(counted_ids(), counted_index());
  check(digest == part_.digest, ErrorKind::Input,
        "[data.code] {} is damaged: its digest is {}, dataset.json says {}. Make the data again.",
        ids_.path().string(), digest, printable(part_.digest, 40));
  fingerprint_ = digest_of(header_.tokenizer_hash + digest + std::to_string(header_.vocabulary));
}

void CodeSet::check_sizes() const {
  const auto require = [](const MappedFile& file, std::size_t count, std::size_t each) {
    check(file.bytes().size() / each >= count, ErrorKind::Input,
          "[data.code] {} is too short; got {} bytes, expected {} entries of {}.",
          file.path().string(), file.bytes().size(), count, each);
  };
  require(ids_, static_cast<std::size_t>(part_.tokens), width_);
  require(index_, static_cast<std::size_t>(part_.documents), kIndexEntry);
}

std::span<const std::byte> CodeSet::counted_ids() const {
  return ids_.bytes().first(static_cast<std::size_t>(part_.tokens) * width_);
}

std::span<const std::byte> CodeSet::counted_index() const {
  return index_.bytes().first(static_cast<std::size_t>(part_.documents) * kIndexEntry);
}

std::int64_t CodeSet::index_value(std::int64_t document, std::size_t column) const {
  check(document >= 0 && document < part_.documents, ErrorKind::Internal,
        "[data.code] no document {}; there are {}.", document, part_.documents);
  std::int64_t value = 0;
  std::memcpy(&value,
              index_.bytes().data() + static_cast<std::size_t>(document) * kIndexEntry + column * 8,
              sizeof(value));
  return value;
}

void CodeSet::check_index() const {
  std::int64_t before = 0;
  for (std::int64_t i = 0; i < part_.documents; ++i) {
    const auto first = index_value(i, 0);
    const auto prompt = index_value(i, 1);
    check(i == 0 ? first == 0 : first >= before, ErrorKind::Input,
          "[data.code] {}: document {} begins at token {}, before the one in front of it.",
          index_.path().string(), i, first);
    const auto end = i + 1 < part_.documents ? index_value(i + 1, 0) : part_.tokens;
    check(end >= first && end <= part_.tokens, ErrorKind::Input,
          "[data.code] {}: document {} ends at token {}; expected {} to {}.",
          index_.path().string(), i, end, first, part_.tokens);
    check(prompt >= 0 && prompt <= end - first, ErrorKind::Input,
          "[data.code] {}: document {} has a prompt of {} in {} tokens.", index_.path().string(), i,
          prompt, end - first);
    before = first;
  }
  check(part_.documents > 0 || part_.tokens == 0, ErrorKind::Input,
        "[data.code] {}: {} tokens without a document.", index_.path().string(), part_.tokens);
}

void CodeSet::check_ids() const {
  const auto bytes = counted_ids();
  const auto bad = width_ == 2 ? first_bad_id<std::uint16_t>(bytes, header_.vocabulary)
                               : first_bad_id<std::uint32_t>(bytes, header_.vocabulary);
  if (bad * width_ >= bytes.size()) return;
  std::uint32_t id = 0;
  std::memcpy(&id, bytes.data() + bad * width_, width_);
  fail(ErrorKind::Input,
       "[data.code] {}: token {} is outside the vocabulary; got id {}, expected 0 to {}.",
       ids_.path().string(), bad, id, header_.vocabulary - 1);
}

std::int64_t CodeSet::end_of(std::int64_t document) const {
  return document + 1 < part_.documents ? index_value(document + 1, 0) : part_.tokens;
}

std::int64_t CodeSet::length(std::int64_t document) const {
  return end_of(document) - index_value(document, 0);
}

std::int64_t CodeSet::prompt_length(std::int64_t document) const {
  return index_value(document, 1);
}

void CodeSet::read(std::int64_t document, std::int64_t first, std::span<std::int32_t> out) const {
  const auto start = index_value(document, 0) + first;
  unpack_tokens(counted_ids().subspan(static_cast<std::size_t>(start) * width_), width_, out);
}

void CodeSet::find_lines() const {
  lines_file_ = std::make_unique<MappedFile>(folder_ / "documents.jsonl");
  const auto bytes = lines_file_->bytes();
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  // Inside a JSON text quotes are escaped, so this cannot be part of a path.
  const auto mark = "\"split\":\"" + split_ + "\"";
  while (!text.empty() && lines_.size() < static_cast<std::size_t>(part_.documents)) {
    const auto end = std::min(text.find('\n'), text.size());
    if (text.substr(0, end).find(mark) != std::string_view::npos) {
      lines_.push_back(text.substr(0, end));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

DocumentInfo CodeSet::info(std::int64_t document) const {
  std::call_once(lines_once_, [&] { find_lines(); });
  const auto where = (folder_ / "documents.jsonl").string();
  check(document >= 0 && document < static_cast<std::int64_t>(lines_.size()), ErrorKind::Input,
        "[data.code] {} has no line for document {} of {}; it has {}.", where, document, split_,
        lines_.size());
  const auto json = parse_json(lines_[static_cast<std::size_t>(document)], where);
  const auto text = [&](const char* key) {
    const auto found = json.is_object() ? json.find(key) : json.end();
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  return {text("path"), text("commit"), text("kind")};
}

}  // namespace ubique::data
