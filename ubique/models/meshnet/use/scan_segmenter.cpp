// SPDX-License-Identifier: Apache-2.0
// Runs the segmenter on prepared scans and maps the result back to the scan's grid.
#include "ubique/models/meshnet/use/scan_segmenter.h"

#include <cstring>

#include "ubique/data/scans/conform/native.h"

namespace ubique::meshnet {
namespace {

/// A host tensor over the volume's own memory.  (D, H, W)
at::Tensor view_of(const data::Volume& volume) {
  const auto& shape = volume.shape;
  return at::from_blob(const_cast<float*>(volume.values.data()), {shape[0], shape[1], shape[2]},
                       at::kFloat);
}

data::LabelMap labels_like(const data::Volume& volume, const at::Tensor& labels) {
  data::LabelMap map{volume.shape, volume.affine, {}};
  const auto host = labels.to(at::kCPU, at::kByte).contiguous();  // (D, H, W)
  map.values.resize(static_cast<std::size_t>(host.numel()));
  std::memcpy(map.values.data(), host.const_data_ptr<std::uint8_t>(), map.values.size());
  return map;
}

data::Volume volume_like(const data::Volume& volume, const at::Tensor& values) {
  data::Volume copy{volume.shape, volume.affine, {}};
  const auto host = values.to(at::kCPU, at::kFloat).contiguous();  // (D, H, W)
  copy.values.resize(static_cast<std::size_t>(host.numel()));
  std::memcpy(copy.values.data(), host.const_data_ptr<float>(), copy.values.size() * sizeof(float));
  return copy;
}

c10::ScalarType scalar_type(DType dtype) {
  if (dtype == DType::F16) return c10::kHalf;
  if (dtype == DType::BF16) return c10::kBFloat16;
  return c10::kFloat;
}

}  // namespace

SegmenterOptions segmenter_options(const plan::Plan& plan, c10::Device device) {
  SegmenterOptions options;
  options.device = device;
  options.dtype = scalar_type(plan.dtype.value);
  options.channels_last = plan.memory_format.value == probe::Layout::ChannelsLast;
  options.pad_channels_to = plan.pad_channels.value;
  options.memory_limit = plan.memory.budget;
  return options;
}

ScanSegmenter::ScanSegmenter(const MeshNetFile& file, const SegmenterOptions& options, int threads)
    : segmenter_(file, options),
      device_(options.device),
      labels_(file.config.labels),
      classes_(file.config.classes),
      threads_(threads) {}

data::LabelMap ScanSegmenter::label(const data::Volume& input) {
  return labels_like(input, segmenter_.labels(view_of(input).to(device_)));
}

Segmentation ScanSegmenter::segment(const PreparedScan& prepared, const SegmentOptions& options) {
  Segmentation result;
  const auto image = view_of(prepared.input).to(device_);  // (D, H, W)
  result.conformed = labels_like(prepared.input, segmenter_.labels(image));
  result.removed_components = data::keep_components(result.conformed, options.components);
  if (options.native) {
    result.native = data::to_native(result.conformed, prepared.scan, threads_);
  }
  if (options.probabilities) {
    for (std::int64_t c = 1; c < classes_; ++c) {
      auto volume = volume_like(prepared.input, segmenter_.probability(image, c));
      result.probabilities.push_back(
          options.native ? data::to_native(volume, prepared.scan, threads_) : std::move(volume));
    }
  }
  result.volumes =
      measure_volumes(result.native ? *result.native : result.conformed, labels_, classes_);
  return result;
}

std::vector<LabelVolume> measure_volumes(const data::LabelMap& labels,
                                         const std::vector<Label>& names, std::int64_t classes) {
  std::array<std::int64_t, 256> counts{};
  for (const auto label : labels.values) ++counts[label];
  const double voxel = data::voxel_volume(labels.affine);
  std::vector<LabelVolume> volumes;
  for (std::int64_t c = 1; c < classes; ++c) {
    const auto voxels = counts[static_cast<std::size_t>(c)];
    volumes.push_back(
        {c, label_name(names, c, classes), voxels, static_cast<double>(voxels) * voxel});
  }
  return volumes;
}

}  // namespace ubique::meshnet
