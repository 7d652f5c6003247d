// SPDX-License-Identifier: Apache-2.0
// Parses and writes the index; finds and opens the files of a model.
#include "ubique/io/tensors/safetensors_set.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"
#include "ubique/io/text/plain_name.h"

namespace ubique::io {
namespace {

constexpr int kMaxIndexDepth = 64;

void check_shard_name(const std::string& shard, const std::string& tensor,
                      const std::string& where) {
  check(is_plain_name(shard), ErrorKind::Input,
        "[io.safetensors] {}: tensor '{}' lies in a file that is not plainly named; got '{}', "
        "expected a file name without folders, such as model-00001-of-00002.safetensors.",
        where, printable(tensor), printable(shard));
}

/// Parses {"metadata": {"total_size": N, ...}, "weight_map": {tensor: file}, ...}; ignores other
/// keys. Builds no JSON tree, so memory stays proportional to the weight map.
class IndexParser final : public nlohmann::json_sax<nlohmann::json> {
 public:
  IndexParser(const std::string& where, SafetensorsIndex& index) : where_(where), index_(index) {}

  bool map_seen() const { return map_seen_; }

  bool null() override { return value("null"); }
  bool boolean(bool) override { return value("true or false"); }
  bool number_integer(std::int64_t) override { return value("a negative number"); }
  bool number_unsigned(std::uint64_t number) override;
  bool number_float(double number, const std::string& text) override;
  bool string(std::string& text) override;
  bool binary(binary_t&) override { return value("binary data"); }
  bool start_object(std::size_t) override;
  bool key(std::string& name) override;
  bool end_object() override { return leave(); }
  bool start_array(std::size_t) override { return value("a list") && enter(); }
  bool end_array() override { return leave(); }
  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::detail::exception& error) override;

 private:
  bool in_map() const { return depth_ == 2 && section_ == "weight_map"; }
  bool at_total_size() const {
    return depth_ == 2 && section_ == "metadata" && name_ == "total_size";
  }
  /// A value of a kind that no known key takes: refused at a known key, ignored elsewhere.
  bool value(std::string_view got) const;
  bool enter();
  bool leave() {
    --depth_;
    return true;
  }
  void check_once(bool& seen, std::string_view what) const;

