// SPDX-License-Identifier: Apache-2.0
// Draws samples from counters on the host, so that they are the same on every device, at every
// micro-batch size and after a resume.
#include "ubique/models/acestep/data/dataset.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ubique/base/error.h"
#include "ubique/base/files/digest.h"
#include "ubique/base/text/printable.h"
#include "ubique/data/music/prompt.h"
#include "ubique/models/acestep/data/sample.h"
#include "ubique/nn/diffusion/flow_schedule.h"

namespace ubique::acestep {
namespace {

constexpr std::size_t kMostPromptIds = 256;

/// What each stream of a sample's random numbers is for.
enum SampleStream : std::uint64_t { kCrop, kNoise, kSigma, kPrompt, kDrop };
enum DropIndex : std::uint64_t { kDropText, kDropSpeaker, kDropLyrics };

at::Tensor f32_copy(const std::vector<float>& values, at::IntArrayRef shape) {
  auto tensor = at::empty(shape, at::TensorOptions(at::kFloat));
  std::copy(values.begin(), values.end(), tensor.mutable_data_ptr<float>());
  return tensor;
}

at::Tensor normal_tensor(at::IntArrayRef shape, const Random& random) {
  auto tensor = at::empty(shape, at::TensorOptions(at::kFloat));
  random.fill_normal({tensor.mutable_data_ptr<float>(), static_cast<std::size_t>(tensor.numel())});
  return tensor;
}

}  // namespace

std::vector<std::int32_t> prompt_ids(const io::Tokenizer& tokenizer, const std::string& prompt) {
  auto ids = tokenizer.encode(prompt, {.frame = true});
  if (ids.size() > kMostPromptIds) {
    const auto end = ids.back();
    ids.resize(kMostPromptIds);
    if (!tokenizer.model().end.empty()) ids.back() = end;
  }
  check(!ids.empty(), ErrorKind::Input,
        "[acestep.data] the tokenizer makes nothing of '{}'; expected a token at least.",
        printable(prompt, 60));
  return ids;
}

SongDataset::SongDataset(std::shared_ptr<const data::MusicSet> set, std::string_view split,
                         std::shared_ptr<const io::Tokenizer> tokenizer, SongDatasetOptions options)
    : set_(std::move(set)),
      clips_(set_->clips_of(split)),
      tokenizer_(std::move(tokenizer)),
      options_(std::move(options)),
      sigmas_(nn::training_sigmas({.shift = options_.shift})) {
  check(!clips_.empty(), ErrorKind::Input,
        "[acestep.data] {} has no clips in '{}'; expected some. --val-share of `data acestep "
        "prepare` decides how many are held out.",
        set_->folder().string(), split);
}

std::int64_t SongDataset::size() const {
  return static_cast<std::int64_t>(clips_.size()) * options_.repeat;
}

std::int64_t SongDataset::frames_of(const data::PreparedClip& clip) const {
  return options_.crop_frames > 0 ? std::min(clip.frames, options_.crop_frames) : clip.frames;
}

std::int64_t SongDataset::longest_frames() const {
  std::int64_t most = 1;
  for (const auto& clip : clips_) most = std::max(most, frames_of(clip));
  return most;
}

std::int64_t SongDataset::longest_context() const {
  std::size_t most = 1;
  for (const auto& clip : clips_) most = std::max(most, clip.lyric_ids.size());
  const auto multiple = options_.token_multiple;
  return 1 + rounded_up(kMostPromptIds / 4, multiple) + rounded_up(most, multiple);
}

std::vector<std::int64_t> SongDataset::clips_with_features() const {
  std::vector<std::int64_t> counts;
  for (const auto& encoder : options_.encoders) {
    counts.push_back(std::count_if(clips_.begin(), clips_.end(), [&](const auto& clip) {
      return set_->has_features(clip, encoder.first);
    }));
  }
  return counts;
}

std::vector<std::int64_t> SongDataset::order(std::int64_t /*epoch*/, std::int64_t per_update,
                                             const Random& random) const {
  constexpr std::int64_t kUpdatesAtOnce = 32;
  auto indices = random.permutation(size());
  const auto length = [&](std::int64_t index) {
    return frames_of(clips_[static_cast<std::size_t>(index) % clips_.size()]);
  };
  const auto piece = static_cast<std::size_t>(per_update * kUpdatesAtOnce);
  for (std::size_t at = 0; at < indices.size(); at += piece) {
    const auto end = std::min(at + piece, indices.size());
    std::stable_sort(indices.begin() + static_cast<std::ptrdiff_t>(at),
                     indices.begin() + static_cast<std::ptrdiff_t>(end),
                     [&](auto a, auto b) { return length(a) < length(b); });
  }
  const auto updates = size() / per_update;  // the rest, a part of one, stays at the end
  std::vector<std::int64_t> shuffled;
  for (const auto update : random.fork(1).permutation(updates)) {
    const auto begin = indices.begin() + static_cast<std::ptrdiff_t>(update * per_update);
    shuffled.insert(shuffled.end(), begin, begin + static_cast<std::ptrdiff_t>(per_update));
  }
  shuffled.insert(shuffled.end(),
                  indices.begin() + static_cast<std::ptrdiff_t>(updates * per_update),
                  indices.end());
  return shuffled;
}

std::vector<std::int64_t> SongDataset::largest(std::int64_t count) const {
  std::vector<std::int64_t> indices(clips_.size());
  std::iota(indices.begin(), indices.end(), 0);
  std::stable_sort(indices.begin(), indices.end(), [&](auto a, auto b) {
    return frames_of(clips_[static_cast<std::size_t>(a)]) >
           frames_of(clips_[static_cast<std::size_t>(b)]);
  });
  std::vector<std::int64_t> first;
  for (std::int64_t i = 0; i < count; ++i) {
    first.push_back(indices[static_cast<std::size_t>(i) % indices.size()]);
  }
  return first;
}

void SongDataset::add_latents(Sample& sample, const data::PreparedClip& clip, std::int64_t first,
                              const Random& noise) const {
  const auto& header = set_->header();
  const std::vector<std::int64_t> shape = {header.channels, header.rows, frames_of(clip)};
  sample.latents = f32_copy(set_->latents(clip, first, shape[2]), shape);
  sample.noise = normal_tensor(shape, noise);
  sample.speaker = at::zeros({options_.speaker_size}, at::TensorOptions(at::kFloat));
  if (const auto speaker = set_->speaker(clip)) {
    check(static_cast<std::int64_t>(speaker->size()) == options_.speaker_size, ErrorKind::Input,
          "[acestep.data] the speaker of '{}' has {} numbers, expected {}.", printable(clip.key),
          speaker->size(), options_.speaker_size);
    sample.speaker = f32_copy(*speaker, {options_.speaker_size});
  }
}

/// The features of the same stretch of time as the latents.
void SongDataset::add_features(Sample& sample, const data::PreparedClip& clip,
                               std::int64_t first) const {
  for (const auto& [name, size] : options_.encoders) {
    auto& place = sample.features.emplace_back();
    const auto features = set_->features(clip, name);
    if (!features) continue;
    check(features->size == size, ErrorKind::Input,
          "[acestep.data] the features '{}' of '{}' have {} numbers a frame, expected {}.",
          printable(name), printable(clip.key), features->size, size);
    const auto all = f32_copy(features->values, {features->frames, size});
    const auto share = static_cast<double>(features->frames) / static_cast<double>(clip.frames);
    const auto begin = std::llround(static_cast<double>(first) * share);
    const auto end = std::llround(static_cast<double>(first + frames_of(clip)) * share);
    const auto from = std::min<std::int64_t>(begin, features->frames - 1);
    place = all.slice(0, from, std::max<std::int64_t>(end, from + 1));
  }
}

SongDataset::Sample SongDataset::make_sample(const data::PreparedClip& clip,
                                             const Random& random) const {
  Sample sample;
  const auto spare = static_cast<std::uint64_t>(clip.frames - frames_of(clip));
  const auto first = static_cast<std::int64_t>(random.fork(kCrop).below(0, spare + 1));
  add_latents(sample, clip, first, random.fork(kNoise));
  add_features(sample, clip, first);
  const auto normal =
      options_.sigma_mean + options_.sigma_deviation * random.fork(kSigma).normal(0);
  const auto place = static_cast<double>(sigmas_.size()) / (1 + std::exp(-normal));
  sample.sigma = sigmas_[std::min(static_cast<std::size_t>(place), sigmas_.size() - 1)];
  const auto prompt = data::drawn_prompt(clip.tags, clip.captions, random.fork(kPrompt));
  sample.text_ids = prompt_ids(*tokenizer_, prompt);
  const auto drop = random.fork(kDrop);
  sample.keep_text = !drop.bernoulli(kDropText, options_.drop_text);
  if (drop.bernoulli(kDropSpeaker, options_.drop_speaker)) sample.speaker.zero_();
  const bool silent =
      data::asks_for_lyrics(prompt) || drop.bernoulli(kDropLyrics, options_.drop_lyrics);
  if (!silent) sample.lyric_ids = clip.lyric_ids;
  return sample;
}

SongDataset::Sample SongDataset::fixed_sample(const data::PreparedClip& clip, double sigma) const {
  constexpr std::uint64_t kFixedSeed = 0x5eed;
  Sample sample;
  const Random noise(std::stoull(digest_of(clip.key), nullptr, 16) ^ kFixedSeed);
  add_latents(sample, clip, 0, noise);
  sample.sigma = static_cast<float>(sigma);
  const auto prompt = data::plain_prompt(clip.tags, clip.captions);
  sample.text_ids = prompt_ids(*tokenizer_, prompt);
  if (!data::asks_for_lyrics(prompt)) sample.lyric_ids = clip.lyric_ids;
  return sample;
}

engine::Batch SongDataset::load(const std::vector<std::int64_t>& indices,
                                const engine::SampleRandoms& randoms) const {
  std::vector<Sample> samples;
  for (std::size_t row = 0; row < indices.size(); ++row) {
    const auto clip = static_cast<std::size_t>(indices[row]) % clips_.size();
    samples.push_back(make_sample(clips_[clip], randoms.of(row)));
  }
  return collate(samples);
}

engine::Batch SongDataset::fixed_batch(std::int64_t clip, const std::vector<double>& sigmas) const {
  std::vector<Sample> samples;
  for (const auto sigma : sigmas) {
    samples.push_back(fixed_sample(clips_.at(static_cast<std::size_t>(clip)), sigma));
  }
  return collate(samples);
}

std::string SongDataset::fingerprint() const { return set_->fingerprint(); }

}  // namespace ubique::acestep
