// SPDX-License-Identifier: Apache-2.0
// Converts between NIfTI files, where i is fastest, and grids in memory, where k is.
#include "ubique/data/scans/volume/scan.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "ubique/base/error.h"
#include "ubique/data/scans/volume/orientation.h"
#include "ubique/data/scans/volume/scan_name.h"
#include "ubique/data/scans/volume/scan_values.h"
#include "ubique/data/scans/volume/strided.h"

namespace ubique::data {
namespace {

/// The error names the voxel in the file's own axes, as a viewer shows it.
void check_finite(const Volume& volume, const AxisMoves& moves, const std::filesystem::path& path) {
  const auto is_bad = [](float value) { return !std::isfinite(value); };
  const auto count = std::count_if(volume.values.begin(), volume.values.end(), is_bad);
  if (count == 0) return;
  const auto first = std::find_if(volume.values.begin(), volume.values.end(), is_bad);
  const auto offset = first - volume.values.begin();
  const auto rows = volume.shape[1], columns = volume.shape[2];
  const Shape3 found{offset / (rows * columns), offset / columns % rows, offset % columns};
  Shape3 own{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto& move = moves[axis];
    own[static_cast<std::size_t>(move.source)] =
        move.flipped ? volume.shape[axis] - 1 - found[axis] : found[axis];
  }
  fail(ErrorKind::Input,
       "[data.scan] {}: voxels that are not numbers; got {} NaN or infinite, one at ({}, {}, {}), "
       "expected finite values. Replace them, with 0 for example.",
       path.string(), count, own[0], own[1], own[2]);
}

template <typename T>
void write_grid(const std::filesystem::path& path, const Grid<T>& grid, const io::NiftiHeader& like,
                DType dtype) {
  const auto& shape = grid.shape;
  // i fastest is k fastest with the axes reversed.
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

Scan read_scan(const std::filesystem::path& path, std::int64_t volume, int threads, ScanAxes axes) {
  ScanValues file(path, volume);
  Scan scan;
  scan.header = file.header();
  scan.stored_integers = !is_floating(scan.header.dtype) && !scan.header.scaled;
  scan.name = scan_stem(path);
  const auto& [shape, affine] = std::tie(scan.header.shape, scan.header.affine);
  const auto moves = axes == ScanAxes::Canonical ? moves_to(affine, "RAS") : kNoMoves;
  scan.volume = {moved_shape(shape, moves), moved_affine(affine, shape, moves),
                 file.read(moves, threads)};
  if (!scan.stored_integers) check_finite(scan.volume, moves, path);
  return scan;
}

LabelMap to_labels(const Volume& volume) {
  LabelMap labels{volume.shape, volume.affine, {}};
  labels.values.reserve(volume.values.size());
  for (const float value : volume.values) {
    check(value >= 0 && value <= 255 && std::floor(value) == value, ErrorKind::Input,
          "[data.scans] a voxel is not a label; got {}, expected a whole number from 0 to 255.",
          value);
    labels.values.push_back(static_cast<std::uint8_t>(value));
  }
  return labels;
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