  const std::string& where_;
  SafetensorsIndex& index_;
  int depth_ = 0;        // of open objects and lists
  std::string section_;  // key at depth 1
  std::string name_;     // key at depth 2
  bool map_seen_ = false, metadata_seen_ = false, total_seen_ = false;
};

void IndexParser::check_once(bool& seen, std::string_view what) const {
  check(!seen, ErrorKind::Input, "[io.safetensors] {}: {} is given twice; expected it once.",
        where_, what);
  seen = true;
}

bool IndexParser::value(std::string_view got) const {
  const auto refuse = [&](std::string_view what, std::string_view expected) {
    fail(ErrorKind::Input, "[io.safetensors] {}: {} is wrong; got {}, expected {}.", where_, what,
         got, expected);
  };
  if (depth_ == 0) refuse("the index", "an object with weight_map");
  if (depth_ == 1 && section_ == "weight_map") refuse("weight_map", "an object of file names");
  if (depth_ == 1 && section_ == "metadata") refuse("metadata", "an object");
  if (in_map()) refuse(fmt::format("the file of tensor '{}'", printable(name_)), "a file name");
  if (at_total_size()) refuse("metadata.total_size", "a number of bytes");
  return true;
}

bool IndexParser::enter() {
  check(++depth_ <= kMaxIndexDepth, ErrorKind::Input,
        "[io.safetensors] {} is nested too deeply; expected at most {} levels.", where_,
        kMaxIndexDepth);
  return true;
}

bool IndexParser::start_object(std::size_t) {
  const bool section = depth_ == 1 && (section_ == "weight_map" || section_ == "metadata");
  if (depth_ > 0 && !section) value("an object");
  return enter();
}

bool IndexParser::key(std::string& name) {
  if (depth_ == 1) {
    section_ = std::move(name);
    if (section_ == "weight_map") check_once(map_seen_, "weight_map");
    if (section_ == "metadata") check_once(metadata_seen_, "metadata");
  } else if (depth_ == 2) {
    name_ = std::move(name);
    if (at_total_size()) check_once(total_seen_, "metadata.total_size");
  }
  return true;
}

bool IndexParser::string(std::string& text) {
  if (!in_map()) return value("a text");
  check(!name_.empty(), ErrorKind::Input,
        "[io.safetensors] {}: weight_map has an empty tensor name.", where_);
  check_shard_name(text, name_, where_);
  check(index_.weight_map.try_emplace(name_, std::move(text)).second, ErrorKind::Input,
        "[io.safetensors] {}: tensor '{}' is given twice; expected each name once.", where_,
        printable(name_));
  return true;
}

bool IndexParser::number_unsigned(std::uint64_t number) {
  if (!at_total_size()) return value("a number");
  index_.total_size = number;
  return true;
}

bool IndexParser::number_float(double number, const std::string&) {
  // Some writers leave a number such as 1472000.0.
  if (!at_total_size() || !(number >= 0 && number < 0x1p63)) return value("a number");
  index_.total_size = static_cast<std::uint64_t>(number);
  return true;
}

bool IndexParser::parse_error(std::size_t position, const std::string&,
                              const nlohmann::detail::exception&) {
  fail(ErrorKind::Input,
       "[io.safetensors] {} is not JSON; got something unreadable near byte {}, expected an object "
       "with weight_map. The file is damaged, or its download was cut short.",
       where_, position);
}

}  // namespace

std::vector<std::string> SafetensorsIndex::shards() const {
  std::set<std::string> names;
  for (const auto& [tensor, shard] : weight_map) names.insert(shard);
  return {names.begin(), names.end()};
}

SafetensorsIndex parse_safetensors_index(std::string_view text, const std::string& where) {
  // The JSON reader would take a zero byte for the end of the text and ignore the rest.
  check(text.find('\0') == std::string_view::npos, ErrorKind::Input,
        "[io.safetensors] {} is not JSON; got a zero byte in it.", where);
  SafetensorsIndex index;
  IndexParser parser(where, index);
  nlohmann::json::sax_parse(text.begin(), text.end(), &parser);
  check(parser.map_seen(), ErrorKind::Input,
        "[io.safetensors] {} has no weight_map; expected an object with weight_map, which gives "
        "each tensor its file.",
        where);
  return index;
}

std::string safetensors_index_text(const SafetensorsIndex& index) {
  nlohmann::json json = {{"metadata", nlohmann::json::object()}, {"weight_map", index.weight_map}};
  if (index.total_size) json["metadata"]["total_size"] = *index.total_size;
  return json.dump(2, ' ', /*ensure_ascii=*/true) + "\n";
}

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMaxIndexBytes = 100'000'000;

bool is_index_name(const fs::path& path) { return path.extension() == ".json"; }

bool exists_quietly(const fs::path& path) {
  std::error_code ignored;  // a name that is too long: no such file
  return fs::exists(path, ignored);
}

std::vector<std::string> names_with_ending(const fs::path& folder, std::string_view ending) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (auto name = entry->path().filename().string(); name.ends_with(ending)) {
      names.push_back(std::move(name));
    }
  }
  check(!error, ErrorKind::Input, "[io.safetensors] cannot list {}; {}.", folder.string(),
        error.message());
  std::sort(names.begin(), names.end());
  return names;
}

