// SPDX-License-Identifier: Apache-2.0
// FLAC, OGG Vorbis and MP3 through libsndfile. Where the library is missing, or too old for MP3,
// each function says so; WAV needs none of this.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "ubique/io/audio/audio.h"

namespace ubique::io {

enum class Compressed { Flac, OggVorbis, Mp3 };

/// Whether this build can read and write the format.
bool can_read_compressed();
bool can_write(Compressed format);

/// Any format that the library knows. Input error for damaged files, more than two channels and
/// kMostSamples; Input error with what to install where the library is missing.
Audio parse_compressed(std::span<const std::byte> file, const std::string& name);

/// FLAC stores 16 or 24 bits (other formats become 24). `quality` from 0 (small) to 1 (good) is for
/// OGG and MP3.
std::string compressed_bytes(const Audio& audio, Compressed format, SampleFormat samples,
                             double quality);

}  // namespace ubique::io
