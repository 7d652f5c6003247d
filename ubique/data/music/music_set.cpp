// SPDX-License-Identifier: Apache-2.0
// Reads the index once; latents are read from their files when they are asked for.
#include "ubique/data/music/music_set.h"

#include <fmt/format.h>

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/files/digest.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/printable.h"
#include "ubique/data/music/music_set_files.h"
#include "ubique/io/tensors/safetensors_reader.h"

namespace ubique::data {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kLargestIndex = 4LL << 30U;

std::vector<float> read_f32(const io::SafetensorsFile& file, const io::TensorInfo& info) {
  check(info.dtype == DType::F32, ErrorKind::Input, "[data.music] {}: {} is not stored in F32.",
        file.name(), info.name);
  std::vector<float> values(file.bytes(info).size() / sizeof(float));
  file.read(info, std::as_writable_bytes(std::span(values)));
  return values;
}

const io::TensorInfo& latents_of_file(const io::SafetensorsFile& file, const PreparedClip& clip,
                                      const MusicSetHeader& header) {
  const auto* info = file.find("latents");
  const io::Shape expected = {header.channels, header.rows, clip.frames};
  check(
      info != nullptr && info->shape == expected, ErrorKind::Input,
      "[data.music] {} does not hold the latents of '{}'; expected ({}, {}, {}). Prepare the data "
      "again.",
      file.name(), printable(clip.key), header.channels, header.rows, clip.frames);
  return *info;
}

/// A key may hold slashes, but must not lead out of the folder.
bool stays_inside(const fs::path& relative) {
  const auto normal = relative.lexically_normal();
  return !normal.empty() && normal.is_relative() && *normal.begin() != "..";
}

std::optional<io::SafetensorsFile> features_file(const fs::path& folder, const PreparedClip& clip) {
  const auto relative = fs::path(clip.key + ".safetensors");
  const auto path = folder / "features" / relative;
  std::error_code ignored;
  if (!stays_inside(relative) || !fs::is_regular_file(path, ignored)) return std::nullopt;
  return io::SafetensorsFile(path);
}

}  // namespace

bool is_music_set(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / kMusicIndex, ignored);
}

MusicSet::MusicSet(fs::path folder) : folder_(std::move(folder)) {
  check(is_music_set(folder_), ErrorKind::Input,
        "[data.music] {} holds no prepared music; expected {} in it, as `ubique data acestep "
        "prepare` makes it.",
        folder_.string(), kMusicIndex);
  const auto text = read_file(folder_ / kMusicIndex, kLargestIndex);
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    const auto line = std::string_view(text).substr(at, end - at);
    at = end + 1;
    const auto where = fmt::format("{} line {}", (folder_ / kMusicIndex).string(), ++number);
    if (number == 1) {
      header_ = parse_music_header(line, where);
    } else {
      clips_.push_back(parse_music_clip(line, where));
    }
  }
  check(!clips_.empty(), ErrorKind::Input, "[data.music] {} has no clips.", folder_.string());
  for (const auto& clip : clips_) {
    const io::SafetensorsFile file(latents_file(folder_, clip.latents));
    (void)latents_of_file(file, clip, header_);
  }
}

std::vector<PreparedClip> MusicSet::clips_of(std::string_view split) const {
  std::vector<PreparedClip> chosen;
  std::copy_if(clips_.begin(), clips_.end(), std::back_inserter(chosen),
               [&](const PreparedClip& clip) { return clip.split == split; });
  return chosen;
}

std::string MusicSet::fingerprint() const {
  std::string text = header_.codec + header_.vocabulary;
  for (const auto& clip : clips_) text += music_clip_line(clip);
  return digest_of(text);
}

std::vector<float> MusicSet::latents(const PreparedClip& clip, std::int64_t first,
                                     std::int64_t count) const {
  const io::SafetensorsFile file(latents_file(folder_, clip.latents));
  const auto all = read_f32(file, latents_of_file(file, clip, header_));
  check(first >= 0 && count >= 1 && first + count <= clip.frames, ErrorKind::Internal,
        "[data.music] frames {} to {} of a clip of {}.", first, first + count, clip.frames);
  if (count == clip.frames) return all;
  std::vector<float> part;
  part.reserve(static_cast<std::size_t>(header_.channels * header_.rows * count));
  for (std::int64_t row = 0; row < header_.channels * header_.rows; ++row) {
    const auto begin = all.begin() + row * clip.frames + first;
    part.insert(part.end(), begin, begin + count);
  }
  return part;
}

std::optional<std::vector<float>> MusicSet::speaker(const PreparedClip& clip) const {
  const io::SafetensorsFile file(latents_file(folder_, clip.latents));
  const auto* info = file.find("speaker");
  if (info == nullptr) return std::nullopt;
  return read_f32(file, *info);
}

bool MusicSet::has_features(const PreparedClip& clip, const std::string& name) const {
  const auto file = features_file(folder_, clip);
  return file && file->find(name) != nullptr;
}

std::optional<ClipFeatures> MusicSet::features(const PreparedClip& clip,
                                               const std::string& name) const {
  const auto file = features_file(folder_, clip);
  const auto* info = file ? file->find(name) : nullptr;
  if (info == nullptr) return std::nullopt;
  check(info->shape.size() == 2 && info->shape[0] >= 1 && info->shape[1] >= 1, ErrorKind::Input,
        "[data.music] {}: {} has {} dimensions, expected frames and size.", file->name(),
        printable(name), info->shape.size());
  return ClipFeatures{info->shape[0], info->shape[1], read_f32(*file, *info)};
}

}  // namespace ubique::data
