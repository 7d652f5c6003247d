// SPDX-License-Identifier: Apache-2.0
// Samples that arc-meshchop has prepared: its compressed npz files, as ours.
#include <algorithm>
#include <cstring>

#include "ubique/base/error.h"
#include "ubique/data/scans/scan_cache.h"
#include "ubique/io/npz.h"

namespace ubique::data {
namespace {

Shape3 sample_shape(const io::HostTensor& tensor, const std::string& file) {
  auto shape = tensor.shape;
  if (shape.size() == 4 && shape[0] == 1) shape.erase(shape.begin());
  check(shape.size() == 3 && std::ranges::all_of(shape, [](auto n) { return n > 0; }),
        ErrorKind::Input, "[data.npz] {}: {} has the shape {}; expected three axes.", file,
        tensor.name, io::shape_text(tensor.shape));
  return {shape[0], shape[1], shape[2]};
}

std::vector<float> sample_values(const io::HostTensor& tensor, const std::string& file) {
  check(tensor.dtype == DType::F32, ErrorKind::Input,
        "[data.npz] {}: {} holds {}; expected f32, as arc-meshchop writes it.", file, tensor.name,
        to_string(tensor.dtype));
  std::vector<float> values(tensor.bytes.size() / sizeof(float));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

}  // namespace

NpzSample read_npz_sample(const std::filesystem::path& path) {
  const auto file = path.string();
  const auto tensors = io::read_npz(path);
  const auto* image = io::find_tensor(tensors, "image");
  const auto* mask = io::find_tensor(tensors, "mask");
  check(image != nullptr, ErrorKind::Input,
        "[data.npz] {} has no array 'image'; expected a cached sample of arc-meshchop.", file);
  const Affine millimetres{{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}};
  NpzSample sample{{sample_shape(*image, file), millimetres, sample_values(*image, file)}, {}};
  if (mask == nullptr) return sample;
  LabelMap labels{sample_shape(*mask, file), millimetres, {}};
  check(labels.shape == sample.image.shape, ErrorKind::Input,
        "[data.npz] {}: image and mask do not fit; got {} and {}.", file,
        io::shape_text(image->shape), io::shape_text(mask->shape));
  for (const float value : sample_values(*mask, file)) labels.values.push_back(value > 0 ? 1 : 0);
  sample.mask = std::move(labels);
  return sample;
}

}  // namespace ubique::data
