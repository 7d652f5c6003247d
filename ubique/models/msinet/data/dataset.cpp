// SPDX-License-Identifier: Apache-2.0
// Reading, resizing and collating samples; the cache of small sets.
#include "ubique/models/msinet/data/dataset.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "ubique/data/images/frame.h"
#include "ubique/io/images/image.h"

namespace ubique::msinet {
namespace {

constexpr double kCacheBytes = 1 << 30;  // larger sets are read again in every epoch

}  // namespace

at::Tensor tensor_of(const data::Image& image) {
  const auto view = at::from_blob(const_cast<float*>(image.values.data()),
                                  {image.height, image.width, image.channels}, at::kFloat);
  return view.permute({2, 0, 1}).clone(at::MemoryFormat::Contiguous);
}

data::Image image_of(const at::Tensor& map) {
  const auto host = map.contiguous();  // (H, W)
  data::Image image{static_cast<int>(host.size(0)), static_cast<int>(host.size(1)), 1, {}};
  image.values.resize(image.size());
  std::memcpy(image.values.data(), host.const_data_ptr<float>(),
              image.values.size() * sizeof(float));
  return image;
}

SaliencyDataset::SaliencyDataset(std::vector<data::SaliencySample> samples,
                                 const data::SaliencyData& from, const Preprocessing& how,
                                 bool flip)
    : samples_(std::move(samples)),
      frame_(from.frame),
      blur_(from.blur),
      pad_(static_cast<float>(how.pad)),
      flip_(flip),
      cached_(16.0 * frame_.height * frame_.width * static_cast<double>(samples_.size()) <
              kCacheBytes) {
  if (cached_) cache_.resize(samples_.size());
}

SaliencyDataset::Shared SaliencyDataset::read(std::size_t index) const {
  const auto& sample = samples_.at(index);
  return std::make_shared<Prepared>(
      Prepared{data::prepare(data::read_stimulus(sample), frame_, pad_),
               data::prepare(data::read_target(sample, blur_), frame_, data::kMapPad)});
}

SaliencyDataset::Shared SaliencyDataset::get(std::size_t index) const {
  if (!cached_) return read(index);
  {
    const std::lock_guard lock(mutex_);
    if (cache_[index]) return cache_[index];
  }
  auto prepared = read(index);
  const std::lock_guard lock(mutex_);
  return cache_[index] = prepared;
}

engine::Batch SaliencyDataset::load(const std::vector<std::int64_t>& indices,
                                    const engine::SampleRandoms& randoms) const {
  engine::Batch batch;
  batch.samples = static_cast<std::int64_t>(indices.size());
  batch.weight = static_cast<double>(indices.size());
  std::vector<at::Tensor> images, maps;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto prepared = get(static_cast<std::size_t>(indices[i]));
    auto image = tensor_of(prepared->image);         // (3, H, W)
    auto map = tensor_of(prepared->map).squeeze(0);  // (H, W)
    if (flip_ && randoms.of(i).uniform(0) < 0.5) {
      image = image.flip(-1);
      map = map.flip(-1);
    }
    images.push_back(image);
    maps.push_back(map);
  }
  batch.tensors = {{"image", at::stack(images)}, {"map", at::stack(maps)}};
  return batch;
}

bool SaliencyDataset::has_fixations() const {
  return !samples_.empty() && std::ranges::all_of(samples_, &data::SaliencySample::has_fixations);
}

std::vector<data::Fixation> SaliencyDataset::points(std::int64_t index) const {
  const auto& from = sample(index);
  const auto size = io::image_size(from.stimulus, io::ExifOrientation::Ignore);
  auto points = data::fixations_of(from);
  for (auto& point : points) {  // to_frame() has pixel centres at integers, MapPoint at halves
    point = data::to_frame(point, {size.height, size.width}, frame_);
    point = {point.x + 0.5, point.y + 0.5};
  }
  return points;
}

std::string SaliencyDataset::fingerprint() const {
  uLong crc = crc32(0, nullptr, 0);
  for (const auto& sample : samples_) {
    crc = crc32(crc, reinterpret_cast<const Bytef*>(sample.id.data()),
                static_cast<uInt>(sample.id.size()));
  }
  return fmt::format("{:08x}-{}", crc, samples_.size());
}

}  // namespace ubique::msinet
