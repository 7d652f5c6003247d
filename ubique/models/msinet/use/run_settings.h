// SPDX-License-Identifier: Apache-2.0
// What `ubique run msinet` was asked for, and the inputs it found: pictures with the names of their
// results, videos with theirs.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "ubique/engine/contract/family.h"
#include "ubique/models/msinet/use/boxes.h"
#include "ubique/models/msinet/use/heatmap.h"

namespace ubique::msinet {

enum class MapFormat { Png, Png16, Npy, Jpeg };
enum class VideoView { Overlay, Map, Both };  ///< Both: side by side

struct RunSettings {
  HeatmapStyle style;
  MapFormat format = MapFormat::Png;
  bool overlay = true, skip_existing = false;
  int top = 0;                        ///< fixations to list of each picture or frame
  std::vector<NamedBox> boxes;        ///< whose shares are listed
  std::int64_t max_pixels = 1 << 27;  ///< of a picture or frame; more are refused
  bool sequence = false;              ///< folders are videos, a picture a frame
  VideoView view = VideoView::Overlay;
  double smooth = 0.15;          ///< seconds in which a map fades to 1/e
  double frame_rate = 25;        ///< of a sequence
  std::filesystem::path output;  ///< a folder, a video, or "-" for standard output
  ProgressStyle progress = ProgressStyle::Lines;
  std::function<bool()> stop;  ///< Ctrl-C came

  bool stopped() const { return stop && stop(); }
};

/// Usage error for a value that cannot be, Input error for boxes that cannot be read.
RunSettings read_run_settings(const engine::Request& request);

/// A picture to do, and where its results go: subfolders are kept, so that names do not clash.
struct PictureJob {
  std::filesystem::path picture, target;  ///< target without ending
};

struct VideoJob {
  std::string input;             ///< a file, a folder of frames, or "-" for standard input
  bool sequence = false;         ///< a folder of frames
  std::filesystem::path output;  ///< a file, or "-" for standard output
  std::filesystem::path tables;  ///< where tables go, without ending
};

struct RunJobs {
  std::vector<PictureJob> pictures;
  std::vector<VideoJob> videos;
};

/// Each picture once. Pictures in the folder of the results are left out. Input error for a folder
/// without pictures; Usage error for results that would overwrite an input, and for several inputs
/// where the output is one video.
RunJobs list_run_jobs(const std::vector<std::string>& inputs, const RunSettings& settings);

std::filesystem::path map_path(const PictureJob& job, const RunSettings& settings);
std::filesystem::path overlay_path(const PictureJob& job, const RunSettings& settings);

}  // namespace ubique::msinet
