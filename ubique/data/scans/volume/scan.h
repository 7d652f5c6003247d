// SPDX-License-Identifier: Apache-2.0
// NIfTI files to volumes in memory, and back.
#pragma once

#include <filesystem>
#include <string>

#include "ubique/data/scans/volume/volume.h"

namespace ubique::data {

/// A file's volume, with what later steps need to know about the file.
struct Scan {
  Volume volume;  ///< scaled values, in the axes that were asked for
  io::NiftiHeader header;
  bool stored_integers = false;  ///< integers without slope and inter: interpolation rounds them
  std::string name;              ///< of the file, without folder and .nii(.gz)
};

/// The file's own axes, or RAS+ as to_canonical() gives them, without a second copy.
enum class ScanAxes { Own, Canonical };

/// `volume` picks one of a 4D series; -1: the file must hold one only. Input error for what
/// read_nifti refuses, for several volumes, and for NaN or infinite voxels (count and first index).
Scan read_scan(const std::filesystem::path& path, std::int64_t volume = -1, int threads = 1,
               ScanAxes axes = ScanAxes::Own);

/// Values as labels; Input error for one that is not a whole number from 0 to 255.
LabelMap to_labels(const Volume& volume);

/// Writes with the grid's affine; `like` gives codes and description. gzipped if the name ends in
/// .gz.
void write_labels(const std::filesystem::path& path, const LabelMap& labels,
                  const io::NiftiHeader& like);
void write_volume(const std::filesystem::path& path, const Volume& volume,
                  const io::NiftiHeader& like);

}  // namespace ubique::data
