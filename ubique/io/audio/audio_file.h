// SPDX-License-Identifier: Apache-2.0
// Sound files: told apart by their content when read and by their name when written.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "ubique/io/audio/audio.h"

namespace ubique::io {

/// WAV, and with libsndfile FLAC, OGG, MP3, AIFF and its other formats, whatever the name. Any rate
/// from 1 to 768 kHz, mono or stereo. Input error for anything else.
Audio read_audio(const std::filesystem::path& path);
Audio parse_audio(std::span<const std::byte> file, const std::string& name);

struct AudioOptions {
  SampleFormat samples = SampleFormat::Int16;  ///< of WAV and FLAC
  double quality = 0.8;                        ///< of OGG and MP3: 0 small, 1 good
};

/// Whether the name ends in .wav, .flac, .ogg or .mp3, in any case.
bool is_audio_name(const std::filesystem::path& path);
/// Before hours of work: Usage error for another ending, Input error for a format that this build
/// cannot write.
void check_audio_output(const std::filesystem::path& path);
/// Chooses the format by the name's ending. Atomic.
void write_audio(const std::filesystem::path& path, const Audio& audio, AudioOptions options = {});

}  // namespace ubique::io
