// SPDX-License-Identifier: Apache-2.0
// WAV by our own code: what is written is read back, and files that lie are refused.
#include "ubique/io/audio/wav.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "ubique/base/error.h"

using namespace ubique;

namespace {

io::Audio wav_sample(int channels, int frames = 101) {
  io::Audio audio{22'050, channels, {}};
  for (int i = 0; i < channels * frames; ++i) {
    audio.samples.push_back(static_cast<float>(0.9 * std::sin(0.1 * i)));
  }
  return audio;
}

io::Audio read_back(const std::string& bytes) {
  return io::parse_wav(std::as_bytes(std::span(bytes)), "sample");
}

std::string refusal(const std::string& bytes) {
  try {
    (void)read_back(bytes);
  } catch (const Error& error) {
    return error.kind() == ErrorKind::Input ? error.what() : "another kind of error";
  }
  return "accepted";
}

/// `bytes` with the little-endian `value` of `size` bytes at `at`.
std::string with_number(std::string bytes, std::size_t at, std::uint64_t value, int size) {
  for (int i = 0; i < size; ++i) {
    bytes[at + static_cast<std::size_t>(i)] = static_cast<char>(value >> (8 * i));
  }
  return bytes;
}

double distance(const io::Audio& a, const io::Audio& b) {
  REQUIRE(a.samples.size() == b.samples.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.samples.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(a.samples[i]) - b.samples[i]));
  }
  return largest;
}

}  // namespace

TEST_CASE("wav: each sample format is read back within its step, mono and stereo") {
  using io::SampleFormat;
  for (const int channels : {1, 2}) {
    const auto audio = wav_sample(channels);
    const std::pair<SampleFormat, double> formats[] = {{SampleFormat::Int16, 0.51 / 32768},
                                                       {SampleFormat::Int24, 0.51 / 8388608},
                                                       {SampleFormat::Int32, 1e-7},
                                                       {SampleFormat::Float32, 0}};
    for (const auto& [format, step] : formats) {
      const auto back = read_back(io::wav_bytes(audio, format));
      CHECK(back.rate == audio.rate);
      CHECK(back.channels == channels);
      CHECK(distance(back, audio) <= step);
    }
  }
}

TEST_CASE("wav: integers survive a second round unchanged, and louder values are clipped") {
  const auto once = read_back(io::wav_bytes(wav_sample(2), io::SampleFormat::Int24));
  CHECK(distance(read_back(io::wav_bytes(once, io::SampleFormat::Int24)), once) == 0);
  const io::Audio loud{8000, 1, {2.F, -2.F, 1.F, -1.F}};
  const auto back = read_back(io::wav_bytes(loud, io::SampleFormat::Int16));
  CHECK(back.samples == std::vector<float>{32767.F / 32768, -1.F, 32767.F / 32768, -1.F});
  CHECK(read_back(io::wav_bytes(loud, io::SampleFormat::Float32)).samples == loud.samples);
}

