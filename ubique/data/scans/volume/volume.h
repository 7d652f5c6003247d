// SPDX-License-Identifier: Apache-2.0
// A brain scan in memory: values on a regular grid with its place in the world. Axis order is that
// of the array, (i, j, k) with k fastest, as NumPy holds it and networks take it as (D, H, W).
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "ubique/io/scans/nifti.h"

namespace ubique::data {

using io::Affine;
using Shape3 = std::array<std::int64_t, 3>;

inline std::int64_t voxel_count(const Shape3& shape) { return shape[0] * shape[1] * shape[2]; }

template <typename T>
struct Grid {
  Shape3 shape{};
  Affine affine{};
  std::vector<T> values;  ///< k fastest

  T& at(std::int64_t i, std::int64_t j, std::int64_t k) {
    return values[static_cast<std::size_t>((i * shape[1] + j) * shape[2] + k)];
  }
  const T& at(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return const_cast<Grid*>(this)->at(i, j, k);
  }
};

using Volume = Grid<float>;
using LabelMap = Grid<std::uint8_t>;

/// A file's volume with what later steps must know about the file.
struct Scan {
  Volume volume;  ///< scaled values in the axes that were asked for
  io::NiftiHeader header;
  bool stored_integers = false;  ///< integers without slope and inter: interpolation rounds them
  std::string name;              ///< of the file, without folder and .nii(.gz)
};

/// The file's own axes, or RAS+ as to_canonical() gives them, without a second copy.
enum class ScanAxes { Own, Canonical };

/// Input error for what read_nifti refuses, for more than one volume (4D; `volume` picks one, -1 =
/// there must be only one), and for NaN or infinite voxels, with their count and a place.
Scan read_scan(const std::filesystem::path& path, std::int64_t volume = -1, int threads = 1,
               ScanAxes axes = ScanAxes::Own);

/// Values as labels; Input error for one that is no whole number from 0 to 255.
LabelMap to_labels(const Volume& volume);

/// The same in RAS+ axes (closest canonical): axes permuted and flipped, never interpolated. For
/// Volume and LabelMap.
template <typename T>
Grid<T> to_canonical(const Grid<T>& grid, int threads = 1);

/// Millimetres per voxel along each axis.
std::array<double, 3> spacing_of(const Affine& affine);
double voxel_volume(const Affine& affine);  ///< mm³
/// "RAS", "LIA": the direction in which each axis grows.
std::string axis_codes(const Affine& affine);
Affine inverse(const Affine& affine);  ///< Input error if there is none
Affine multiply(const Affine& a, const Affine& b);

/// Writes with the grid's affine; `like` gives codes and description. gzipped if the name says so.
void write_labels(const std::filesystem::path& path, const LabelMap& labels,
                  const io::NiftiHeader& like);
void write_volume(const std::filesystem::path& path, const Volume& volume,
                  const io::NiftiHeader& like);

}  // namespace ubique::data
