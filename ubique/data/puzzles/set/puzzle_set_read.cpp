// SPDX-License-Identifier: Apache-2.0
// Reads folders of puzzles and checks everything that a loader relies on.
#include <algorithm>
#include <cstring>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"
#include "ubique/data/puzzles/set/puzzle_metadata.h"
#include "ubique/data/puzzles/set/puzzle_set.h"
#include "ubique/io/archive/byte_order.h"
#include "ubique/io/arrays/npy.h"
#include "ubique/io/arrays/npz.h"

namespace ubique::data {
namespace {

namespace fs = std::filesystem;

/// A memory-mapped array of integers; copied only if byte order or axis order must change.
class NpyNumbers {
 public:
  explicit NpyNumbers(const fs::path& path) : file_(path), where_(path.string()) {
    const auto header = io::parse_npy_header(file_.bytes(), where_);
    if (header.fortran_order || header.little != io::kLittleMachine) {
      converted_ = io::parse_npy(file_.bytes(), where_).bytes;
      bytes_ = converted_;
    } else {
      bytes_ = file_.bytes().subspan(header.data_begin);
    }
    dtype_ = header.dtype;
    shape_ = header.shape;
    check(dtype_ == DType::U8 || dtype_ == DType::I32 || dtype_ == DType::I64, ErrorKind::Input,
          "[data.puzzles] {} has the wrong type; got {}, expected u8, i32 or i64.", where_,
          ubique::to_string(dtype_));
    const auto expected = io::byte_count(dtype_, shape_);
    check(expected && bytes_.size() == static_cast<std::uint64_t>(*expected), ErrorKind::Input,
          "[data.puzzles] {} has the wrong length; got {} bytes of values, expected those of {} "
          "{}. Was it cut short?",
          where_, bytes_.size(), ubique::to_string(dtype_), io::shape_text(shape_));
  }

  const io::Shape& shape() const { return shape_; }
  const std::string& where() const { return where_; }
  bool is_byte() const { return dtype_ == DType::U8; }
  std::int64_t count() const { return static_cast<std::int64_t>(bytes_.size() / size_of(dtype_)); }
  std::int64_t at(std::int64_t index) const {
    if (dtype_ == DType::U8)
      return std::to_integer<std::int64_t>(bytes_[static_cast<std::size_t>(index)]);
    return dtype_ == DType::I32 ? value<std::int32_t>(index) : value<std::int64_t>(index);
  }

 private:
  template <typename T>
  T value(std::int64_t index) const {
    T number;
    std::memcpy(&number, bytes_.data() + static_cast<std::size_t>(index) * sizeof(T), sizeof(T));
    return number;
  }

  MappedFile file_;
  std::string where_;
  std::vector<std::byte> converted_;
  std::span<const std::byte> bytes_;
  DType dtype_ = DType::U8;
  io::Shape shape_;
};

/// Which tokens a file may hold: 0 to vocabulary - 1, and ignored labels.
struct TokenRule {
  std::int64_t vocabulary;
  bool labels;
  std::optional<std::int64_t> ignored;

