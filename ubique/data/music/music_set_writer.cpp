// SPDX-License-Identifier: Apache-2.0
// Files first, index last.
#include "ubique/data/music/music_set_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "ubique/base/error.h"
#include "ubique/base/files/digest.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/text.h"
#include "ubique/data/music/music_set_files.h"
#include "ubique/io/tensors/safetensors_reader.h"
#include "ubique/io/tensors/safetensors_writer.h"

namespace ubique::data {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFewestToSplit = 4;

/// A number that only the sound and the seed decide.
std::string place_of(const PreparedClip& clip, std::uint64_t seed) {
  return digest_of(std::to_string(seed) + ":" + clip.sound);
}

io::TensorData f32_tensor(const char* name, io::Shape shape, std::span<const float> values) {
  return {name, DType::F32, std::move(shape), std::as_bytes(values)};
}

}  // namespace

void hold_out_clips(std::vector<PreparedClip>& clips, double share, std::uint64_t seed) {
  std::set<std::string> places;
  for (auto& clip : clips) {
    clip.split = kMusicTrain;
    places.insert(place_of(clip, seed));
  }
  if (share <= 0 || places.size() < 2) return;
  const auto wanted = std::llround(share * static_cast<double>(places.size()));
  const auto least = clips.size() >= kFewestToSplit ? 1LL : 0LL;
  const auto most = static_cast<long long>(places.size()) - 1;  // one is trained on
  const auto count = std::clamp(wanted, least, most);
  std::set<std::string> held;
  for (const auto& place : places) {
    if (static_cast<long long>(held.size()) < count) held.insert(place);
  }
  for (auto& clip : clips) {
    if (held.contains(place_of(clip, seed))) clip.split = kMusicVal;
  }
}

MusicSetWriter::MusicSetWriter(fs::path folder, MusicSetHeader header)
    : folder_(std::move(folder)), header_(std::move(header)) {
  make_folder(folder_);
  make_folder(folder_ / "latents");
}

std::optional<ClipLength> MusicSetWriter::find(const std::string& digest) const {
  std::error_code ignored;
  const auto path = latents_file(folder_, digest);
  if (!fs::is_regular_file(path, ignored)) return std::nullopt;
  try {
    const io::SafetensorsFile file(path);
    const auto* info = file.find("latents");
    const auto seconds = file.metadata().find("seconds");
    const bool fits = info != nullptr && info->dtype == DType::F32 && info->shape.size() == 3 &&
                      info->shape[0] == header_.channels && info->shape[1] == header_.rows &&
                      info->shape[2] >= 1 && seconds != file.metadata().end();
    if (!fits) return std::nullopt;
    const auto length = parse_number(seconds->second);
    return length ? std::optional(ClipLength{info->shape[2], *length}) : std::nullopt;
  } catch (const Error&) {  // damaged: made again
    return std::nullopt;
  }
}

void MusicSetWriter::write_latents(const std::string& digest, const ClipLength& length,
                                   std::span<const float> latents,
                                   std::span<const float> speaker) const {
  std::vector<io::TensorData> tensors = {
      f32_tensor("latents", {header_.channels, header_.rows, length.frames}, latents)};
  if (!speaker.empty()) {
    tensors.push_back(f32_tensor("speaker", {static_cast<std::int64_t>(speaker.size())}, speaker));
  }
  io::write_safetensors(latents_file(folder_, digest), tensors,
                        {{"seconds", fmt::format("{}", length.seconds)}});
}

void MusicSetWriter::finish(const std::vector<PreparedClip>& clips) const {
  auto text = music_header_line(header_);
  std::set<std::string> used;
  for (const auto& clip : clips) {
    text += music_clip_line(clip);
    used.insert(clip.latents + ".safetensors");
  }
  write_file(folder_ / kMusicIndex, text);
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder_ / "latents", ignored)) {
    const auto name = entry.path().filename().string();
    const bool ours = name.size() == 28 && name.ends_with(".safetensors") &&
                      name.find_first_not_of("0123456789abcdef") == 16;
    if (ours && !used.contains(name)) fs::remove(entry.path(), ignored);
  }
}

}  // namespace ubique::data
