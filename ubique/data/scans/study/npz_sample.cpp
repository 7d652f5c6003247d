// SPDX-License-Identifier: Apache-2.0
// Reads samples that arc-meshchop has prepared and stored as compressed npz files.
#include "ubique/data/scans/study/npz_sample.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ubique/base/error.h"
#include "ubique/base/text/text.h"
#include "ubique/io/arrays/npz.h"

namespace ubique::data {
namespace {

namespace fs = std::filesystem;

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
  check(std::ranges::all_of(values, [](float value) { return std::isfinite(value); }),
        ErrorKind::Input,
        "[data.npz] {}: {} has values that are not numbers; expected finite ones.", file,
        tensor.name);
  return values;
}

/// With two classes the values are a mask (> 0), with more they are labels.
LabelMap sample_labels(Volume volume, int classes, const std::string& file) {
  if (classes == 2) {
    for (auto& value : volume.values) value = value > 0 ? 1 : 0;
  }
  auto labels = to_labels(volume);
  const auto most = std::ranges::max(labels.values);
  check(most < classes, ErrorKind::Input,
        "[data.npz] {} has the label {}; expected 0 to {}. Is the number of classes right?", file,
        most, classes - 1);
  return labels;
}

std::vector<fs::path> npz_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (is_npz_name(entry->path()) && entry->is_regular_file(ignored)) {
      files.push_back(entry->path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

bool is_npz_name(const fs::path& path) { return lowercase(path.extension().string()) == ".npz"; }

PreparedSample read_npz_sample(const fs::path& path, int classes) {
  const auto file = path.string();
  const auto tensors = io::read_npz(path);
  const auto* image = io::find_tensor(tensors, "image");
  const auto* mask = io::find_tensor(tensors, "mask");
  check(image != nullptr, ErrorKind::Input,
        "[data.npz] {} has no array 'image'; expected a cached sample of arc-meshchop.", file);
  const Affine millimetres{{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}};
  PreparedSample sample{{sample_shape(*image, file), millimetres, sample_values(*image, file)}, {}};
  if (mask == nullptr) return sample;
  Volume labels{sample_shape(*mask, file), millimetres, sample_values(*mask, file)};
  check(labels.shape == sample.image.shape, ErrorKind::Input,
        "[data.npz] {}: image and mask do not fit; got {} and {}.", file,
        io::shape_text(image->shape), io::shape_text(mask->shape));
  sample.mask = sample_labels(std::move(labels), classes, file);
  return sample;
}

bool holds_npz(const fs::path& folder) { return !npz_in(folder).empty(); }

Cohort scan_npz(const fs::path& folder) {
  Cohort cohort;
  cohort.root = fs::absolute(folder).lexically_normal();
  cohort.source = "npz";
  for (const auto& path : npz_in(folder)) {
    Subject subject;
    subject.id = path.stem().string();
    subject.image = path;
    subject.mask = path;
    cohort.subjects.push_back(std::move(subject));
  }
  check(!cohort.subjects.empty(), ErrorKind::Input,
        "[data.npz] no samples in {}; expected files .npz as arc-meshchop caches them.",
        folder.string());
  return cohort;
}

}  // namespace ubique::data
