// SPDX-License-Identifier: Apache-2.0
// Checks, rate, spectrogram, autoencoder.
#include "ubique/models/acestep/data/sound_latents.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/data/audio/resample.h"
#include "ubique/models/acestep/use/song_inputs.h"
#include "ubique/models/acestep/use/sound/encode.h"

namespace ubique::acestep {
namespace {

constexpr double kMostZeros = 0.95;  // share of samples

/// Each channel with its first `frames`, or zeros behind it.
io::Audio of_length(const io::Audio& audio, std::int64_t frames) {
  io::Audio out{.rate = audio.rate, .channels = audio.channels};
  out.samples.resize(static_cast<std::size_t>(frames * audio.channels));
  for (int c = 0; c < audio.channels; ++c) {
    const auto from = audio.channel(c);
    const auto count = std::min<std::size_t>(from.size(), static_cast<std::size_t>(frames));
    std::copy_n(from.begin(), count, out.channel(c).begin());
  }
  return out;
}

}  // namespace

io::Audio clip_sound(const io::Audio& audio, double most, const std::string& name) {
  const auto zeros = std::count(audio.samples.begin(), audio.samples.end(), 0.0F);
  check(static_cast<double>(zeros) <= kMostZeros * static_cast<double>(audio.samples.size()) &&
            !audio.samples.empty(),
        ErrorKind::Input,
        "[acestep.data] {} is silent; got {} zeros of {} samples, expected sound.", name, zeros,
        audio.samples.size());
  const auto limit = static_cast<std::int64_t>(most * audio.rate);
  auto sound = data::as_stereo(audio.frames() > limit ? of_length(audio, limit) : audio);
  sound = data::resampled(sound, static_cast<int>(kLatentSampleRate));
  for (auto& value : sound.samples) value = std::clamp(value, -1.0F, 1.0F);
  const auto least = static_cast<std::int64_t>(kLeastSeconds * kLatentSampleRate);
  return sound.frames() < least ? of_length(sound, least) : sound;
}

at::Tensor sound_latents(const Dcae& dcae, const io::Audio& sound) {
  const at::NoGradGuard no_gradients;
  const auto device = dcae.parameters().front().device();
  const auto host = source_latents(dcae, prepared_source(sound), device)[0].cpu().contiguous();
  check(at::isfinite(host).all().item<bool>(), ErrorKind::Input,
        "[acestep.data] the autoencoder made latents that are not finite; try --dtype f32.");
  return host;
}

}  // namespace ubique::acestep
