// SPDX-License-Identifier: Apache-2.0
// Chooses the reader by the first bytes and the writer by the ending.
#include "ubique/io/audio/audio_file.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/io/audio/compressed.h"
#include "ubique/io/audio/wav.h"

namespace ubique::io {
namespace {

std::string audio_ending(const std::filesystem::path& path) {
  auto ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter | 0x20) : letter;
  });
  return ending;
}

/// nullopt for .wav and for what is no audio name.
std::optional<Compressed> compressed_of(const std::string& ending) {
  constexpr std::array<std::pair<std::string_view, Compressed>, 3> kEndings = {
      {{".flac", Compressed::Flac}, {".ogg", Compressed::OggVorbis}, {".mp3", Compressed::Mp3}}};
  for (const auto& [known, format] : kEndings) {
    if (ending == known) return format;
  }
  return std::nullopt;
}

}  // namespace

Audio parse_audio(std::span<const std::byte> file, const std::string& name) {
  return is_wav(file) ? parse_wav(file, name) : parse_compressed(file, name);
}

Audio read_audio(const std::filesystem::path& path) {
  const MappedFile file(path);
  return parse_audio(file.bytes(), path.string());
}

bool is_audio_name(const std::filesystem::path& path) {
  const auto ending = audio_ending(path);
  return ending == ".wav" || compressed_of(ending).has_value();
}

void check_audio_output(const std::filesystem::path& path) {
  check(is_audio_name(path), ErrorKind::Usage,
        "[io.audio] {} has no ending of a sound file; expected .wav, .flac, .ogg or .mp3.",
        path.string());
  const auto format = compressed_of(audio_ending(path));
  check(!format || can_write(*format), ErrorKind::Input,
        "[io.audio] {} cannot be written by this build; it needs libsndfile (Debian "
        "libsndfile1-dev, Homebrew libsndfile; for .mp3 1.1 or newer). Write .wav, or install it "
        "and build again.",
        path.string());
}

void write_audio(const std::filesystem::path& path, const Audio& audio, AudioOptions options) {
  check_audio_output(path);
  const auto format = compressed_of(audio_ending(path));
  write_file(path, format ? compressed_bytes(audio, *format, options.samples, options.quality)
                          : wav_bytes(audio, options.samples));
}

}  // namespace ubique::io
