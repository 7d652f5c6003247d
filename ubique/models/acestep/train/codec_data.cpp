// SPDX-License-Identifier: Apache-2.0
// A crop is played with a little more at both ends, so that its spectrogram is that of the whole
// piece.
#include "ubique/models/acestep/train/codec_data.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ubique/base/error.h"
#include "ubique/data/audio/mel.h"

namespace ubique::acestep {
namespace {

constexpr std::int64_t kHop = 512, kBands = 128, kFramesPerLatent = 8, kLatentValues = 128;
constexpr std::int64_t kMarginFrames = 2;   // half a window
constexpr std::int64_t kPieceFrames = 256;  // three seconds
constexpr std::int64_t kFewestFrames = 16;

/// A part of a piece: sound and where the crop begins in it.
struct Crop {
  io::Audio audio;
  std::int64_t margin = 0;  // frames before the crop
};

Crop play_crop(const data::MusicPiece& piece, std::int64_t first, std::int64_t frames,
               double gain) {
  Crop crop;
  crop.margin = std::min(first, kMarginFrames);
  crop.audio = data::play_music(piece, (frames + crop.margin + kMarginFrames) * kHop,
                                (first - crop.margin) * kHop);
  for (auto& value : crop.audio.samples) value *= static_cast<float>(gain);
  return crop;
}

/// Log-mel values of one channel of a crop, (bands, frames).
void write_log_mel(const Crop& crop, int channel, std::int64_t frames, std::span<float> out) {
  thread_local data::MelSpectrogram transform;
  const auto whole = transform.log_mel(crop.audio.channel(channel));
  for (std::int64_t band = 0; band < kBands; ++band) {
    const auto* row = whole.values.data() + band * whole.frames + crop.margin;
    std::copy(row, row + frames, out.begin() + band * frames);
  }
}

std::span<float> row_of(at::Tensor& tensor, std::int64_t row) {
  const auto length = tensor.numel() / tensor.size(0);
  return {tensor.mutable_data_ptr<float>() + row * length, static_cast<std::size_t>(length)};
}

at::Tensor float_tensor(std::vector<std::int64_t> shape) {
  return at::empty(shape, at::TensorOptions(at::kFloat));
}

}  // namespace

CodecDataset::CodecDataset(const CodecDataOptions& options) : options_(options) {
  check(options.frames >= kFewestFrames && options.frames % kFramesPerLatent == 0 &&
            options.frames <= kPieceFrames,
        ErrorKind::Usage,
        "[acestep.train] crops of {} frames cannot be trained on; expected a multiple of {} from "
        "{} to {}.",
        options.frames, kFramesPerLatent, kFewestFrames, kPieceFrames);
  check(options.size >= 1, ErrorKind::Usage,
        "[acestep.train] an epoch of {} samples; expected at least one.", options.size);
}

engine::Batch CodecDataset::load(const std::vector<std::int64_t>& indices,
                                 const engine::SampleRandoms& randoms) const {
  const auto count = static_cast<std::int64_t>(indices.size()), frames = options_.frames;
  auto log_mel = options_.stereo ? float_tensor({count, 2, kBands, frames})
                                 : float_tensor({count, kBands, frames});
  auto other = options_.stereo ? float_tensor({count, 8, 16, frames / kFramesPerLatent})
                               : float_tensor({count, frames * kHop});
  for (std::int64_t i = 0; i < count; ++i) {
    const auto row = static_cast<std::size_t>(i);
    const auto random = options_.fixed
                            ? Random(options_.seed).fork(static_cast<std::uint64_t>(indices[row]))
                            : randoms.of(row);
    fill(indices[row], random, row_of(log_mel, i), row_of(other, i));
  }
  engine::Batch batch;
  batch.tensors = {{"log_mel", log_mel}, {options_.stereo ? "noise" : "sound", other}};
  batch.samples = count;
  batch.weight = static_cast<double>(count);
  return batch;
}

void CodecDataset::fill(std::int64_t index, const Random& random, std::span<float> log_mel,
                        std::span<float> other) const {
  const auto frames = options_.frames;
  data::MusicOptions music{.split = options_.split};
  if (random.bernoulli(3, options_.organ)) music.timbre = data::Timbre::Organ;
  const auto piece = data::music_piece(random.fork(0), static_cast<std::uint64_t>(index), music);
  const auto places = static_cast<std::uint64_t>((kPieceFrames - frames) / kFramesPerLatent + 1);
  const auto first = static_cast<std::int64_t>(random.below(0, places)) * kFramesPerLatent;
  const double decibels = options_.level * (random.uniform(1) - 0.5);
  const auto crop = play_crop(piece, first, frames, std::pow(10, decibels / 20));
  if (options_.stereo) {
    const auto half = log_mel.size() / 2;
    write_log_mel(crop, 0, frames, log_mel.first(half));
    write_log_mel(crop, 1, frames, log_mel.last(half));
    random.fork(1).fill_normal(other);
    return;
  }
  const int channel = static_cast<int>(random.below(2, 2));
  write_log_mel(crop, channel, frames, log_mel);
  const auto sound = crop.audio.channel(channel).subspan(
      static_cast<std::size_t>(crop.margin * kHop), static_cast<std::size_t>(frames * kHop));
  std::ranges::copy(sound, other.begin());
  if (options_.noise <= 0) return;
  const auto noise = random.fork(2);
  for (std::size_t i = 0; i < log_mel.size(); ++i) {
    log_mel[i] += static_cast<float>(options_.noise * noise.normal(i));
  }
}

std::string CodecDataset::fingerprint() const {
  return fmt::format("music-{}-{}-{}", options_.frames, options_.stereo ? "stereo" : "mono",
                     options_.seed);
}

}  // namespace ubique::acestep
