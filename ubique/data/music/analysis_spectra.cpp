// SPDX-License-Identifier: Apache-2.0
// Spectra, peaks and beats.
#include "ubique/data/music/analysis_spectra.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ubique/data/audio/mel.h"
#include "ubique/data/music/synth.h"

namespace ubique::data {
namespace {

constexpr double kSlowest = 45, kFastest = 180;  // beats per minute
constexpr double kSameAsBest =
    0.6;  // every other beat repeats too: the shortest good period counts
constexpr double kLeastBeat = 0.15;  // correlation of onsets below which there is no beat

/// Mean product of onsets and those `lag` frames later.
double correlation_at(const std::vector<double>& onsets, double lag) {
  const auto whole = static_cast<std::size_t>(lag);
  const double share = lag - static_cast<double>(whole);
  if (whole + 1 >= onsets.size()) return 0;
  double sum = 0;
  for (std::size_t i = 0; i + whole + 1 < onsets.size(); ++i) {
    sum += onsets[i] * ((1 - share) * onsets[i + whole] + share * onsets[i + whole + 1]);
  }
  return sum / static_cast<double>(onsets.size() - whole - 1);
}

/// Triangular mean over two frames to each side, without its own mean: beats lie between frames.
std::vector<double> smoothed(const std::vector<double>& values) {
  constexpr double kWeights[] = {1, 2, 3, 2, 1};
  std::vector<double> out(values.size(), 0.0);
  const auto count = static_cast<std::int64_t>(values.size());
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t j = -2; j <= 2; ++j) {
      if (i + j < 0 || i + j >= count) continue;
      out[static_cast<std::size_t>(i)] += kWeights[j + 2] * values[static_cast<std::size_t>(i + j)];
    }
  }
  const double mean = std::accumulate(out.begin(), out.end(), 0.0) / static_cast<double>(count);
  for (auto& value : out) value -= mean;
  return out;
}

/// Where a comb of that period meets the most onsets.
double best_phase(const std::vector<double>& onsets, double period) {
  double best = 0, best_sum = -1e30;
  for (double phase = 0; phase < period; phase += 1) {
    double sum = 0;
    for (double at = phase; at < static_cast<double>(onsets.size()); at += period) {
      sum += onsets[static_cast<std::size_t>(at)];
    }
    if (sum > best_sum) {
      best_sum = sum;
      best = phase;
    }
  }
  return best;
}

}  // namespace

MusicSpectra::MusicSpectra(const io::Audio& mono) : bins_(kWindow / 2 + 1) {
  MelSpectrogram transform({.rate = kMusicRate, .window = kWindow, .hop = kHop});
  const auto all = transform.magnitudes(mono.channel(0));  // (bins, frames)
  frames_ = all.frames;
  values_.resize(all.values.size());
  for (std::int64_t bin = 0; bin < bins_; ++bin) {
    for (std::int64_t frame = 0; frame < frames_; ++frame) {
      values_[static_cast<std::size_t>(frame * bins_ + bin)] =
          all.values[static_cast<std::size_t>(bin * frames_ + frame)];
    }
  }
}

double MusicSpectra::frames_per_second() const { return static_cast<double>(kMusicRate) / kHop; }

std::vector<double> MusicSpectra::mean(std::int64_t begin, std::int64_t end) const {
  std::vector<double> sums(static_cast<std::size_t>(bins_), 0.0);
  end = std::min(end, frames_);
  for (auto frame = begin; frame < end; ++frame) {
    for (std::int64_t bin = 0; bin < bins_; ++bin) {
      sums[static_cast<std::size_t>(bin)] +=
          values_[static_cast<std::size_t>(frame * bins_ + bin)] / static_cast<double>(end - begin);
    }
  }
  return sums;
}

std::vector<double> MusicSpectra::onsets() const {
  std::vector<double> rises(static_cast<std::size_t>(frames_), 0.0);
  // Four frames apart: half a window, so that a beat is more than the ripple of one.
  constexpr std::int64_t kApart = 4;
  for (std::int64_t frame = 0; frame < frames_; ++frame) {
    for (std::int64_t bin = 0; bin < bins_; ++bin) {
      const auto before =
          frame < kApart ? 0.0F : values_[static_cast<std::size_t>((frame - kApart) * bins_ + bin)];
      const auto rise = values_[static_cast<std::size_t>(frame * bins_ + bin)] - before;
      rises[static_cast<std::size_t>(frame)] += std::max(rise, 0.0F);
    }
  }
  return rises;
}

std::vector<double> MusicSpectra::energies() const {
  std::vector<double> sums(static_cast<std::size_t>(frames_), 0.0);
  for (std::size_t i = 0; i < values_.size(); ++i) {
    sums[i / static_cast<std::size_t>(bins_)] += static_cast<double>(values_[i]) * values_[i];
  }
  return sums;
}

double music_bin_frequency(std::size_t bin) {
  return static_cast<double>(bin) * kMusicRate / MusicSpectra::kWindow;
}

double strength_at(const std::vector<double>& spectrum, double frequency, double tolerance) {
  const double per_bin = music_bin_frequency(1);
  const auto low = static_cast<std::size_t>(std::max(frequency * (1 - tolerance) / per_bin, 0.0));
  const auto high = static_cast<std::size_t>(frequency * (1 + tolerance) / per_bin) + 1;
  double largest = 0;
  for (auto bin = low; bin <= high && bin < spectrum.size(); ++bin) {
    largest = std::max(largest, spectrum[bin]);
  }
  return largest;
}

std::vector<std::size_t> peaks_between(const std::vector<double>& spectrum, double low,
                                       double high) {
  std::vector<std::size_t> peaks;
  for (std::size_t bin = 1; bin + 1 < spectrum.size(); ++bin) {
    const double frequency = music_bin_frequency(bin);
    const bool inside = frequency >= low && frequency <= high;
    const bool peak = spectrum[bin] > spectrum[bin - 1] && spectrum[bin] >= spectrum[bin + 1];
    if (inside && peak) peaks.push_back(bin);
  }
  return peaks;
}

BeatGrid find_beats(const std::vector<double>& onsets, double frames_per_second) {
  const auto curve = smoothed(onsets);
  const double whole = correlation_at(curve, 0);
  if (whole <= 0) return {};
  std::vector<std::pair<double, double>> lags;  // lag, correlation
  const double longest = frames_per_second * 60 / kSlowest;
  for (double lag = frames_per_second * 60 / kFastest; lag <= longest; lag += 0.25) {
    lags.emplace_back(lag, correlation_at(curve, lag) / whole);
  }
  double best = 0;
  for (const auto& [lag, value] : lags) best = std::max(best, value);
  if (best < kLeastBeat) return {};
  for (std::size_t i = 1; i + 1 < lags.size(); ++i) {
    const double value = lags[i].second;
    const bool peak = value >= lags[i - 1].second && value >= lags[i + 1].second;
    if (peak && value >= kSameAsBest * best) {
      return {lags[i].first, best_phase(curve, lags[i].first)};
    }
  }
  return {};
}

}  // namespace ubique::data
