// SPDX-License-Identifier: Apache-2.0
// Segments a list of scan files and writes label maps, probability maps and overlays. A scan that
// cannot be read does not stop the others.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "ubique/base/terminal/progress.h"
#include "ubique/engine/session/session.h"
#include "ubique/models/meshnet/use/scan_segmenter.h"

namespace ubique::meshnet {

enum class LabelSpace { Native, Conformed, Both };

struct SegmentFilesOptions {
  SegmentOptions segment;
  LabelSpace space = LabelSpace::Native;
  bool overlay = true;
  bool skip_existing = false;  ///< keep label maps that are already there
  std::int64_t volume = -1;    ///< of a 4D file; -1 = there must be only one
  std::filesystem::path output;
  ProgressStyle progress = ProgressStyle::Lines;
};

/// A scan to segment, and the name that its result files begin with.
struct SegmentJob {
  std::filesystem::path scan;
  std::string name;
};

struct SegmentedFile {
  std::string name;
  std::filesystem::path labels;
  std::vector<LabelVolume> volumes;
  std::string error;  ///< empty on success
  bool skipped = false;
};

/// The given files and every scan in the given folders, each once, with distinct names. Input error
/// for a folder without scans.
std::vector<SegmentJob> segment_jobs(const std::vector<std::string>& inputs);

/// Results in the order of the jobs; fewer if `stop` returned true. A scan that cannot be read is a
/// result with an error; a file that cannot be written throws.
std::vector<SegmentedFile> segment_files(const MeshNetFile& file, const engine::Session& session,
                                         const std::vector<SegmentJob>& jobs,
                                         const SegmentFilesOptions& options,
                                         const std::function<bool()>& stop);

}  // namespace ubique::meshnet
