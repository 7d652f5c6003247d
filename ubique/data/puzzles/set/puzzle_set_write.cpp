// SPDX-License-Identifier: Apache-2.0
// Writes folders of puzzles.
#include <limits>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"
#include "ubique/data/puzzles/set/puzzle_metadata.h"
#include "ubique/data/puzzles/set/puzzle_set.h"
#include "ubique/io/arrays/npy.h"

namespace ubique::data {
namespace {

namespace fs = std::filesystem;

/// Writes without a copy: sets may be gigabytes.
template <typename T>
void write_array(const fs::path& path, DType dtype, const io::Shape& shape,
                 std::span<const T> values) {
  AtomicFile file(path);
  file.write(io::npy_header_text(dtype, shape));
  file.write(std::as_bytes(values));
  file.commit();
}

void write_tokens(const fs::path& path, const TokenRows& rows) {
  const io::Shape shape{rows.count(), rows.length()};
  rows.wide() ? write_array(path, DType::I32, shape, rows.words())
              : write_array(path, DType::U8, shape, rows.bytes());
}

void write_list(const fs::path& path, std::span<const std::int32_t> values) {
  write_array(path, DType::I32, {static_cast<std::int64_t>(values.size())}, values);
}

std::vector<std::int32_t> narrowed(const std::vector<std::int64_t>& offsets) {
  std::vector<std::int32_t> narrow;
  for (const auto offset : offsets) {
    check(offset <= std::numeric_limits<std::int32_t>::max(), ErrorKind::Input,
          "[data.puzzles] the format counts to 2^31; got {} examples. Make several folders.",
          offset);
    narrow.push_back(static_cast<std::int32_t>(offset));
  }
  return narrow;
}

void write_contents(const fs::path& folder, const PuzzleSplits& splits,
                    const std::vector<std::string>& identifiers,
                    const std::vector<std::pair<std::string, std::string>>& others) {
  write_identifiers(folder, identifiers);
  for (const auto& [name, content] : others) write_file(folder / name, content);
  if (splits.test.examples() > 0) write_puzzle_set(folder, "test", splits.test);
  write_puzzle_set(folder, "train", splits.train);
}

/// A temporary folder, removed at the end unless it was renamed.
struct PartialFolder {
  fs::path path;
  ~PartialFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

}  // namespace

void write_puzzle_set(const fs::path& folder, const std::string& split, const PuzzleSet& set) {
  const auto split_folder = folder / split;
  make_folder(split_folder);
  write_tokens(split_folder / "all__inputs.npy", set.inputs);
  write_tokens(split_folder / "all__labels.npy", set.labels);
  write_list(split_folder / "all__puzzle_identifiers.npy", set.puzzle_identifiers);
  write_list(split_folder / "all__puzzle_indices.npy", narrowed(set.puzzle_indices));
  write_list(split_folder / "all__group_indices.npy", narrowed(set.group_indices));
  write_file(split_folder / "dataset.json", json_text(metadata_json(set), 2) + "\n");
}

void write_identifiers(const fs::path& folder, const std::vector<std::string>& names) {
  make_folder(folder);
  write_file(folder / "identifiers.json", json_text(names) + "\n");
}

void claim_puzzle_folder(const fs::path& folder, const Json& provenance) {
  std::error_code error;
  check(!fs::exists(folder, error) || fs::is_directory(folder, error), ErrorKind::Usage,
        "[data.puzzles] {} is a file; expected a new folder, so that nothing is overwritten.",
        folder.string());
  const auto note = folder / "train" / "dataset.json";
  if (fs::exists(note, error)) {
    check(read_metadata(note).provenance == provenance, ErrorKind::Usage,
          "[data.puzzles] {} holds puzzles of other options (see {}); expected the same ones. "
          "Choose another folder, or remove this one.",
          folder.string(), note.string());
    return;
  }
  check(!fs::exists(folder, error) || fs::is_empty(folder, error), ErrorKind::Usage,
        "[data.puzzles] {} is not empty and holds no puzzles; expected a new folder, so that "
        "nothing is overwritten.",
        folder.string());
}

void write_puzzle_folder(const fs::path& folder, const PuzzleSplits& splits,
                         const std::vector<std::string>& identifiers,
                         const std::vector<std::pair<std::string, std::string>>& others) {
  claim_puzzle_folder(folder, splits.train.metadata.provenance);
  std::error_code error;
  if (fs::exists(folder / "train", error)) {  // the same options again
    return write_contents(folder, splits, identifiers, others);
  }
  const auto target = (folder / "").parent_path();  // without a slash at its end
  make_folder(target.parent_path().empty() ? "." : target.parent_path());
  const PartialFolder partial{target.string() + ".partial"};
  fs::remove_all(partial.path, error);
  write_contents(partial.path, splits, identifiers, others);
  fs::remove(target, error);  // an empty folder
  fs::rename(partial.path, target, error);
  check(!error, ErrorKind::Input, "[data.puzzles] {} cannot be written: {}.", target.string(),
        error.message());
}

}  // namespace ubique::data
