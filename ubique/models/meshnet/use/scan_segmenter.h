// SPDX-License-Identifier: Apache-2.0
// Segments one prepared scan: network, removal of small components, and label map, probabilities
// and volumes on the scan's own grid.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ubique/data/scans/volume/components.h"
#include "ubique/models/meshnet/data/preprocess.h"
#include "ubique/models/meshnet/use/segmenter.h"
#include "ubique/plan/plan.h"

namespace ubique::meshnet {

struct SegmentOptions {
  data::ComponentPolicy components;
  bool native = true;          ///< results on the scan's own grid
  bool probabilities = false;  ///< of every class but the background
};

struct LabelVolume {
  std::int64_t label = 0;
  std::string name;
  std::int64_t voxels = 0;
  double mm3 = 0;
};

struct Segmentation {
  data::LabelMap conformed;                 ///< on the network's grid
  std::optional<data::LabelMap> native;     ///< on the scan's grid
  std::vector<data::Volume> probabilities;  ///< classes 1 and up, on the grid of the options
  std::vector<LabelVolume> volumes;         ///< classes 1 and up, counted on that grid
  std::int64_t removed_components = 0;
};

/// The plan's choices for inference.
SegmenterOptions segmenter_options(const plan::Plan& plan, c10::Device device);

class ScanSegmenter {
 public:
  ScanSegmenter(const MeshNetFile& file, const SegmenterOptions& options, int threads);

  Segmentation segment(const PreparedScan& prepared, const SegmentOptions& options);
  /// The label map of a conformed, normalised volume.
  data::LabelMap label(const data::Volume& input);

 private:
  Segmenter segmenter_;
  c10::Device device_;
  std::vector<Label> labels_;
  std::int64_t classes_;
  int threads_;
};

/// Voxels and mm³ of each class but the background.
std::vector<LabelVolume> measure_volumes(const data::LabelMap& labels,
                                         const std::vector<Label>& names, std::int64_t classes);

}  // namespace ubique::meshnet
