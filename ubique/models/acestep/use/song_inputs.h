// SPDX-License-Identifier: Apache-2.0
// A request with everything that it names read and understood: tokens of its texts, the samples of
// its clip, its adapters. No weights of the model are loaded for it.
#pragma once

#include "ubique/io/audio/audio.h"
#include "ubique/models/acestep/files/adapters/adapter_file.h"
#include "ubique/models/acestep/files/model_folder.h"
#include "ubique/models/acestep/use/song_request.h"

namespace ubique::acestep {

struct PromptIds {
  std::vector<std::int64_t> text, lyrics;  ///< no lyrics: empty
};

struct SongInputs {
  SongRequest request;
  PromptIds prompt = {};
  PromptIds target = {};  ///< of edit
  io::Audio source = {};  ///< stereo at 44.1 kHz, whole latent frames; empty if the task reads none
  std::vector<AdapterFile> adapters = {};  ///< of the request's choices, in their order

  std::int64_t source_frames() const { return source.frames() / kSamplesPerFrame; }
  std::int64_t frames() const;  ///< latent frames of the song
};

/// Validates the request, then reads. Usage error for windows outside of the clip, Input error for
/// unreadable clips and for lyrics that the vocabulary cannot spell.
SongInputs read_song_inputs(const SongRequest& request, const ModelFolder& folder);

/// Stereo at the networks' rate, silence added up to whole latent frames; a sample or two beyond
/// one are dropped.
io::Audio prepared_source(const io::Audio& audio);

}  // namespace ubique::acestep
