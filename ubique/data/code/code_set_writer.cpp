// SPDX-License-Identifier: Apache-2.0
// Buffers tokens, index entries and lines, and commits the files in a safe order.
#include "ubique/data/code/code_set_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "ubique/base/error.h"
#include "ubique/base/terminal/table.h"
#include "ubique/base/text/printable.h"
#include "ubique/data/code/tokenizer_hash.h"

namespace ubique::data {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBufferBytes = 1U << 20U;
constexpr std::array<std::string_view, 9> kOwnNames = {
    "dataset.json", "train.bin",  "train.idx",       "val.bin",  "val.idx",
    "report.json",  "report.txt", "documents.jsonl", "tokenizer"};

/// A new set does not mix with other files; what a killed run left of ours may stay.
void claim_code_folder(const fs::path& folder) {
  std::error_code ignored;
  check(!fs::exists(folder / "dataset.json", ignored), ErrorKind::Usage,
        "[data.code] {} holds a data set. Another folder, or remove this one first.",
        folder.string());
  if (!fs::exists(folder, ignored)) return;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const auto name = entry.path().filename().string();
    const bool ours = std::any_of(kOwnNames.begin(), kOwnNames.end(), [&](auto own) {
      return name.starts_with(own) || name.starts_with("." + std::string(own));
    });
    check(ours, ErrorKind::Usage,
          "[data.code] {} holds other files; got '{}'. Choose a new folder.", folder.string(),
          printable(name));
  }
}

void copy_bytes(const fs::path& from, std::size_t count, AtomicFile& to) {
  if (count == 0) return;
  const MappedFile file(from);
  check(file.bytes().size() >= count, ErrorKind::Input,
        "[data.code] {} is too short; got {} bytes, expected {}.", from.string(),
        file.bytes().size(), count);
  to.write(file.bytes().first(count));
}

/// The first `count` lines.
void copy_lines(const fs::path& from, std::int64_t count, AtomicFile& to) {
  if (count == 0) return;
  const MappedFile file(from);
  std::string_view text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  std::size_t end = 0;
  for (std::int64_t line = 0; line < count; ++line) {
    const auto next = text.find('\n', end);
    check(next != std::string_view::npos, ErrorKind::Input,
          "[data.code] {} is too short; got {} lines, expected {}.", from.string(), line, count);
    end = next + 1;
  }
  to.write(text.substr(0, end));
}

}  // namespace

struct CodeSetWriter::Part {
  Part(const fs::path& folder, const std::string& name)
      : bin_path(folder / (name + ".bin")),
        idx_path(folder / (name + ".idx")),
        bin(bin_path),
        idx(idx_path) {}

  void flush(bool all) {
    for (auto [buffer, file] : {std::pair(&tokens, &bin), std::pair(&index, &idx)}) {
      if (buffer->size() < kBufferBytes && !all) continue;
      file->write(*buffer);
      buffer->clear();
    }
  }

  fs::path bin_path, idx_path;
  AtomicFile bin, idx;
  std::vector<std::byte> tokens, index;
};

CodeSetWriter::CodeSetWriter(fs::path folder, const io::Tokenizer& tokenizer,
                             std::int64_t vocabulary)
    : folder_(std::move(folder)) {
  check(vocabulary >= tokenizer.size(), ErrorKind::Input,
        "[data.code] the vocabulary has {} entries, fewer than the tokenizer's {}.", vocabulary,
        tokenizer.size());
  header_.tokenizer_hash = tokenizer_hash(tokenizer);
  header_.vocabulary = vocabulary;
  header_.end_of_text = end_of_text(tokenizer);
  claim_code_folder(folder_);
  make_folder(folder_);
  tokenizer_ = io::tokenizer_json(tokenizer.model());
  open_files();
}

CodeSetWriter::CodeSetWriter(fs::path folder, CodeSetHeader header)
    : folder_(std::move(folder)), header_(std::move(header)) {
  open_files();
  copy_counted();
}

CodeSetWriter::~CodeSetWriter() = default;

void CodeSetWriter::open_files() {
  train_ = std::make_unique<Part>(folder_, kTrainSplit);
  val_ = std::make_unique<Part>(folder_, kValSplit);
  lines_ = std::make_unique<AtomicFile>(folder_ / "documents.jsonl");
}

void CodeSetWriter::copy_counted() {
  const auto width = token_width(header_.vocabulary);
  for (auto [part, split] :
       {std::pair(train_.get(), &header_.train), std::pair(val_.get(), &header_.val)}) {
    copy_bytes(part->bin_path, static_cast<std::size_t>(split->tokens) * width, part->bin);
    copy_bytes(part->idx_path, static_cast<std::size_t>(split->documents) * 16, part->idx);
  }
  copy_lines(folder_ / "documents.jsonl", header_.train.documents + header_.val.documents, *lines_);
}

void CodeSetWriter::add(std::string_view split, const EncodedDocument& document) {
  check_token_ids(document, header_.vocabulary);
  auto& part = split == kValSplit ? *val_ : *train_;
  auto& counts = header_.split(split);
  std::array<std::byte, 16> entry{};
  std::memcpy(entry.data(), &counts.tokens, 8);
  std::memcpy(entry.data() + 8, &document.prompt_length, 8);
  part.index.insert(part.index.end(), entry.begin(), entry.end());
  pack_tokens(document.ids, token_width(header_.vocabulary), part.tokens);
  part.flush(false);
  ++counts.documents;
  counts.tokens += static_cast<std::int64_t>(document.ids.size());
  Json line = {{"path", document.info.path},
               {"commit", document.info.commit},
               {"kind", document.info.kind},
               {"split", split}};
  line_buffer_ += json_text(line) + "\n";
  if (line_buffer_.size() < kBufferBytes) return;
  lines_->write(line_buffer_);
  line_buffer_.clear();
}

void CodeSetWriter::finish() {
  lines_->write(line_buffer_);
  lines_->commit();
  for (auto [part, name] :
       {std::pair(train_.get(), kTrainSplit), std::pair(val_.get(), kValSplit)}) {
    part->flush(true);
    part->bin.commit();
    part->idx.commit();
    const MappedFile ids(part->bin_path), index(part->idx_path);
    header_.split(name).digest = split_digest(ids.bytes(), index.bytes());
  }
  if (!tokenizer_.empty()) {
    make_folder(folder_ / "tokenizer");
    write_file(folder_ / "tokenizer" / "tokenizer.json", tokenizer_);
  }
  write_file(folder_ / "dataset.json", code_set_json(header_));
}

std::string code_set_summary(const CodeSetHeader& header) {
  Table table({"split", "documents", "tokens"});
  for (const auto* name : {kTrainSplit, kValSplit}) {
    const auto& split = header.split(name);
    table.add_row({name, std::to_string(split.documents), std::to_string(split.tokens)});
  }
  return table.to_text();
}

}  // namespace ubique::data
