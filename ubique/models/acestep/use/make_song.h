// SPDX-License-Identifier: Apache-2.0
// From a request to sound, in four stages: text, diffusion, decoding, writing. The command line and
// the web application both make songs here.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/base/error.h"
#include "ubique/models/acestep/files/parts.h"
#include "ubique/models/acestep/use/song_inputs.h"
#include "ubique/models/acestep/use/song_noise.h"
#include "ubique/models/acestep/use/sound/decode_stream.h"

namespace ubique::acestep {

enum class SongStage { Text, Encoding, Diffusion, Decoding };

std::string_view to_string(SongStage stage);  ///< "text", "encoding", "diffusion", "decoding"

struct SongProgress {
  SongStage stage = SongStage::Text;
  std::int64_t done = 0, total = 1;  ///< steps of the stage, over all variations
  double seconds_left = -1;          ///< of the stage; below 0 = not known yet
};

/// Seconds of each stage, over all variations; encoding a clip counts to the text.
struct SongTimes {
  double text = 0, diffusion = 0, decoding = 0;
};

/// A finished variation.
struct MadeSong {
  std::int64_t variation = 0;
  io::Audio audio;       ///< 48 kHz stereo
  at::Tensor latents;    ///< (C, 16, T) f32 on the host
  SongTimes times = {};  ///< so far
};

struct SongHooks {
  std::function<void(const SongProgress&)> progress = {};
  std::function<bool()> stop = {};                     ///< asked between steps
  std::function<void(const MadeSong&)> finished = {};  ///< as soon as a variation is
  /// The next samples (1, channels, n) of a variation at 48 kHz, before fades and loudness.
  std::function<void(std::int64_t variation, const at::Tensor& samples)> sound = {};
  /// Instead of song_noise() with the request's seeds: for tests.
  NoiseSource noise = {};
};

struct SongOptions {
  std::int64_t batch = 1;  ///< variations at once
  /// Which of the request's variations, in this order; empty: all of them.
  std::vector<std::int64_t> chosen = {};
  bool release_parts = true;        ///< each network as soon as its stage is over
  bool record = false;              ///< passes of the transformer for replay (Plan::graph_capture)
  std::int64_t tile = kDecodeTile;  ///< latent frames that are decoded at once
  /// Most positions of a convolution that the device computes rightly; 0 = any.
  std::int64_t longest_convolution = 0;
};

struct SongResult {
  std::int64_t finished = 0;
  bool stopped = false;  ///< on request; what was finished by then was handed over
  SongTimes times;
};

/// NaN or infinity came out of a stage. Device error: it is nearly always too small a dtype.
class NotFinite : public Error {
 public:
  NotFinite(SongStage stage, std::int64_t step, const std::string& message)
      : Error(ErrorKind::Device, message), stage_(stage), step_(step) {}
  SongStage stage() const { return stage_; }
  std::int64_t step() const { return step_; }

 private:
  SongStage stage_;
  std::int64_t step_;
};

SongResult make_song(const SongInputs& inputs, Parts& parts, const SongOptions& options,
                     const SongHooks& hooks);

}  // namespace ubique::acestep
