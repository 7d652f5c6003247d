// SPDX-License-Identifier: Apache-2.0
// Distances of spectrograms at several scales.
#include "ubique/models/acestep/train/codec_loss.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "ubique/data/audio/mel.h"
#include "ubique/models/acestep/use/sound/decode.h"

namespace ubique::acestep {
namespace {

constexpr double kLogMelUnit = 7;  // half the range of log-mel values: the autoencoder's own unit
constexpr std::array<std::int64_t, 3> kCoarser = {2, 4, 8};
constexpr std::array<std::int64_t, 3> kWindows = {512, 1024, 2048};
constexpr std::int64_t kOverlap = 4;  // windows at each sample
// Below these, differences are not heard beside the rest.
constexpr double kLeastMagnitude = 0.05, kLeastMel = 1e-3;
// Of a sound: the wave's error is relative, and without a floor the quietest crops of a batch, such
// as the end of a plucked note, would decide every step.
constexpr double kLeastEnergy = 1e-3;
constexpr double kUsualPitch = 3000;  // Hz, where synthetic music has most of its energy

/// Magnitudes (B, frames, bins) of a sound (B, samples).
at::Tensor magnitudes(const at::Tensor& sound, const at::Tensor& window, std::int64_t hop) {
  const auto frames = sound.unfold(-1, window.size(0), hop) * window;
  const auto parts = at::view_as_real(at::fft_rfft(frames));
  return (parts.square().sum(-1) + 1e-6).sqrt();
}

at::Tensor mel_filters(const data::MelSpectrogram& mel) {
  const auto& config = mel.config();
  auto filters = at::zeros({config.window / 2 + 1, config.bands}, at::TensorOptions(at::kFloat));
  auto* values = filters.mutable_data_ptr<float>();
  for (int band = 0; band < config.bands; ++band) {
    auto bin = mel.first_bin(band);
    for (const float weight : mel.band(band)) values[bin++ * config.bands + band] = weight;
  }
  return filters;
}

/// A filter that lets high frequencies through more than low ones.
at::Tensor emphasized(const at::Tensor& sound, double emphasis) {
  if (emphasis == 0) return sound;
  return sound.slice(-1, 1) - emphasis * sound.slice(-1, 0, -1);
}

/// What that filter leaves of the energy of a tone of the usual pitch.
double emphasized_energy(double emphasis) {
  const double turn = 2 * std::numbers::pi * kUsualPitch / data::MelConfig().rate;
  return 1 + emphasis * emphasis - 2 * emphasis * std::cos(turn);
}

}  // namespace

at::Tensor multiscale_distance(const at::Tensor& made, const at::Tensor& wanted) {
  auto sum = (made - wanted).abs().mean();
  for (const auto size : kCoarser) {
    sum = sum + (at::avg_pool2d(made, size) - at::avg_pool2d(wanted, size)).abs().mean();
  }
  return sum / static_cast<double>(1 + kCoarser.size());
}

DcaeLoss dcae_loss(const Dcae& dcae, const at::Tensor& log_mel, const at::Tensor& noise,
                   const DcaeLossOptions& options) {
  const auto latents = latents_of(dcae, log_mel).to(at::kFloat);
  const auto made = log_mel_of(dcae, latents + options.noise * noise).to(at::kFloat);
  DcaeLoss loss;
  loss.squared = ((made - log_mel) / kLogMelUnit).square().mean();
  loss.multiscale = multiscale_distance(made / kLogMelUnit, log_mel / kLogMelUnit);
  // Few places of a spectrogram tell left from right: without a term of its own their difference is
  // the last thing to be learnt, and for a long time both channels come back as their mean.
  const auto difference = [](const at::Tensor& both) {
    return both.slice(1, 0, 1) - both.slice(1, 1, 2);  // (B, 1, 128, 8·T)
  };
  loss.sides =
      multiscale_distance(difference(made) / kLogMelUnit, difference(log_mel) / kLogMelUnit);
  const auto by_channel = latents.transpose(0, 1).flatten(1);  // (8, B·16·T)
  const auto mean = by_channel.mean(1);
  const auto deviation = (by_channel.var(1, false) + 1e-6).sqrt();
  loss.moments = (mean.square() + (deviation - 1).square()).mean();
  loss.total = loss.squared + options.multiscale * loss.multiscale + options.sides * loss.sides +
               options.moments * loss.moments;
  return loss;
}

void SoundDistance::set_tables(const at::Tensor& sound) const {
  if (filters_.defined() && filters_.device() == sound.device()) return;
  windows_.clear();
  for (const auto length : kWindows) {
    windows_.push_back(at::hann_window(length, at::TensorOptions(at::kFloat)).to(sound.device()));
  }
  filters_ = mel_filters(data::MelSpectrogram()).to(sound.device());
}

at::Tensor SoundDistance::stft_distance(const at::Tensor& made, const at::Tensor& wanted) const {
  set_tables(wanted);
  at::Tensor sum;
  for (const auto& window : windows_) {
    const auto hop = window.size(0) / kOverlap;
    const auto a = magnitudes(made, window, hop), b = magnitudes(wanted, window, hop);
    const auto convergence = (a - b).norm() / b.norm().clamp_min(1e-3);
    const auto logs =
        (a.clamp_min(kLeastMagnitude).log() - b.clamp_min(kLeastMagnitude).log()).abs().mean();
    const auto both = convergence + logs;
    sum = sum.defined() ? sum + both : both;
  }
  return sum / static_cast<double>(windows_.size());
}

at::Tensor SoundDistance::log_mel(const at::Tensor& sound, double least) const {
  set_tables(sound);
  const data::MelConfig config;
  const std::int64_t side = (config.window - config.hop) / 2;
  const auto mirrored = at::reflection_pad1d(sound.unsqueeze(1), {side, side}).squeeze(1);
  const auto all = magnitudes(mirrored, windows_.back(), config.hop);  // (B, F, bins)
  return at::matmul(all, filters_).clamp_min(least).log().transpose(1, 2);
}

at::Tensor SoundDistance::wave_distance(const at::Tensor& made, const at::Tensor& wanted,
                                        double emphasis) {
  const auto a = emphasized(made, emphasis), b = emphasized(wanted, emphasis);
  const auto energy = b.square().mean(-1) + kLeastEnergy * emphasized_energy(emphasis);
  return ((a - b).square().mean(-1) / energy).mean();
}

SoundLoss SoundDistance::operator()(const at::Tensor& made, const at::Tensor& wanted,
                                    const SoundLossOptions& options) const {
  SoundLoss loss;
  loss.wave = wave_distance(made, wanted, options.emphasis);
  loss.stft = stft_distance(made, wanted);
  loss.mel = (log_mel(made, kLeastMel) - log_mel(wanted, kLeastMel)).abs().mean();
  loss.total = options.wave * loss.wave + options.stft * loss.stft + options.mel * loss.mel;
  return loss;
}

}  // namespace ubique::acestep
