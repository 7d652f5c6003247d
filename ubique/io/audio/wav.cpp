// SPDX-License-Identifier: Apache-2.0
// Reads RIFF chunks: "fmt " says what a sample is, "data" holds the samples.
#include "ubique/io/audio/wav.h"

#include <algorithm>
#include <cstring>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"

namespace ubique::io {
namespace {

constexpr std::uint32_t kUnknownSize = 0xFFFF'FFFF;  // of streams, and of RF64
constexpr std::uint16_t kPcm = 1, kFloat = 3, kExtensible = 0xFFFE;

using Bytes = std::span<const std::byte>;

template <typename T>
T number_at(Bytes bytes, std::size_t at) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value = static_cast<T>(value | static_cast<T>(std::to_integer<T>(bytes[at + i]) << (8 * i)));
  }
  return value;
}

bool has_tag(Bytes bytes, std::size_t at, std::string_view tag) {
  return bytes.size() >= at + tag.size() &&
         std::memcmp(bytes.data() + at, tag.data(), tag.size()) == 0;
}

struct WavFormat {
  int rate = 0, channels = 0, bits = 0;
  bool floats = false;
  std::size_t frame_bytes() const { return static_cast<std::size_t>(channels * bits / 8); }
};

WavFormat read_format(Bytes chunk, const std::string& name) {
  check(chunk.size() >= 16, ErrorKind::Input,
        "[io.wav] {} has a format chunk that is too short; got {} bytes, expected 16 or more.",
        name, chunk.size());
  auto kind = number_at<std::uint16_t>(chunk, 0);
  // The extensible form names its kind in the first two bytes of an identifier.
  if (kind == kExtensible && chunk.size() >= 40) kind = number_at<std::uint16_t>(chunk, 24);
  const auto channels = number_at<std::uint16_t>(chunk, 2);
  const auto rate = number_at<std::uint32_t>(chunk, 4);
  const auto bits = number_at<std::uint16_t>(chunk, 14);
  const auto frame_bytes = number_at<std::uint16_t>(chunk, 12);
  check_layout(rate, channels, name);
  const bool pcm = kind == kPcm && (bits == 8 || bits == 16 || bits == 24 || bits == 32);
  const bool floats = kind == kFloat && (bits == 32 || bits == 64);
  check(pcm || floats, ErrorKind::Input,
        "[io.wav] {} has samples of an unknown kind; got format {} with {} bits, expected PCM (1) "
        "of 8, 16, 24 or 32 or floats (3) of 32 or 64.",
        name, kind, bits);
  check(frame_bytes == channels * bits / 8, ErrorKind::Input,
        "[io.wav] {} contradicts itself; got {} bytes for a frame of {} channels of {} bits.", name,
        frame_bytes, channels, bits);
  return {static_cast<int>(rate), channels, bits, floats};
}

struct WavParts {
  WavFormat format;
  Bytes data;
};

/// The size of a "data" chunk: RF64 has it in a chunk of its own; a stream that never learnt it
/// goes to the end of the file.
std::uint64_t data_size(std::uint32_t written, std::uint64_t large, std::size_t left) {
  if (written != kUnknownSize) return written;
  return large > 0 ? large : left;
}

WavParts find_parts(Bytes file, const std::string& name) {
  check(is_wav(file), ErrorKind::Input,
        "[io.wav] {} is no WAV file; it does not begin with RIFF and WAVE.", name);
  WavParts parts;
  std::uint64_t large = 0;
  for (std::size_t at = 12; file.size() - at >= 8;) {
    const auto left = file.size() - at - 8;
    const auto body = at + 8;
    const auto written = number_at<std::uint32_t>(file, at + 4);
    if (has_tag(file, at, "data")) {
      check(parts.format.channels > 0, ErrorKind::Input,
            "[io.wav] {} has samples before it says what they are.", name);
      const auto size = data_size(written, large, left);
      check(size <= left, ErrorKind::Input,
            "[io.wav] {} is cut short; its header promises {} bytes of samples, got {}.", name,
            size, left);
      parts.data = file.subspan(body, static_cast<std::size_t>(size));
      return parts;
    }
    check(written <= left, ErrorKind::Input,
          "[io.wav] {} is cut short; the chunk '{}' promises {} bytes, got {}.", name,
          printable(std::string(reinterpret_cast<const char*>(file.data() + at), 4)), written,
          left);
    if (has_tag(file, at, "fmt ")) parts.format = read_format(file.subspan(body, written), name);
    if (has_tag(file, at, "ds64") && written >= 16)
      large = number_at<std::uint64_t>(file, body + 8);
    at = body + std::min<std::size_t>(left, std::size_t{written} + written % 2);
  }
  fail(ErrorKind::Input, "[io.wav] {} is cut short; it has no samples.", name);
}

