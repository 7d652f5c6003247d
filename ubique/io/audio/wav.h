// SPDX-License-Identifier: Apache-2.0
// WAV files, by code of our own, so that sound can be read and written where no audio library is
// installed: PCM of 8, 16, 24 and 32 bits, floats of 32 and 64 bits, files larger than 4 GiB (RF64)
// and streams that were never given their length.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "ubique/io/audio/audio.h"

namespace ubique::io {

/// Whether the bytes begin as a WAV file does.
bool is_wav(std::span<const std::byte> file);
/// Input error for files that are cut short, compressed, or contradict themselves; memory is taken
/// for what the file holds, never for what its header claims.
Audio parse_wav(std::span<const std::byte> file, const std::string& name);

/// Integers are rounded, and clipped at full scale.
std::string wav_bytes(const Audio& audio, SampleFormat format);

}  // namespace ubique::io
