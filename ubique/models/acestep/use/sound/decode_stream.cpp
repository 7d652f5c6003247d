// SPDX-License-Identifier: Apache-2.0
// The autoencoder's tiles make a window of the spectrogram, from which the vocoder's tiles are
// taken; both know exactly what they read.
#include "ubique/models/acestep/use/sound/decode_stream.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>

#include "ubique/base/error.h"
#include "ubique/device/readback.h"
#include "ubique/models/acestep/use/sound/decode.h"
#include "ubique/models/acestep/use/sound/rate_tiles.h"

namespace ubique::acestep {
namespace {

/// The spectrogram as far as it is needed: columns are made when they are asked for and dropped
/// when they lie behind.
class MelWindow {
 public:
  MelWindow(const Dcae& dcae, const at::Tensor& latents, std::int64_t tile)
      : latents_(network_latents(latents).to(dcae.weights().decoder.input.weight.options())),
        run_(dcae.decoder_steps(), latents.size(-1), tile),
        step_(tile * dcae.columns_per_latent()) {
    run_.gather(latents_);
  }

  std::int64_t columns() const { return run_.outputs(); }
  Range held() const { return held_; }

  /// Log-mel values (B·channels, bands, columns of held()), among them all of `wanted`.
  const at::Tensor& get(Range wanted) {
    std::vector<at::Tensor> parts;
    if (mel_.defined()) parts.push_back(mel_.slice(-1, wanted.begin - held_.begin));
    held_.begin = mel_.defined() ? wanted.begin : 0;
    while (held_.end < wanted.end) {
      const Range next{held_.end, std::min(held_.end + step_, columns())};
      const auto mel = run_.run(latents_, {0, latents_.size(-1)}, next);
      parts.push_back(log_mel_values(mel).flatten(0, 1));
      held_.end = next.end;
    }
    mel_ = at::cat(parts, -1);
    return mel_;
  }

 private:
  at::Tensor latents_;
  TiledRun run_;
  std::int64_t step_;
  Range held_;
  at::Tensor mel_;
};

std::int64_t samples_of(const Dcae& dcae, const Vocoder& vocoder, std::int64_t frames) {
  return frames * dcae.columns_per_latent() * vocoder.config().hop;
}

}  // namespace

void decode_stream(const Dcae& dcae, const Vocoder& vocoder, const at::Tensor& latents,
                   const DecodeOptions& options, const SoundSink& sink) {
  const auto frames = latents.size(-1), batch = latents.size(0);
  check(frames >= 1 && options.tile >= 1, ErrorKind::Internal,
        "[acestep.decode] {} frames in tiles of {}; expected some.", frames, options.tile);
  MelWindow mels(dcae, latents, options.tile);
  const auto columns = options.tile * dcae.columns_per_latent();
  const TiledRun sounds(vocoder.steps(), mels.columns(), columns);
  RateTiles rates(vocoder.config().sample_rate, options.rate);
  for (std::int64_t begin = 0; begin < frames; begin += options.tile) {
    const auto end = std::min(begin + options.tile, frames);
    const Range out{samples_of(dcae, vocoder, begin), samples_of(dcae, vocoder, end)};
    const auto& mel = mels.get(sounds.inputs_of(out));
    const auto wave = sounds.run(mel, mels.held(), out).squeeze(1);  // (B·channels, samples)
    const auto samples = rates.push(wave, end == frames);
    device::Readback host;  // pinned memory: a copy to other takes ten times as long
    host.begin(samples.unflatten(0, {batch, -1}).to(at::kFloat).contiguous());
    sink(host.wait());
  }
}

std::int64_t decoded_samples(const Dcae& dcae, const Vocoder& vocoder, std::int64_t frames,
                             int rate) {
  const data::RateConverter converter(vocoder.config().sample_rate, rate);
  return converter.length(samples_of(dcae, vocoder, frames));
}

std::int64_t tile_for(const Dcae& dcae, const Vocoder& vocoder, std::int64_t limit,
                      std::int64_t most) {
  if (limit == 0) return most;
  constexpr std::int64_t kLong = 1 << 20;  // frames of a song without ends nearby
  const auto steps = vocoder.steps();
  const auto columns = kLong * dcae.columns_per_latent();
  for (auto fits = most; fits > 1; --fits) {
    const TiledRun sounds(steps, columns, fits * dcae.columns_per_latent());
    const auto begin = samples_of(dcae, vocoder, kLong / 2);
    if (sounds.longest({begin, begin + samples_of(dcae, vocoder, fits)}) <= limit) return fits;
  }
  return 1;
}

}  // namespace ubique::acestep
