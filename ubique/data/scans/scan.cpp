// SPDX-License-Identifier: Apache-2.0
// Between files, where i is fastest, and grids in memory, where k is.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "ubique/base/error.h"
#include "ubique/base/large_vector.h"
#include "ubique/base/parallel.h"
#include "ubique/data/scans/scan_name.h"
#include "ubique/data/scans/strided.h"
#include "ubique/data/scans/volume.h"

namespace ubique::data {
namespace {

/// Leaves one volume in the image.
void pick_volume(io::NiftiImage& image, std::int64_t volume, const std::filesystem::path& path) {
  const auto volumes = image.header.volumes;
  check(volumes == 1 || volume >= 0, ErrorKind::Input,
        "[data.scan] {}: more than one volume; got {}, expected one. Split the series or say which "
        "volume is meant.",
        path.string(), volumes);
  check(volume < volumes, ErrorKind::Input,
        "[data.scan] {}: no such volume; got number {}, expected one below {}.", path.string(),
        volume, volumes);
  if (volumes == 1) return;
  const auto bytes = image.bytes.size() / static_cast<std::size_t>(volumes);
  std::memmove(image.bytes.data(), image.bytes.data() + bytes * static_cast<std::size_t>(volume),
               bytes);
  image.bytes.resize(bytes);
  image.header.volumes = 1;
}

void check_finite(const Volume& volume, const std::filesystem::path& path) {
  const auto is_bad = [](float value) { return !std::isfinite(value); };
  const auto count = std::count_if(volume.values.begin(), volume.values.end(), is_bad);
  if (count == 0) return;
  const auto first = std::find_if(volume.values.begin(), volume.values.end(), is_bad);
  const auto place = first - volume.values.begin();
  const auto rows = volume.shape[1], columns = volume.shape[2];
  fail(ErrorKind::Input,
       "[data.scan] {}: voxels that are not numbers; got {} NaN or infinite, one at ({}, {}, {}), "
       "expected finite values. Replace them, with 0 for example.",
       path.string(), count, place / (rows * columns), place / columns % rows, place % columns);
}

/// The voxels with k fastest. Slabs of a few planes are converted and turned while they are in the
/// cache.
std::vector<float> values_of(const io::NiftiImage& image, int threads) {
  constexpr std::int64_t kPlanes = 32;
  const auto& shape = image.header.shape;
  const auto plane = shape[0] * shape[1];
  const auto plane_bytes = plane * static_cast<std::int64_t>(size_of(image.header.dtype));
  auto values = large_vector<float>(static_cast<std::size_t>(voxel_count(shape)));
  parallel_for((shape[2] + kPlanes - 1) / kPlanes, threads, [&](auto begin, auto end) {
    io::NiftiImage slab{image.header, {}};
    for (auto part = begin; part < end; ++part) {
      const auto first = part * kPlanes, planes = std::min(kPlanes, shape[2] - first);
      const auto* bytes = image.bytes.data() + first * plane_bytes;
      slab.header.shape[2] = planes;
      slab.bytes.assign(bytes, bytes + planes * plane_bytes);
      const auto converted = io::to_f32(slab);
      copy_strided(converted.data(), {1, shape[0], plane}, {shape[0], shape[1], planes},
                   values.data() + first, dense_strides(shape));
    }
  });
  return values;
}

template <typename T>
void write_grid(const std::filesystem::path& path, const Grid<T>& grid, const io::NiftiHeader& like,
                DType dtype) {
  const auto& shape = grid.shape;
  // i fastest is the same as k fastest with the axes in reverse.
  std::vector<T> values(grid.values.size());
  const Shape3 reversed{shape[2], shape[1], shape[0]};
  const auto strides = dense_strides(shape);
  copy_strided(grid.values.data(), {strides[2], strides[1], strides[0]}, reversed, values.data(),
               dense_strides(reversed));
  auto header = like;
  header.dtype = dtype;
  header.shape = shape;
  header.volumes = 1;
  header.spacing = spacing_of(grid.affine);
  header.slope = 1;
  header.inter = 0;
  header.scaled = false;
  header.affine = grid.affine;
  io::write_nifti(path, header, dtype, std::as_bytes(std::span(values)));
}

}  // namespace

Scan read_scan(const std::filesystem::path& path, std::int64_t volume, int threads) {
  auto image = io::read_nifti(path);
  pick_volume(image, volume, path);
  const auto& header = image.header;
  Scan scan;
  scan.header = header;
  scan.stored_integers = !is_floating(header.dtype) && !header.scaled;
  scan.name = scan_stem(path);
  scan.volume.shape = header.shape;
  scan.volume.affine = header.affine;
  scan.volume.values = values_of(image, threads);
  if (!scan.stored_integers) check_finite(scan.volume, path);
  return scan;
}

void write_labels(const std::filesystem::path& path, const LabelMap& labels,
                  const io::NiftiHeader& like) {
  write_grid(path, labels, like, DType::U8);
}

void write_volume(const std::filesystem::path& path, const Volume& volume,
                  const io::NiftiHeader& like) {
  write_grid(path, volume, like, DType::F32);
}

}  // namespace ubique::data
