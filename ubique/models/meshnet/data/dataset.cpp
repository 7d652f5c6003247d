// SPDX-License-Identifier: Apache-2.0
// Loads batches from the scan cache; opens that cache from settings.
#include "ubique/models/meshnet/data/dataset.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <zlib.h>

#include "ubique/base/files/file.h"
#include "ubique/models/meshnet/data/preprocess.h"

namespace ubique::meshnet {

ScanDataset::ScanDataset(std::vector<data::Subject> subjects,
                         std::shared_ptr<data::ScanCache> cache, LossOptions loss)
    : subjects_(std::move(subjects)), cache_(std::move(cache)), loss_(std::move(loss)) {}

const data::Subject& ScanDataset::subject(std::int64_t index) const {
  return subjects_.at(static_cast<std::size_t>(index));
}

engine::Batch ScanDataset::load(const std::vector<std::int64_t>& indices,
                                const engine::SampleRandoms&) const {
  engine::Batch batch;
  batch.samples = static_cast<std::int64_t>(indices.size());
  const auto shape = cache_->options().target.shape;
  const auto voxels = static_cast<std::size_t>(data::voxel_count(shape));
  auto image = at::empty({batch.samples, 1, shape[0], shape[1], shape[2]}, at::kFloat);
  auto mask = at::empty({batch.samples, shape[0], shape[1], shape[2]}, at::kByte);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto entry = scan(indices[i]);
    check(entry.shape() == shape, ErrorKind::Input,
          "[meshnet.data] scans of several sizes cannot be one batch; {} has {}x{}x{}, expected "
          "{}x{}x{}. Choose a resample method with a fixed shape.",
          subject(indices[i]).id, entry.shape()[0], entry.shape()[1], entry.shape()[2], shape[0],
          shape[1], shape[2]);
    entry.read_image({image.mutable_data_ptr<float>() + i * voxels, voxels});
    entry.read_mask({mask.mutable_data_ptr<std::uint8_t>() + i * voxels, voxels});
  }
  batch.weight = class_weight_sum(mask, loss_);
  batch.tensors = {{"image", image}, {"mask", mask}};
  return batch;
}

std::string ScanDataset::fingerprint() const {
  uLong crc = crc32(0, nullptr, 0);
  for (const auto& subject : subjects_) {
    const auto name = cache_->path_of(subject).filename().string();  // holds a hash of the content
    crc = crc32(crc, reinterpret_cast<const Bytef*>(name.data()), static_cast<uInt>(name.size()));
  }
  return fmt::format("{:08x}-{}", crc, subjects_.size());
}

std::shared_ptr<data::ScanCache> open_scan_cache(const Config& config, const MeshNetConfig& network,
                                                 int threads) {
  data::ScanCacheOptions options{prepare_options(network, threads)};
  const auto text = config.get<std::string>("cache_dtype", "f16");
  const auto dtype = parse_dtype(text);
  check(dtype.has_value(), ErrorKind::Usage,
        "[meshnet.data] unknown cache_dtype; got '{}', expected f16, f32 or u8.", text);
  options.dtype = *dtype;
  const auto folder = config.get<std::string>("cache", "");
  return std::make_shared<data::ScanCache>(
      folder.empty() ? cache_folder() / "scans" : std::filesystem::path(folder), options);
}

}  // namespace ubique::meshnet
