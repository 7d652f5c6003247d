// SPDX-License-Identifier: Apache-2.0
// The flags of a song and how a request is read from them, from a preset and from song.json.
#pragma once

#include <vector>

#include "ubique/engine/contract/request.h"
#include "ubique/models/acestep/use/song_request.h"

namespace ubique::acestep {

std::vector<engine::Option> song_options();

/// What --from says (else `defaults`), over it the preset, over it the keys of song_options().
/// Validated.
SongRequest read_song_request(const Config& config, const SongRequest& defaults = {});

/// "PATH" or "PATH:WEIGHT". Usage error for a weight that is no number.
LoraChoice parse_lora(const std::string& text);

}  // namespace ubique::acestep