  bool allows(std::int64_t token) const {
    return (token >= 0 && token < vocabulary) ||
           (labels && (token == kIgnoredLabel || (ignored && token == *ignored)));
  }
};

TokenRows read_tokens(const fs::path& path, const PuzzleMetadata& metadata, bool labels) {
  const NpyNumbers file(path);
  const auto& shape = file.shape();
  check(shape.size() == 2 && shape[1] == metadata.seq_len, ErrorKind::Input,
        "[data.puzzles] {} has the wrong shape; got {}, expected [examples, {}] (seq_len).",
        file.where(), io::shape_text(shape), metadata.seq_len);
  const TokenRule rule{metadata.vocab_size, labels, metadata.ignore_label_id};
  bool wide = false;
  for (std::int64_t i = 0; i < file.count(); ++i) {
    const auto token = file.at(i);
    if (!rule.allows(token)) {
      fail(ErrorKind::Input,
           "[data.puzzles] {} holds a token that is in no vocabulary; got {} in row {}, column {}, "
           "expected 0 to {} (vocab_size {}).",
           file.where(), token, i / shape[1], i % shape[1], rule.vocabulary - 1, rule.vocabulary);
    }
    wide = wide || token < 0 || token > 255;
  }
  TokenRows rows(shape[1], wide);
  std::vector<std::int32_t> row(static_cast<std::size_t>(shape[1]));
  for (std::int64_t i = 0; i < shape[0]; ++i) {
    for (std::int64_t j = 0; j < shape[1]; ++j) {
      row[static_cast<std::size_t>(j)] = static_cast<std::int32_t>(file.at(i * shape[1] + j));
    }
    rows.append(row);
  }
  return rows;
}

NpyNumbers open_list(const fs::path& path) {
  NpyNumbers file(path);
  check(file.shape().size() == 1, ErrorKind::Input,
        "[data.puzzles] {} has the wrong shape; got {}, expected one dimension.", file.where(),
        io::shape_text(file.shape()));
  return file;
}

/// Offsets: 0, strictly ascending, up to `end`.
std::vector<std::int64_t> read_offsets(const fs::path& path, std::int64_t end,
                                       const std::string& what) {
  const auto file = open_list(path);
  std::vector<std::int64_t> offsets;
  for (std::int64_t i = 0; i < file.count(); ++i) {
    const auto offset = file.at(i);
    if (i == 0 ? offset != 0 : offset <= offsets.back()) {
      fail(ErrorKind::Input,
           "[data.puzzles] {} does not ascend from 0; got {} at index {} after {}, expected where "
           "the next of the {} begins.",
           file.where(), offset, i, i == 0 ? "nothing" : std::to_string(offsets.back()), what);
    }
    offsets.push_back(offset);
  }
  check(offsets.size() >= 2 && offsets.back() == end, ErrorKind::Input,
        "[data.puzzles] {} does not end where the {} do; got {}, expected {}.", file.where(), what,
        offsets.empty() ? "nothing" : std::to_string(offsets.back()), end);
  return offsets;
}

std::vector<std::int32_t> read_puzzle_ids(const fs::path& path, std::int64_t identifiers) {
  const auto file = open_list(path);
  std::vector<std::int32_t> ids;
  for (std::int64_t i = 0; i < file.count(); ++i) {
    const auto id = file.at(i);
    if (id < 0 || id >= identifiers) {
      fail(ErrorKind::Input,
           "[data.puzzles] {} holds a puzzle id out of range; got {} at index {}, expected 0 to {} "
           "(num_puzzle_identifiers {}).",
           file.where(), id, i, identifiers - 1, identifiers);
    }
    ids.push_back(static_cast<std::int32_t>(id));
  }
  return ids;
}

PuzzleSet read_one_set(const fs::path& folder, const std::string& name,
                       const PuzzleMetadata& metadata) {
  const auto file = [&](const char* field) { return folder / (name + "__" + field + ".npy"); };
  PuzzleSet set{.metadata = metadata,
                .inputs = read_tokens(file("inputs"), metadata, false),
                .labels = read_tokens(file("labels"), metadata, true)};
  check(set.labels.count() == set.inputs.count(), ErrorKind::Input,
        "[data.puzzles] {} and {} do not belong together; got {} and {} rows, expected as many.",
        file("inputs").string(), file("labels").string(), set.inputs.count(), set.labels.count());
  set.puzzle_identifiers =
      read_puzzle_ids(file("puzzle_identifiers"), metadata.num_puzzle_identifiers);
  set.puzzle_indices = read_offsets(file("puzzle_indices"), set.examples(), "examples");
  check(set.puzzle_indices.size() == set.puzzle_identifiers.size() + 1, ErrorKind::Input,
        "[data.puzzles] {} has the wrong length; got {} puzzles, expected {}, as in {}.",
        file("puzzle_indices").string(), set.puzzle_indices.size() - 1, set.puzzles(),
        file("puzzle_identifiers").string());
  set.group_indices = read_offsets(file("group_indices"), set.puzzles(), "puzzles");
  return set;
}

/// A model gets a row of its table for every id. Each has a name in identifiers.json, of at least
/// three bytes, unless that file is missing.
void check_id_count(const fs::path& folder, const fs::path& description, const PuzzleSet& set) {
  constexpr std::int64_t kNameBytes = 3, kWithoutNames = 1 << 20;
  std::error_code missing;
  const auto bytes = fs::file_size(folder / "identifiers.json", missing);
  auto most = missing ? kWithoutNames : static_cast<std::int64_t>(bytes) / kNameBytes + 1;
  for (const auto id : set.puzzle_identifiers) most = std::max<std::int64_t>(most, id + 1);
  check(set.metadata.num_puzzle_identifiers <= most, ErrorKind::Input,
        "[data.puzzles] {} has more puzzle ids than its folder can name; got "
        "num_puzzle_identifiers {}, expected at most {}.",
        description.string(), set.metadata.num_puzzle_identifiers, most);
}

void append_offsets(std::vector<std::int64_t>& offsets, const std::vector<std::int64_t>& more) {
  const auto start = offsets.back();
  for (std::size_t i = 1; i < more.size(); ++i) offsets.push_back(start + more[i]);
}

/// Adds up the counts of several folders, as the original does.
void append_counts(PuzzleMetadata& to, const PuzzleMetadata& more) {
  const auto puzzles = static_cast<double>(to.total_puzzles + more.total_puzzles);
  if (puzzles > 0) {
    to.mean_puzzle_examples =
        (to.mean_puzzle_examples * static_cast<double>(to.total_puzzles) +
         more.mean_puzzle_examples * static_cast<double>(more.total_puzzles)) /
        puzzles;
  }
  to.total_puzzles += more.total_puzzles;
  to.total_groups += more.total_groups;
}

void append_rows(PuzzleSet& to, const PuzzleSet& more) {
  to.inputs.append(more.inputs);
  to.labels.append(more.labels);
  to.puzzle_identifiers.insert(to.puzzle_identifiers.end(), more.puzzle_identifiers.begin(),
                               more.puzzle_identifiers.end());
  append_offsets(to.puzzle_indices, more.puzzle_indices);
  append_offsets(to.group_indices, more.group_indices);
}

void check_same_puzzles(const PuzzleMetadata& first, const PuzzleMetadata& other,
                        const fs::path& folder, const fs::path& next) {
  const auto same = [&](const char* key, std::int64_t a, std::int64_t b) {
    check(a == b, ErrorKind::Input,
          "[data.puzzles] {} and {} cannot be used together; got {} {} and {}, expected the same.",
          folder.string(), next.string(), key, a, b);
  };
  same("seq_len", first.seq_len, other.seq_len);
  same("vocab_size", first.vocab_size, other.vocab_size);
  same("pad_id", first.pad_id, other.pad_id);
  same("ignore_label_id", first.ignore_label_id.value_or(kIgnoredLabel),
       other.ignore_label_id.value_or(kIgnoredLabel));
  same("blank_identifier_id", first.blank_identifier_id, other.blank_identifier_id);
}

/// The name of each puzzle id, over several folders. An id with two names is an error, as both
/// puzzles would share a row of the embedding table.
class PuzzleNames {
 public:
  void add(const fs::path& folder) {
    const auto others = read_identifiers(folder);
    if (others.size() > names_.size()) names_.resize(others.size());
    for (std::size_t id = 0; id < others.size(); ++id) {
      constexpr std::string_view kBlank = "<blank>";
      if (others[id] == kBlank) continue;
      auto& [name, source] = names_[id];
      check(name.empty() || name == others[id], ErrorKind::Input,
            "[data.puzzles] {} and {} cannot be used together; puzzle id {} is '{}' and '{}', "
            "expected one puzzle. Build the second with --first-id {}.",
            source.string(), folder.string(), id, name, others[id], names_.size());
      name = others[id];
      source = folder;
    }
  }