TEST_CASE("wav: the header says what other programs expect") {
  const auto bytes = io::wav_bytes({44'100, 2, {0.5F, 0.25F}}, io::SampleFormat::Int16);
  // clang-format off
  const std::string expected("RIFF\x28\0\0\0WAVEfmt \x10\0\0\0\1\0\2\0\x44\xac\0\0\x10\xb1\2\0\4\0\x10\0"
                             "data\4\0\0\0\0\x40\0\x20", 48);
  // clang-format on
  CHECK(bytes == expected);
  // Odd sizes are padded, and the pad is not part of the samples.
  const auto odd = io::wav_bytes({8000, 1, {0.5F}}, io::SampleFormat::Int24);
  CHECK(odd.size() == 48);
  CHECK(read_back(odd).frames() == 1);
}

TEST_CASE("wav: unknown chunks, the extensible form, 8 bits and 64-bit floats are read") {
  const auto plain = io::wav_bytes({8000, 1, {0.5F, -0.5F}}, io::SampleFormat::Int16);
  const std::string list("LIST\3\0\0\0abc\0", 12);
  CHECK(read_back(plain.substr(0, 12) + list + plain.substr(12)).samples ==
        std::vector<float>{0.5F, -0.5F});
  std::string extended = plain.substr(0, 16) + std::string("\x28\0\0\0\xfe\xff", 6) +
                         plain.substr(22, 14) + std::string("\x16\0\x10\0\4\0\0\0\1\0", 10) +
                         std::string(14, '\0') + plain.substr(36);
  CHECK(read_back(extended).samples == std::vector<float>{0.5F, -0.5F});
  auto bytes = with_number(with_number(plain, 34, 8, 2), 32, 1, 2);
  bytes = with_number(bytes, 40, 2, 4).substr(0, 44) + "\xC0\x40";
  CHECK(read_back(bytes).samples == std::vector<float>{0.5F, -0.5F});
  const double value = -0.125;
  bytes = with_number(with_number(with_number(plain, 34, 64, 2), 32, 8, 2), 20, 3, 2);
  bytes = with_number(bytes, 40, 8, 4).substr(0, 44) +
          std::string(reinterpret_cast<const char*>(&value), 8);
  CHECK(read_back(bytes).samples == std::vector<float>{-0.125F});
}

TEST_CASE("wav: a stream without a length goes to the end, RF64 brings a long one") {
  const auto plain = io::wav_bytes(wav_sample(1, 50), io::SampleFormat::Int16);
  const auto endless = with_number(with_number(plain, 40, 0xFFFFFFFF, 4), 4, 0xFFFFFFFF, 4);
  CHECK(read_back(endless).frames() == 50);
  CHECK(read_back(endless.substr(0, 44 + 31)).frames() == 15);  // the torn frame is left out
  const auto rf64 = "RF64" + endless.substr(4, 8) + std::string("ds64\x10\0\0\0", 8) +
                    std::string(8, '\0') + with_number(std::string(8, '\0'), 0, 20, 8) +
                    endless.substr(12);
  CHECK(read_back(rf64).frames() == 10);
  CHECK(refusal(with_number(rf64, 28, std::uint64_t{1} << 62U, 8)).find("cut short") !=
        std::string::npos);
}

TEST_CASE("wav: every shorter file is refused, or holds fewer samples") {
  const auto plain = io::wav_bytes(wav_sample(2, 3), io::SampleFormat::Float32);
  for (std::size_t size = 0; size < plain.size(); ++size) {
    CHECK(refusal(plain.substr(0, size)).starts_with("[io.wav]"));
  }
}

TEST_CASE("wav: headers that lie are refused by name") {
  const auto plain = io::wav_bytes(wav_sample(1, 10), io::SampleFormat::Int16);
  const auto refused = [&](std::size_t at, std::uint64_t value, int size, const char* what) {
    const auto message = refusal(with_number(plain, at, value, size));
    CAPTURE(message);
    CHECK(message.find(what) != std::string::npos);
  };
  refused(24, 0, 4, "sample rate");
  refused(24, 4'000'000'000, 4, "sample rate");
  refused(22, 0, 2, "neither mono nor stereo; got 0");
  refused(22, 6, 2, "got 6 channels");
  refused(34, 12, 2, "unknown kind");
  refused(20, 85, 2, "unknown kind; got format 85");
  refused(32, 7, 2, "contradicts itself");
  refused(16, 9, 4, "too short");
  refused(16, 4'000'000'000, 4, "promises 4000000000 bytes");
  refused(40, 4'000'000'000, 4, "promises 4000000000 bytes");
}

TEST_CASE("wav: NaN is refused before a file is made") {
  const io::Audio broken{8000, 1, {0.F, std::numeric_limits<float>::quiet_NaN()}};
  CHECK_THROWS_WITH_AS((void)io::wav_bytes(broken, io::SampleFormat::Int16),
                       doctest::Contains("sample 1 is not a number"), Error);
}
