// SPDX-License-Identifier: Apache-2.0
// From a scan to its label map: conform, normalise, network, components, and back to the scan's own
// grid. Knows no files beyond the scan it is given.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ubique/data/scans/study/prepare.h"
#include "ubique/data/scans/volume/components.h"
#include "ubique/models/meshnet/use/segmenter.h"
#include "ubique/plan/plan.h"

namespace ubique::meshnet {

struct SegmentOptions {
  data::ComponentPolicy components;
  bool native = true;          ///< labels on the scan's own grid
  bool probabilities = false;  ///< of every class but the background
};

struct LabelVolume {
  std::int64_t label = 0;
  std::string name;
  std::int64_t voxels = 0;
  double mm3 = 0;
};

/// A scan made ready for the network; needs no device, so that it can be made beforehand.
struct PreparedScan {
  data::Scan scan;
  data::Volume input;  ///< conformed and normalised
};

struct Segmentation {
  data::LabelMap conformed;              ///< on the network's grid
  std::optional<data::LabelMap> native;  ///< on the scan's grid
  std::vector<data::Volume>
      probabilities;                 ///< class 1 and on; the scan's grid if native, else ours
  std::vector<LabelVolume> volumes;  ///< class 1 and on, counted on the grid asked for
  std::int64_t removed_components = 0;
};

data::ConformTarget conform_target(const Preprocessing& preprocessing);

/// The network's own preprocessing, for the data room.
data::PrepareOptions prepare_options(const MeshNetConfig& network, int threads);

/// Conforms and normalises as the network's own preprocessing says.
PreparedScan prepare_scan(data::Scan scan, const Preprocessing& preprocessing, int threads);

/// How the plan wants a network run for inference.
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

/// "lesion" for the second of two classes, "label N" where the model names none.
std::string label_name(const std::vector<Label>& labels, std::int64_t label, std::int64_t classes);

/// Voxels and mm³ of each class but the background.
std::vector<LabelVolume> measure_volumes(const data::LabelMap& labels,
                                         const std::vector<Label>& names, std::int64_t classes);

}  // namespace ubique::meshnet