 private:
  struct Name {
    std::string name;
    fs::path folder;
  };
  std::vector<Name> names_;  // by id
};

}  // namespace

PuzzleSet read_puzzle_set(const fs::path& folder, const std::string& split) {
  const auto split_folder = folder / split;
  check_readable(split_folder);
  std::error_code error;
  check(fs::is_directory(split_folder, error), ErrorKind::Input,
        "[data.puzzles] no {} in {}; expected a folder of puzzles or conversations with "
        "{}/dataset.json. `ubique data trm sudoku -o FOLDER` and `ubique data trm chat FILE -o "
        "FOLDER` make one.",
        split, folder.string(), split);
  const auto metadata = read_metadata(split_folder / "dataset.json");
  auto set = read_one_set(split_folder, metadata.sets.front(), metadata);
  for (std::size_t i = 1; i < metadata.sets.size(); ++i) {
    append_rows(set, read_one_set(split_folder, metadata.sets[i], metadata));
  }
  check(set.groups() == metadata.total_groups, ErrorKind::Input,
        "[data.puzzles] {} does not describe its arrays; got total_groups {}, expected {}.",
        (split_folder / "dataset.json").string(), metadata.total_groups, set.groups());
  check_id_count(folder, split_folder / "dataset.json", set);
  return set;
}

PuzzleSet read_puzzle_sets(const std::vector<fs::path>& folders, const std::string& split) {
  check(!folders.empty(), ErrorKind::Usage, "[data.puzzles] no folder of puzzles was given.");
  auto set = read_puzzle_set(folders.front(), split);
  PuzzleNames names;
  if (folders.size() > 1) names.add(folders.front());
  for (std::size_t i = 1; i < folders.size(); ++i) {
    const auto more = read_puzzle_set(folders[i], split);
    check_same_puzzles(set.metadata, more.metadata, folders.front(), folders[i]);
    names.add(folders[i]);
    append_rows(set, more);
    append_counts(set.metadata, more.metadata);
    set.metadata.num_puzzle_identifiers =
        std::max(set.metadata.num_puzzle_identifiers, more.metadata.num_puzzle_identifiers);
  }
  return set;
}

std::vector<std::string> read_identifiers(const fs::path& folder) {
  const auto path = folder / "identifiers.json";
  std::error_code error;
  if (!fs::exists(path, error)) return {};
  const auto json = parse_json(read_file(path), path.string());
  std::vector<std::string> names;
  check(json.is_array(), ErrorKind::Input,
        "[data.puzzles] {} names no puzzles; got {}, expected a list of names.", path.string(),
        json.type_name());
  for (const auto& name : json) {
    check(name.is_string(), ErrorKind::Input,
          "[data.puzzles] {} names no puzzles; got {} at index {}, expected a text.", path.string(),
          json_text(name), names.size());
    names.push_back(name.get<std::string>());
  }
  return names;
}

}  // namespace ubique::data
