// SPDX-License-Identifier: Apache-2.0
// libsndfile on memory: it never opens a path, so that writes stay atomic and reads bounded.
#include "ubique/io/audio/compressed.h"

#include <algorithm>
#include <cstring>

#include "ubique/base/error.h"

#ifdef UBIQUE_HAS_SNDFILE
#include <sndfile.h>

#include <memory>
#endif

namespace ubique::io {

#ifdef UBIQUE_HAS_SNDFILE
namespace {

constexpr sf_count_t kBlockFrames = 1 << 16;
// MP3 came with libsndfile 1.1; older headers lack its names.
constexpr int kMpegLayer3 = 0x230000 | 0x0082;

/// What the library reads from or writes to.
struct Memory {
  std::span<const std::byte> in = {};
  std::string out = {};
  sf_count_t at = 0;
  sf_count_t size() const {
    return static_cast<sf_count_t>(in.data() != nullptr ? in.size() : out.size());
  }
};

Memory& memory_of(void* user) { return *static_cast<Memory*>(user); }

sf_count_t seek_memory(sf_count_t offset, int whence, void* user) {
  auto& memory = memory_of(user);
  const auto base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? memory.at : memory.size();
  memory.at = std::clamp<sf_count_t>(base + offset, 0, memory.size());
  return memory.at;
}

sf_count_t read_memory(void* to, sf_count_t count, void* user) {
  auto& memory = memory_of(user);
  const auto most = std::clamp<sf_count_t>(count, 0, memory.size() - memory.at);
  const auto* from =
      memory.in.data() != nullptr ? memory.in.data() : std::as_bytes(std::span(memory.out)).data();
  if (most > 0) std::memcpy(to, from + memory.at, static_cast<std::size_t>(most));
  memory.at += most;
  return most;
}

sf_count_t write_memory(const void* from, sf_count_t count, void* user) {
  auto& memory = memory_of(user);
  const auto end = static_cast<std::size_t>(memory.at + count);
  if (end > memory.out.size()) memory.out.resize(end);
  std::memcpy(memory.out.data() + memory.at, from, static_cast<std::size_t>(count));
  memory.at += count;
  return count;
}

SF_VIRTUAL_IO callbacks() {
  return {[](void* user) { return memory_of(user).size(); }, seek_memory, read_memory, write_memory,
          [](void* user) { return memory_of(user).at; }};
}

struct CloseSound {
  void operator()(SNDFILE* file) const { sf_close(file); }
};
using Sound = std::unique_ptr<SNDFILE, CloseSound>;

int format_code(Compressed format, SampleFormat samples) {
  switch (format) {
    case Compressed::Flac:
      return SF_FORMAT_FLAC |
             (samples == SampleFormat::Int16 ? SF_FORMAT_PCM_16 : SF_FORMAT_PCM_24);
    case Compressed::OggVorbis:
      return SF_FORMAT_OGG | SF_FORMAT_VORBIS;
    case Compressed::Mp3:
      break;
  }
  return kMpegLayer3;
}

/// A message of the library inside a sentence of ours.
std::string_view without_stop(std::string_view message) {
  while (message.ends_with('.')) message.remove_suffix(1);
  return message;
}

const char* name_of(Compressed format) {
  return format == Compressed::Flac ? "FLAC" : format == Compressed::Mp3 ? "MP3" : "OGG Vorbis";
}

}  // namespace

bool can_read_compressed() { return true; }

bool can_write(Compressed format) {
  const SF_INFO info{0, 44'100, 2, format_code(format, SampleFormat::Int16), 0, 0};
  return sf_format_check(&info) != 0;
}

Audio parse_compressed(std::span<const std::byte> file, const std::string& name) {
  Memory memory{.in = file};
  auto io = callbacks();
  SF_INFO info{};
  const Sound sound(file.empty() ? nullptr : sf_open_virtual(&io, SFM_READ, &info, &memory));
  check(sound != nullptr, ErrorKind::Input,
        "[io.audio] {} is no sound file that libsndfile understands; {}.", name,
        file.empty() ? "it is empty" : without_stop(sf_strerror(nullptr)));
  check_layout(info.samplerate, info.channels, name);
  // The header's length may lie in both directions, so the file is read block by block.
  std::vector<float> frames, block(static_cast<std::size_t>(kBlockFrames * info.channels));
  while (const auto count = sf_readf_float(sound.get(), block.data(), kBlockFrames)) {
    check(count > 0, ErrorKind::Input, "[io.audio] {} is damaged.", name);
    const auto values = static_cast<std::ptrdiff_t>(count * info.channels);
    frames.insert(frames.end(), block.begin(), block.begin() + values);
    check_length(static_cast<std::int64_t>(frames.size()) / info.channels, info.channels, name);
  }
  const auto got = static_cast<std::int64_t>(frames.size()) / info.channels;
  check(sf_error(sound.get()) == SF_ERR_NO_ERROR, ErrorKind::Input,
        "[io.audio] {} is damaged after {} frames; {}.", name, got, sf_strerror(sound.get()));
  // FLAC writes its length first; less than that means a file cut short.
  const bool sized = (info.format & SF_FORMAT_TYPEMASK) == SF_FORMAT_FLAC;
  check(!sized || info.frames >= SF_COUNT_MAX || got >= info.frames, ErrorKind::Input,
        "[io.audio] {} is cut short; its header promises {} frames, got {}.", name, info.frames,
        got);
  return {info.samplerate, info.channels, separated(frames, info.channels)};
}

std::string compressed_bytes(const Audio& audio, Compressed format, SampleFormat samples,
                             double quality) {
  check_audio(audio, "the sound");
  check(can_write(format), ErrorKind::Input,
        "[io.audio] {} cannot write {}; write WAV or FLAC, or install libsndfile 1.1 or newer.",
        sf_version_string(), name_of(format));
  Memory memory;
  auto io = callbacks();
  SF_INFO info{0, audio.rate, audio.channels, format_code(format, samples), 0, 0};
  Sound sound(sf_open_virtual(&io, SFM_WRITE, &info, &memory));
  check(sound != nullptr, ErrorKind::Input,
        "[io.audio] no {} can be made of {} Hz with {} channels; {}.", name_of(format), audio.rate,
        audio.channels, sf_strerror(nullptr));
  // Integers are clipped at full scale instead of wrapping round.
  sf_command(sound.get(), SFC_SET_CLIPPING, nullptr, SF_TRUE);
  double level = std::clamp(quality, 0.0, 1.0);
  if (format == Compressed::Mp3) level = 1 - level;  // there it is the compression
  const int command =
      format == Compressed::Mp3 ? SFC_SET_COMPRESSION_LEVEL : SFC_SET_VBR_ENCODING_QUALITY;
  if (format != Compressed::Flac) sf_command(sound.get(), command, &level, sizeof level);
  for (std::int64_t begin = 0; begin < audio.frames(); begin += kBlockFrames) {
    const auto end = std::min<std::int64_t>(begin + kBlockFrames, audio.frames());
    const auto block = interleaved(audio, begin, end);
    check(sf_writef_float(sound.get(), block.data(), end - begin) == end - begin,
          ErrorKind::Internal, "[io.audio] libsndfile did not take all frames; {}.",
          sf_strerror(sound.get()));
  }
  sound.reset();
  return std::move(memory.out);
}

#else

namespace {
constexpr const char* kInstall =
    "this build has no libsndfile. Install libsndfile1-dev (Homebrew: libsndfile) and build again, "
    "or use WAV";
}  // namespace

bool can_read_compressed() { return false; }
bool can_write(Compressed) { return false; }

Audio parse_compressed(std::span<const std::byte>, const std::string& name) {
  fail(ErrorKind::Input, "[io.audio] {} is no WAV file, and {}.", name, kInstall);
}

std::string compressed_bytes(const Audio&, Compressed, SampleFormat, double) {
  fail(ErrorKind::Input, "[io.audio] only WAV can be written; {}.", kInstall);
}

#endif

}  // namespace ubique::io
