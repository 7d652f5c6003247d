// SPDX-License-Identifier: Apache-2.0
// Reads the voxels of a NIfTI file as f32, in the axes asked for. Reading and inflating is serial,
// so the file is read in chunks of a few planes, and the previous chunks are converted and
// reordered by other threads meanwhile.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "ubique/data/scans/volume/orientation.h"
#include "ubique/io/scans/nifti.h"

namespace ubique::data {

class ScanValues {
 public:
  /// Reads the header. Input errors and `volume` as in read_scan().
  ScanValues(const std::filesystem::path& path, std::int64_t volume);
  ~ScanValues();

  const io::NiftiHeader& header() const;  ///< of the chosen volume
  /// Values in the moved axes, k fastest. May be called once.
  std::vector<float> read(const AxisMoves& moves, int threads);

 private:
  class Source;
  std::unique_ptr<Source> source_;
};

}  // namespace ubique::data
