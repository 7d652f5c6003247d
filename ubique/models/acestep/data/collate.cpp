// SPDX-License-Identifier: Apache-2.0
// Samples of different lengths as one batch, with masks where something is padding.
#include <ATen/ATen.h>

#include <algorithm>

#include "ubique/models/acestep/data/sample.h"

namespace ubique::acestep {
namespace {

/// Ids (B, N) and their mask, 0 = padding; a row without ids has one id 0 that is not read.
struct PaddedIds {
  at::Tensor ids, mask;
};

PaddedIds padded_ids(const std::vector<const std::vector<std::int32_t>*>& rows,
                     std::int64_t multiple) {
  std::size_t longest = 1;
  for (const auto* row : rows) longest = std::max(longest, row->size());
  const auto length = static_cast<std::size_t>(rounded_up(longest, multiple));
  const std::vector<std::int64_t> shape = {static_cast<std::int64_t>(rows.size()),
                                           static_cast<std::int64_t>(length)};
  PaddedIds padded{at::zeros(shape, at::kLong), at::zeros(shape, at::kLong)};
  auto* ids = padded.ids.mutable_data_ptr<std::int64_t>();
  auto* mask = padded.mask.mutable_data_ptr<std::int64_t>();
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t i = 0; i < rows[row]->size(); ++i) {
      ids[row * length + i] = (*rows[row])[i];
      mask[row * length + i] = 1;
    }
  }
  return padded;
}

/// Where each token of the context comes from so that the read ones of a row stand together: the
/// speaker, tags, lyrics, then the padding of both. (B, 1 + S + L)
at::Tensor context_order(const at::Tensor& text_mask, const at::Tensor& lyric_mask) {
  const auto mask =
      at::cat({at::ones({text_mask.size(0), 1}, at::kLong), text_mask, lyric_mask}, 1);
  return mask.argsort(/*stable=*/true, 1, /*descending=*/true).contiguous();
}

/// Pads the last dimension (frames) with zeros.
at::Tensor padded_frames(const at::Tensor& x, std::int64_t length) {
  return at::constant_pad_nd(x, {0, length - x.size(-1)});
}

}  // namespace

void SongDataset::collate_features(engine::Batch& batch, const std::vector<Sample>& samples) const {
  for (std::size_t e = 0; e < options_.encoders.size(); ++e) {
    const auto& [name, size] = options_.encoders[e];
    std::vector<std::int64_t> lengths;
    for (const auto& sample : samples) {
      const bool any = e < sample.features.size() && sample.features[e].defined();
      lengths.push_back(any ? sample.features[e].size(0) : 0);
    }
    const auto longest = *std::max_element(lengths.begin(), lengths.end());
    if (longest == 0) continue;
    auto values = at::zeros({static_cast<std::int64_t>(samples.size()), longest, size});
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (lengths[i] == 0) continue;
      values[static_cast<std::int64_t>(i)].slice(0, 0, lengths[i]).copy_(samples[i].features[e]);
    }
    batch.tensors["ssl." + name] = values;
    batch.tensors["ssl_frames." + name] =
        at::tensor(at::ArrayRef<std::int64_t>(lengths), at::kLong);
  }
}

engine::Batch SongDataset::collate(const std::vector<Sample>& samples) const {
  std::int64_t longest = 1;
  for (const auto& sample : samples) longest = std::max(longest, sample.latents.size(-1));
  std::vector<at::Tensor> latents, noise, speakers, frames;
  std::vector<const std::vector<std::int32_t>*> texts, lyrics;
  std::vector<double> sigmas, keep;
  bool padding = false;
  for (const auto& sample : samples) {
    const auto length = sample.latents.size(-1);
    latents.push_back(padded_frames(sample.latents, longest));
    noise.push_back(padded_frames(sample.noise, longest));
    speakers.push_back(sample.speaker);
    frames.push_back(padded_frames(at::ones({length}), longest));
    padding = padding || length < longest;
    texts.push_back(&sample.text_ids);
    lyrics.push_back(&sample.lyric_ids);
    sigmas.push_back(sample.sigma);
    keep.push_back(sample.keep_text ? 1 : 0);
  }
  const auto multiple = options_.token_multiple;
  const auto text = padded_ids(texts, multiple), lyric = padded_ids(lyrics, multiple);
  engine::Batch batch;
  batch.tensors = {{"latents", at::stack(latents)},
                   {"noise", at::stack(noise)},
                   {"speaker", at::stack(speakers)},
                   {"sigmas", at::tensor(at::ArrayRef<double>(sigmas), at::kFloat)},
                   {"keep_text", at::tensor(at::ArrayRef<double>(keep), at::kFloat)},
                   {"text_ids", text.ids},
                   {"text_mask", text.mask},
                   {"lyric_ids", lyric.ids},
                   {"lyric_mask", lyric.mask}};
  if (padding) batch.tensors["frames"] = at::stack(frames);
  const bool padded = samples.size() > 1 || multiple > 1;
  if (padded) batch.tensors["order"] = context_order(text.mask, lyric.mask);
  collate_features(batch, samples);
  batch.samples = static_cast<std::int64_t>(samples.size());
  batch.weight = static_cast<double>(samples.size());
  return batch;
}

}  // namespace ubique::acestep
