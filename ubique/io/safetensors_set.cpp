// SPDX-License-Identifier: Apache-2.0
#include "ubique/io/safetensors_set.h"

#include <algorithm>
#include <system_error>

#include "ubique/base/error.h"
#include "ubique/base/text.h"
#include "ubique/io/printable.h"
#include "ubique/io/safetensors_index.h"

namespace ubique::io {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMaxIndexBytes = 100'000'000;

bool is_index_name(const fs::path& path) { return path.extension() == ".json"; }

bool exists_quietly(const fs::path& path) {
  std::error_code ignored;  // a name too long to exist does not exist
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
  check(!error, ErrorKind::Input, "[io.safetensors] cannot look into {}; {}.", folder.string(),
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
  const auto place = find_by_name(tensors_, by_name_, name);
  return place ? &tensors_[*place] : nullptr;
}

const SafetensorsFile& SafetensorsSet::file_of(const TensorInfo& tensor) const {
  const auto place = find_by_name(tensors_, by_name_, tensor.name);
  check(place.has_value(), ErrorKind::Internal, "[io.safetensors] tensor '{}' is not of this set.",
        printable(tensor.name));
  return files_[file_numbers_[*place]];
}

std::span<const std::byte> SafetensorsSet::bytes(const TensorInfo& tensor) const {
  return file_of(tensor).bytes(tensor);
}

void SafetensorsSet::read(const TensorInfo& tensor, std::span<std::byte> out) const {
  file_of(tensor).read(tensor, out);
}

}  // namespace ubique::io