float integer_sample(Bytes data, std::size_t at, int bits) {
  if (bits == 8) return static_cast<float>(std::to_integer<int>(data[at]) - 128) / 128.F;
  std::uint32_t value = 0;  // in the upper bits, so that the sign is where int32 has it
  for (int i = 0; i < bits / 8; ++i) {
    value |= std::to_integer<std::uint32_t>(data[at + static_cast<std::size_t>(i)])
             << (32 - bits + 8 * i);
  }
  return static_cast<float>(static_cast<std::int32_t>(value)) / 2147483648.F;
}

float float_sample(Bytes data, std::size_t at, int bits) {
  if (bits == 32) {
    float value = 0;
    std::memcpy(&value, data.data() + at, sizeof value);
    return value;
  }
  double value = 0;
  std::memcpy(&value, data.data() + at, sizeof value);
  return static_cast<float>(value);
}

void append_number(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xFFU);
}

/// Rounded to `bits`, clipped at full scale.
std::int64_t as_integer(float sample, int bits) {
  const auto scale = static_cast<double>(std::int64_t{1} << (bits - 1));
  return std::llround(std::clamp(static_cast<double>(sample) * scale, -scale, scale - 1));
}

int bits_of(SampleFormat format) {
  switch (format) {
    case SampleFormat::Int16:
      return 16;
    case SampleFormat::Int24:
      return 24;
    case SampleFormat::Int32:
    case SampleFormat::Float32:
      break;
  }
  return 32;
}

}  // namespace

bool is_wav(std::span<const std::byte> file) {
  return (has_tag(file, 0, "RIFF") || has_tag(file, 0, "RF64")) && has_tag(file, 8, "WAVE");
}

Audio parse_wav(std::span<const std::byte> file, const std::string& name) {
  const auto [format, data] = find_parts(file, name);
  const auto frames = data.size() / format.frame_bytes();  // a torn last frame is left out
  check_length(static_cast<std::int64_t>(frames), format.channels, name);
  Audio audio{format.rate, format.channels, {}};
  const auto channels = static_cast<std::size_t>(format.channels);
  audio.samples.resize(frames * channels);
  const auto width = static_cast<std::size_t>(format.bits / 8);
  for (std::size_t c = 0; c < channels; ++c) {
    auto* out = audio.samples.data() + c * frames;
    for (std::size_t t = 0; t < frames; ++t) {
      const auto at = (t * channels + c) * width;
      out[t] = format.floats ? float_sample(data, at, format.bits)
                             : integer_sample(data, at, format.bits);
    }
  }
  return audio;
}

std::string wav_bytes(const Audio& audio, SampleFormat format) {
  check_audio(audio, "the sound");
  const bool floats = format == SampleFormat::Float32;
  const int bits = bits_of(format);
  const int frame_bytes = audio.channels * bits / 8;
  const auto size = static_cast<std::uint64_t>(audio.frames() * frame_bytes);
  const auto padded = size + size % 2;
  const std::uint64_t before = floats ? 50 : 36;  // bytes between the first size and the samples
  std::string out = "RIFF";
  out.reserve(before + 8 + padded);
  append_number(out, before + padded, 4);
  out += "WAVEfmt ";
  append_number(out, floats ? 18 : 16, 4);
  append_number(out, floats ? kFloat : kPcm, 2);
  append_number(out, static_cast<std::uint64_t>(audio.channels), 2);
  append_number(out, static_cast<std::uint64_t>(audio.rate), 4);
  append_number(out, static_cast<std::uint64_t>(audio.rate) * static_cast<unsigned>(frame_bytes),
                4);
  append_number(out, static_cast<std::uint64_t>(frame_bytes), 2);
  append_number(out, static_cast<std::uint64_t>(bits), 2);
  if (floats) {  // the standard asks for the number of frames where samples are no PCM
    out += std::string("\0\0fact\4\0\0\0", 10);
    append_number(out, static_cast<std::uint64_t>(audio.frames()), 4);
  }
  out += "data";
  append_number(out, size, 4);
  for (std::int64_t t = 0; t < audio.frames(); ++t) {
    for (int c = 0; c < audio.channels; ++c) {
      const auto sample = audio.samples[static_cast<std::size_t>(c * audio.frames() + t)];
      std::uint32_t raw = 0;
      std::memcpy(&raw, &sample, sizeof raw);
      append_number(out, floats ? raw : static_cast<std::uint64_t>(as_integer(sample, bits)),
                    bits / 8);
    }
  }
  if (padded > size) out += '\0';
  return out;
}

}  // namespace ubique::io
