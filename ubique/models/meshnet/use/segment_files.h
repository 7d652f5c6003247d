// SPDX-License-Identifier: Apache-2.0
// Segments a list of scan files and writes label maps, probability maps and overlays. A scan that
// cannot be read does not stop the others.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ubique/base/terminal/progress.h"
#include "ubique/engine/session/session.h"
#include "ubique/models/meshnet/use/scan_segmenter.h"
#include "ubique/models/meshnet/use/segment_jobs.h"

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

struct SegmentedFile {
  std::string name;
  std::filesystem::path labels;
  std::vector<LabelVolume> volumes = {};
  std::string error = {};                  ///< empty on success
  std::vector<std::string> warnings = {};  ///< why the labels may mean nothing
  bool skipped = false;
};

/// What is said of a scan that failed alone: its Input error, or that memory ran out for it.
/// Nothing for an error that ends the run.
std::optional<std::string> failure_of_one_scan(const std::exception& error,
                                               const std::filesystem::path& scan);

/// All ranks, each its share of the jobs. Results in the order of the jobs; fewer if `stop`
/// returned true. A scan that cannot be read, or
/// for which memory runs out, is a result with an error; a file that cannot be written throws.
std::vector<SegmentedFile> segment_files(const MeshNetFile& file, const engine::Session& session,
                                         const std::vector<SegmentJob>& jobs,
                                         const SegmentFilesOptions& options,
                                         const std::function<bool()>& stop);

}  // namespace ubique::meshnet