/// The one file in a folder that can be opened.
fs::path choose_in_folder(const fs::path& folder) {
  for (const auto name : {kSafetensorsFile, kSafetensorsIndexFile}) {
    if (exists_quietly(folder / name)) return folder / name;
  }
  const auto indexes = names_with_ending(folder, ".safetensors.index.json");
  if (indexes.size() == 1) return folder / indexes.front();
  const auto files = names_with_ending(folder, ".safetensors");
  if (indexes.empty() && files.size() == 1) return folder / files.front();
  auto names = indexes;
  names.insert(names.end(), files.begin(), files.end());
  if (names.size() > 8) names.resize(8);
  fail(ErrorKind::Input,
       "[io.safetensors] {} holds no single model; got {}, expected {}, {} or exactly one other "
       "such file. Name the file itself.",
       folder.string(), names.empty() ? "no .safetensors file" : printable(join(names, ", "), 400),
       kSafetensorsFile, kSafetensorsIndexFile);
}

}  // namespace

SafetensorsSet::SafetensorsSet(const fs::path& path) {
  std::error_code ignored;
  const auto chosen = fs::is_directory(path, ignored) ? choose_in_folder(path) : path;
  if (is_index_name(chosen)) {
    open_index(chosen);
  } else {
    files_.emplace_back(chosen);
    tensors_ = files_.front().tensors();
    file_numbers_.assign(tensors_.size(), 0);
  }
  by_name_ = order_by_name(tensors_);
  for (const auto& file : files_) metadata_.insert(file.metadata().begin(), file.metadata().end());
}

void SafetensorsSet::open_index(const fs::path& path) {
  const auto where = path.string();
  const auto index = parse_safetensors_index(read_file(path, kMaxIndexBytes), where);
  stated_size_ = index.total_size;
  const auto shards = index.shards();
  for (const auto& shard : shards) {
    const auto shard_path = path.parent_path() / shard;
    check(exists_quietly(shard_path), ErrorKind::Input,
          "[io.safetensors] {} names the file {}, which is missing; expected all {} files in one "
          "folder. Was the download complete?",
          where, printable(shard), shards.size());
    const auto& file = files_.emplace_back(shard_path);
    for (const auto& tensor : file.tensors()) {
      const auto named = index.weight_map.find(tensor.name);
      if (named == index.weight_map.end() || named->second != shard) continue;
      tensors_.push_back(tensor);
      file_numbers_.push_back(files_.size() - 1);
    }
  }
  if (tensors_.size() == index.weight_map.size()) return;
  for (const auto& [tensor, shard] : index.weight_map) {
    const auto number = static_cast<std::size_t>(
        std::lower_bound(shards.begin(), shards.end(), shard) - shards.begin());
    check(files_[number].find(tensor) != nullptr, ErrorKind::Input,
          "[io.safetensors] {}: tensor '{}' is not in {}, where the index says it is. Do index and "
          "files belong together?",
          where, printable(tensor), printable(shard));
  }
}

const TensorInfo* SafetensorsSet::find(std::string_view name) const {
  const auto index = find_by_name(tensors_, by_name_, name);
  return index ? &tensors_[*index] : nullptr;
}

const SafetensorsFile& SafetensorsSet::file_of(const TensorInfo& tensor) const {
  const auto index = find_by_name(tensors_, by_name_, tensor.name);
  check(index.has_value(), ErrorKind::Internal, "[io.safetensors] tensor '{}' is not of this set.",
        printable(tensor.name));
  return files_[file_numbers_[*index]];
}

std::span<const std::byte> SafetensorsSet::bytes(const TensorInfo& tensor) const {
  return file_of(tensor).bytes(tensor);
}

void SafetensorsSet::read(const TensorInfo& tensor, std::span<std::byte> out) const {
  file_of(tensor).read(tensor, out);
}

std::optional<TensorStats> SafetensorsSet::stats(const TensorInfo& tensor) const {
  const auto& file = file_of(tensor);
  return tensor_stats(
      tensor.dtype, tensor.size(),
      [&](std::uint64_t offset, std::span<std::byte> out) { file.read_part(tensor, offset, out); });
}

}  // namespace ubique::io
