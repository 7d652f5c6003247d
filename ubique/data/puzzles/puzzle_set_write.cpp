// SPDX-License-Identifier: Apache-2.0
// Folders of puzzles, written.
#include <cstring>
#include <limits>

#include "ubique/base/error.h"
#include "ubique/base/file.h"
#include "ubique/data/puzzles/puzzle_metadata.h"
#include "ubique/data/puzzles/puzzle_set.h"
#include "ubique/io/npz.h"

namespace ubique::data {
namespace {

namespace fs = std::filesystem;

template <typename T>
io::HostTensor host_tensor(DType dtype, io::Shape shape, std::span<const T> values) {
  io::HostTensor tensor{{}, dtype, std::move(shape), {}};
  tensor.bytes.resize(values.size_bytes());
  if (!values.empty()) std::memcpy(tensor.bytes.data(), values.data(), values.size_bytes());
  return tensor;
}

io::HostTensor tensor_of(const TokenRows& rows) {
  io::Shape shape{rows.count(), rows.length()};
  return rows.wide() ? host_tensor(DType::I32, std::move(shape), rows.words())
                     : host_tensor(DType::U8, std::move(shape), rows.bytes());
}

io::HostTensor tensor_of(const std::vector<std::int64_t>& offsets) {
  std::vector<std::int32_t> narrow;
  for (const auto offset : offsets) {
    check(offset <= std::numeric_limits<std::int32_t>::max(), ErrorKind::Input,
          "[data.puzzles] the format counts to 2^31; got {} examples. Make several folders.",
          offset);
    narrow.push_back(static_cast<std::int32_t>(offset));
  }
  const auto count = static_cast<std::int64_t>(narrow.size());
  return host_tensor(DType::I32, {count}, std::span<const std::int32_t>(narrow));
}

}  // namespace

void write_puzzle_set(const fs::path& folder, const std::string& split, const PuzzleSet& set) {
  const auto place = folder / split;
  make_folder(place);
  io::write_npy(place / "all__inputs.npy", tensor_of(set.inputs));
  io::write_npy(place / "all__labels.npy", tensor_of(set.labels));
  io::write_npy(place / "all__puzzle_identifiers.npy",
                host_tensor(DType::I32, {set.puzzles()},
                            std::span<const std::int32_t>(set.puzzle_identifiers)));
  io::write_npy(place / "all__puzzle_indices.npy", tensor_of(set.puzzle_indices));
  io::write_npy(place / "all__group_indices.npy", tensor_of(set.group_indices));
  write_file(place / "dataset.json", metadata_json(set).dump(2) + "\n");
}

void write_identifiers(const fs::path& folder, const std::vector<std::string>& names) {
  make_folder(folder);
  write_file(folder / "identifiers.json", Json(names).dump() + "\n");
}

void claim_puzzle_folder(const fs::path& folder, const Json& made_with) {
  std::error_code error;
  const auto note = folder / "train" / "dataset.json";
  if (fs::exists(note, error)) {
    check(read_metadata(note).made_with == made_with, ErrorKind::Usage,
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

}  // namespace ubique::data
