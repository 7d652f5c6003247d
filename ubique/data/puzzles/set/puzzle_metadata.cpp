// SPDX-License-Identifier: Apache-2.0
// Checks every number of dataset.json before anything is sized by it. Unknown keys are ignored, as
// other builders may add their own.
#include "ubique/data/puzzles/set/puzzle_metadata.h"

#include <cmath>
#include <limits>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/data/puzzles/set/puzzle_set.h"

namespace ubique::data {
namespace {

constexpr std::int64_t kLargestToken = std::numeric_limits<std::int32_t>::max();

/// One JSON object, and the name of its file for messages.
struct MetadataKeys {
  const Json& json;
  std::string where;

  std::int64_t whole(const std::string& key, std::int64_t least, std::int64_t most) const {
    const auto found = json.find(key);
    check(found != json.end(), ErrorKind::Input,
          "[data.puzzles] {}: the key '{}' is missing; expected a whole number.", where, key);
    const bool fits = found->is_number_integer() &&
                      !(found->is_number_unsigned() && found->get<std::uint64_t>() > 1ULL << 62U);
    const auto value = fits ? found->get<std::int64_t>() : 0;
    check(fits && value >= least && value <= most, ErrorKind::Input,
          "[data.puzzles] {}: '{}' is wrong; got {}, expected a whole number from {} to {}.", where,
          key, found->dump(), least, most);
    return value;
  }
};

std::vector<std::string> set_names(const MetadataKeys& keys) {
  const auto found = keys.json.find("sets");
  std::vector<std::string> names;
  if (found != keys.json.end() && found->is_array()) {
    for (const auto& name : *found) {
      if (name.is_string()) names.push_back(name.get<std::string>());
    }
  }
  check(!names.empty() && names.size() == found->size(), ErrorKind::Input,
        "[data.puzzles] {}: 'sets' is wrong; got {}, expected a list of names such as [\"all\"].",
        keys.where, found == keys.json.end() ? "nothing" : found->dump());
  for (const auto& name : names) {  // the name becomes part of a path
    check(!name.empty() && name.find_first_of("/\\\n") == std::string::npos && name.front() != '.',
          ErrorKind::Input,
          "[data.puzzles] {}: '{}' cannot be a set; expected a plain name such as \"all\".",
          keys.where, name);
  }
  return names;
}

double mean_examples(const MetadataKeys& keys) {
  const auto found = keys.json.find("mean_puzzle_examples");
  const bool number = found != keys.json.end() && found->is_number();
  const double mean = number ? found->get<double>() : 0;
  check(number && std::isfinite(mean) && mean > 0, ErrorKind::Input,
        "[data.puzzles] {}: 'mean_puzzle_examples' is wrong; got {}, expected a number above 0.",
        keys.where, found == keys.json.end() ? "nothing" : found->dump());
  return mean;
}

PuzzleLayout named_layout(const MetadataKeys& keys, const PuzzleMetadata& metadata) {
  const auto kind = keys.json.find("kind");
  PuzzleLayout layout;
  if (kind == keys.json.end() || !kind->is_string())
    return infer_layout(metadata.seq_len, metadata.vocab_size);
  for (const auto& [known, name] : kPuzzleKinds) {
    if (kind->get<std::string>() == name) layout.kind = known;
  }
  if (layout.kind == PuzzleKind::Other) return layout;
  layout.rows = static_cast<int>(keys.whole("rows", 1, 1 << 10));
  layout.cols = static_cast<int>(keys.whole("cols", 1, 1 << 10));
  check(std::int64_t{layout.rows} * layout.cols == metadata.seq_len, ErrorKind::Input,
        "[data.puzzles] {}: a grid of {}x{} does not fit; expected {} cells (seq_len).", keys.where,
        layout.rows, layout.cols, metadata.seq_len);
  if (layout.kind != PuzzleKind::Sudoku) return layout;
  layout.box_rows = static_cast<int>(keys.whole("box_rows", 1, layout.rows));
  layout.box_cols = static_cast<int>(keys.whole("box_cols", 1, layout.cols));
  check(layout.rows == layout.cols && layout.box_rows * layout.box_cols == layout.rows &&
            metadata.vocab_size >= layout.rows + 2,
        ErrorKind::Input,
        "[data.puzzles] {}: a sudoku of {}x{} with boxes of {}x{} and {} tokens cannot be; "
        "expected as many rows as columns, cells of a box and digits, and two tokens more.",
        keys.where, layout.rows, layout.cols, layout.box_rows, layout.box_cols,
        metadata.vocab_size);
  return layout;
}

}  // namespace

PuzzleMetadata read_metadata(const std::filesystem::path& path) {
  const auto json = parse_json(read_file(path, 1 << 24), path.string());
  check(json.is_object(), ErrorKind::Input,
        "[data.puzzles] {} describes no data set; got {}, expected an object.", path.string(),
        json.type_name());
  const MetadataKeys keys{json, path.string()};
  PuzzleMetadata metadata;
  metadata.vocab_size = keys.whole("vocab_size", 1, kLargestToken);
  metadata.seq_len = keys.whole("seq_len", 1, 1 << 22);
  metadata.pad_id = keys.whole("pad_id", 0, metadata.vocab_size - 1);
  metadata.ignore_label_id.reset();
  if (json.contains("ignore_label_id") && !json["ignore_label_id"].is_null()) {
    metadata.ignore_label_id = keys.whole("ignore_label_id", -kLargestToken, kLargestToken);
  }
  metadata.num_puzzle_identifiers = keys.whole("num_puzzle_identifiers", 1, kLargestToken);
  metadata.blank_identifier_id =
      keys.whole("blank_identifier_id", 0, metadata.num_puzzle_identifiers - 1);
  metadata.total_groups = keys.whole("total_groups", 0, kLargestToken);
  // Older builders do not write it.
  metadata.total_puzzles = json.contains("total_puzzles")
                               ? keys.whole("total_puzzles", 0, kLargestToken)
                               : metadata.total_groups;
  metadata.mean_puzzle_examples = mean_examples(keys);
  metadata.sets = set_names(keys);
  const auto own = json.find("ubique");
  if (own != json.end()) metadata.provenance = *own;
  metadata.layout = own != json.end() && own->is_object()
                        ? named_layout({*own, path.string() + " (ubique)"}, metadata)
                        : infer_layout(metadata.seq_len, metadata.vocab_size);
  return metadata;
}

Json metadata_json(const PuzzleSet& set) {
  const auto& metadata = set.metadata;
  Json json;
  json["pad_id"] = metadata.pad_id;
  json["ignore_label_id"] = nullptr;
  if (metadata.ignore_label_id) json["ignore_label_id"] = *metadata.ignore_label_id;
  json["blank_identifier_id"] = metadata.blank_identifier_id;
  json["vocab_size"] = metadata.vocab_size;
  json["seq_len"] = metadata.seq_len;
  json["num_puzzle_identifiers"] = metadata.num_puzzle_identifiers;
  json["total_groups"] = set.groups();
  json["mean_puzzle_examples"] = static_cast<double>(set.examples()) /
                                 static_cast<double>(std::max<std::int64_t>(1, set.puzzles()));
  json["total_puzzles"] = set.puzzles();
  json["sets"] = {"all"};
  if (!metadata.provenance.is_null()) json["ubique"] = metadata.provenance;
  return json;
}

}  // namespace ubique::data
