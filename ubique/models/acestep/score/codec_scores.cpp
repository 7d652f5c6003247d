// SPDX-License-Identifier: Apache-2.0
// There and back again through each part and through both.
#include "ubique/models/acestep/score/codec_scores.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "ubique/data/music/sound_distance.h"
#include "ubique/models/acestep/use/song_inputs.h"
#include "ubique/models/acestep/use/sound/decode.h"
#include "ubique/models/acestep/use/sound/encode.h"

namespace ubique::acestep {
namespace {

io::Audio audio_of(const at::Tensor& sound, int rate) {
  const auto host = sound[0].to(at::kCPU, at::kFloat).contiguous();  // (2, samples)
  const auto* values = host.const_data_ptr<float>();
  return {.rate = rate, .channels = 2, .samples = {values, values + host.numel()}};
}

}  // namespace

CodecScores& CodecScores::operator+=(const CodecScores& other) {
  dcae_log_mel += other.dcae_log_mel;
  vocoder_log_mel += other.vocoder_log_mel;
  vocoder_spectral += other.vocoder_spectral;
  chain_log_mel += other.chain_log_mel;
  chain_spectral += other.chain_spectral;
  return *this;
}

CodecScores CodecScores::divided(double count) const {
  return {dcae_log_mel / count, vocoder_log_mel / count, vocoder_spectral / count,
          chain_log_mel / count, chain_spectral / count};
}

CodecScores score_codec(const Dcae& dcae, const Vocoder& vocoder, const io::Audio& given) {
  const at::NoGradGuard no_gradients;
  const auto sound = prepared_source(given);
  const auto device = dcae.parameters().front().device();
  const auto mel = log_mel_of_sound(sound).to(device);
  const auto decoded = log_mel_of(dcae, latents_of(dcae, mel));
  const auto alone = audio_of(sound_of(vocoder, mel), sound.rate);
  const auto both = audio_of(sound_of(vocoder, decoded), sound.rate);
  CodecScores scores;
  scores.dcae_log_mel = (decoded - mel).abs().mean().item<double>();
  scores.vocoder_log_mel = data::log_mel_distance(sound, alone);
  scores.vocoder_spectral = data::spectral_distance(sound, alone);
  scores.chain_log_mel = data::log_mel_distance(sound, both);
  scores.chain_spectral = data::spectral_distance(sound, both);
  return scores;
}

}  // namespace ubique::acestep
