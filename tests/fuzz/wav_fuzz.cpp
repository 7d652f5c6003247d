// SPDX-License-Identifier: Apache-2.0
// Any bytes as a WAV file: an Input error, or a sound no larger than the file allows that survives
// being written and read again.
#include <cmath>

#include "tests/fuzz/fuzz.h"
#include "ubique/io/audio/wav.h"

using namespace ubique;
using fuzz::require;

void fuzz::test_input(std::span<const std::byte> input) {
  auto audio = io::parse_wav(input, "fuzz");
  require(audio.channels == 1 || audio.channels == 2);
  require(audio.samples.size() <= input.size());
  require(static_cast<std::size_t>(audio.frames() * audio.channels) == audio.samples.size());
  for (auto& sample : audio.samples) {
    if (!std::isfinite(sample)) sample = 0;
  }
  const auto bytes = io::wav_bytes(audio, io::SampleFormat::Float32);
  require(io::parse_wav(fuzz::bytes_of(bytes), "again").samples == audio.samples);
  const auto coarse = io::wav_bytes(audio, io::SampleFormat::Int24);
  require(io::parse_wav(fuzz::bytes_of(coarse), "again").frames() == audio.frames());
}
