// SPDX-License-Identifier: Apache-2.0
// Names of a song's files, and their contents.
#include "ubique/models/acestep/commands/song_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "ubique/base/files/file.h"
#include "ubique/base/files/output_path.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"
#include "ubique/data/audio/pictures.h"
#include "ubique/dist/world.h"
#include "ubique/io/audio/audio_file.h"

namespace ubique::acestep {
namespace {

namespace fs = std::filesystem;

constexpr int kPictureWidth = 1000, kSpectrogramHeight = 320, kWaveHeight = 160;

/// A name in a folder that no song has yet: song, song_2, song_3, ...
std::string free_name(const fs::path& folder, const std::string& name) {
  for (int number = 1;; ++number) {
    const auto tried = number == 1 ? name : fmt::format("{}_{}", name, number);
    std::error_code ignored;
    const bool taken = fs::exists(folder / (tried + ".json"), ignored) ||
                       fs::exists(folder / (tried + "-1.json"), ignored);
    if (!taken) return tried;
  }
}

void check_basename(const std::string& name) {
  const bool plain = !name.empty() && name.find('/') == std::string::npos && name != "." &&
                     name != ".." && name.size() <= 200;
  check(plain, ErrorKind::Usage,
        "[acestep.song] --basename is '{}', expected a name without a folder.", printable(name));
}

/// One above the other; both of one width.
io::Picture stacked(const io::Picture& upper, const io::Picture& lower) {
  auto picture = upper;
  picture.height += lower.height;
  picture.pixels.insert(picture.pixels.end(), lower.pixels.begin(), lower.pixels.end());
  return picture;
}

io::SampleFormat sample_format(const SongOutput& output) {
  if (output.bits == 16) return io::SampleFormat::Int16;
  return output.bits == 24 ? io::SampleFormat::Int24 : io::SampleFormat::Float32;
}

}  // namespace

SongWriter::SongWriter(const engine::Request& request, SongRequest& song)
    : variations_(song.variations), picture_(request.config.get("picture", false)) {
  const auto& config = request.config;
  const fs::path folder = config.get("out_dir", std::string());
  const auto name = config.get("basename", std::string("song"));
  check_basename(name);
  check(folder.empty() || request.output.empty(), ErrorKind::Usage,
        "[acestep.song] -o and --out-dir both say where to write; expected one of them.");
  const auto output = request.output.empty() ? folder : request.output;
  std::error_code ignored;
  if (output.has_extension() && !fs::is_directory(output, ignored)) {
    io::check_audio_output(output);
    ending_ = output.extension().string();
    song.output.format = lowercase(ending_.substr(1));
    stem_ = fs::path(output).replace_extension();
  } else {
    ending_ = "." + song.output.format;
    stem_ = output / dist::world().from_first(free_name(output, name));  // one for all ranks
  }
  for (std::int64_t i = 0; i < variations_; ++i) io::check_audio_output(files(i).sound);
  check_output_file(files(0).json);
}

fs::path SongWriter::named(std::int64_t variation, const std::string& ending) const {
  const auto number = variations_ > 1 ? fmt::format("-{}", variation + 1) : std::string();
  return stem_.string() + number + ending;
}

SongFiles SongWriter::files(std::int64_t variation) const {
  return {.sound = named(variation, ending_),
          .json = named(variation, ".json"),
          .picture = picture_ ? named(variation, ".png") : fs::path()};
}

SongFiles SongWriter::write(const MadeSong& made, const SongRequest& song,
                            SongRecord record) const {
  const auto paths = files(made.variation);
  io::write_audio(paths.sound, made.audio, {.samples = sample_format(song.output)});
  if (!paths.picture.empty()) {
    io::write_png(paths.picture,
                  stacked(data::draw_spectrogram(made.audio, kPictureWidth, kSpectrogramHeight),
                          data::draw_wave(made.audio, kPictureWidth, kWaveHeight)));
  }
  record.audio_path = paths.sound.string();
  write_file(paths.json, json_text(song_json(song.only(made.variation), record), 2) + "\n");
  return paths;
}

fs::path SongWriter::write_replay(const SongRequest& song, const NotFinite& failure,
                                  SongRecord record) const {
  auto json = song_json(song, record);
  json["ubique"]["failed"] = {{"stage", to_string(failure.stage())}, {"step", failure.step()}};
  const fs::path path = stem_.string() + "-replay.json";
  write_file(path, json_text(json, 2) + "\n");
  return path;
}

}  // namespace ubique::acestep
