// SPDX-License-Identifier: Apache-2.0
// Sound files by name and content; FLAC, OGG and MP3 where this build can write them.
#include "ubique/io/audio/audio_file.h"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>

#include "tests/base/scratch.h"
#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/io/audio/compressed.h"

using namespace ubique;

namespace {

io::Audio tone(int rate, int channels, double seconds) {
  io::Audio audio{rate, channels, {}};
  for (int c = 0; c < channels; ++c) {
    for (int t = 0; t < static_cast<int>(rate * seconds); ++t) {
      audio.samples.push_back(
          static_cast<float>(0.5 * std::sin(2 * 3.14159265358979 * (440 + 110 * c) * t / rate)));
    }
  }
  return audio;
}

/// Root mean square of the difference over the frames that both have.
double error_of(const io::Audio& a, const io::Audio& b) {
  REQUIRE(a.channels == b.channels);
  double sum = 0;
  const auto frames = static_cast<std::size_t>(std::min(a.frames(), b.frames()));
  for (int c = 0; c < a.channels; ++c) {
    for (std::size_t t = 0; t < frames; ++t) {
      const double difference = a.channel(c)[t] - b.channel(c)[t];
      sum += difference * difference;
    }
  }
  return std::sqrt(sum / static_cast<double>(frames));
}

bool skipped(io::Compressed format, const char* name) {
  if (io::can_write(format)) return false;
  MESSAGE("skipped: this build cannot write ", name);
  return true;
}

}  // namespace

TEST_CASE("audio: the ending chooses the format, and an unknown one is a usage error") {
  const test::ScratchFolder folder;
  const auto audio = tone(8000, 2, 0.1);
  io::write_audio(folder.path() / "a.WAV", audio, {.samples = io::SampleFormat::Float32});
  CHECK(io::read_audio(folder.path() / "a.WAV").samples == audio.samples);
  try {
    io::write_audio(folder.path() / "a.aac", audio);
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::Usage);
    CHECK(std::string(error.what()).find("expected .wav, .flac, .ogg or .mp3") !=
          std::string::npos);
  }
  CHECK(io::is_audio_name("x.Flac"));
  CHECK_FALSE(io::is_audio_name("x"));
}

TEST_CASE("audio: FLAC gives back each step of 16 and 24 bits, whatever its name") {
  if (skipped(io::Compressed::Flac, "FLAC")) return;
  const test::ScratchFolder folder;
  for (const auto samples : {io::SampleFormat::Int16, io::SampleFormat::Int24}) {
    const auto audio = tone(48'000, 2, 2);
    io::write_audio(folder.path() / "a.wav", audio, {.samples = samples});
    io::write_audio(folder.path() / "a.flac", audio, {.samples = samples});
    std::filesystem::rename(folder.path() / "a.flac", folder.path() / "b.wav");
    const auto back = io::read_audio(folder.path() / "b.wav");
    CHECK(back.rate == 48'000);
    const double step = samples == io::SampleFormat::Int16 ? 1.0 / 32768 : 1.0 / 8388608;
    CHECK(error_of(back, io::read_audio(folder.path() / "a.wav")) <= step);
    CHECK(back.frames() == audio.frames());
  }
}

TEST_CASE("audio: FLAC clips louder values instead of wrapping them") {
  if (skipped(io::Compressed::Flac, "FLAC")) return;
  const io::Audio loud{44'100, 1, std::vector<float>(5000, 1.5F)};
  const auto bytes = io::compressed_bytes(loud, io::Compressed::Flac, io::SampleFormat::Int16, 1);
  const auto back = io::parse_audio(std::as_bytes(std::span(bytes)), "loud");
  CHECK(back.samples.at(100) > 0.99F);
}

TEST_CASE("audio: OGG and MP3 come back alike, and better at higher quality") {
  const auto audio = tone(44'100, 2, 1);
  for (const auto format : {io::Compressed::OggVorbis, io::Compressed::Mp3}) {
    if (skipped(format, format == io::Compressed::Mp3 ? "MP3" : "OGG")) continue;
    const auto good = io::compressed_bytes(audio, format, io::SampleFormat::Int16, 1);
    const auto small = io::compressed_bytes(audio, format, io::SampleFormat::Int16, 0);
    CHECK(small.size() < good.size());
    const auto back = io::parse_audio(std::as_bytes(std::span(good)), "good");
    CHECK(back.rate == 44'100);
    CHECK(back.channels == 2);
    CHECK(std::abs(back.frames() - audio.frames()) < 3000);
    if (back.frames() == audio.frames()) CHECK(error_of(back, audio) < 0.02);
  }
}

TEST_CASE("audio: cut and damaged FLAC files are input errors or shorter, never a crash") {
  if (skipped(io::Compressed::Flac, "FLAC")) return;
  const auto whole =
      io::compressed_bytes(tone(44'100, 1, 1), io::Compressed::Flac, io::SampleFormat::Int16, 1);
  const auto try_read = [](const std::string& bytes) {
    try {
      (void)io::parse_audio(std::as_bytes(std::span(bytes)), "damaged");
      return true;
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::Input);
      return false;
    }
  };
  CHECK(try_read(whole));
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{3}, std::size_t{50}, whole.size() / 2}) {
    CHECK_FALSE(try_read(whole.substr(0, size)));
  }
  for (std::size_t at = 4; at < whole.size(); at += 97) {
    auto bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x55);
    (void)try_read(bytes);
  }
}

TEST_CASE("audio: a FLAC header that promises four billion frames takes no memory for them") {
  if (skipped(io::Compressed::Flac, "FLAC")) return;
  auto bytes =
      io::compressed_bytes(tone(44'100, 1, 1), io::Compressed::Flac, io::SampleFormat::Int16, 1);
  for (std::size_t i = 22; i < 26; ++i) bytes[i] = '\xFF';  // the frames of STREAMINFO
  CHECK_THROWS_WITH_AS((void)io::parse_audio(std::as_bytes(std::span(bytes)), "liar"),
                       doctest::Contains("cut short"), Error);
}

TEST_CASE("audio: what is no sound is refused with its name") {
  const test::ScratchFolder folder;
  write_file(folder.path() / "text.mp3", "no sound at all");
  CHECK_THROWS_WITH_AS((void)io::read_audio(folder.path() / "text.mp3"),
                       doctest::Contains("text.mp3"), Error);
  CHECK_THROWS_AS((void)io::read_audio(folder.path() / "absent.wav"), Error);
}
