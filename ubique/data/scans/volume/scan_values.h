// SPDX-License-Identifier: Apache-2.0
// The voxels of a scan's file as f32 in the axes that are wanted. They come in pieces of a few
// planes: while one is read and inflated, which no two threads can share, those before it are
// converted and turned. Knows nothing of what becomes of them.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "ubique/data/scans/volume/orientation.h"
#include "ubique/io/scans/nifti.h"

namespace ubique::data {

class ScanValues {
 public:
  /// Reads the header. Input errors as read_scan() says; `volume` -1: there must be only one.
  ScanValues(const std::filesystem::path& path, std::int64_t volume);
  ~ScanValues();

  const io::NiftiHeader& header() const;  ///< of that volume alone
  /// k fastest in the moved axes; once.
  std::vector<float> read(const AxisMoves& moves, int threads);

 private:
  class Source;
  std::unique_ptr<Source> source_;
};

}  // namespace ubique::data
