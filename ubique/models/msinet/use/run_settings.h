// SPDX-License-Identifier: Apache-2.0
// Settings of `ubique run msinet`, and the jobs made from its inputs: pictures and videos with the
// paths of their results.
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
  int top = 0;                        ///< fixations to list per picture or frame
  std::vector<NamedBox> boxes;        ///< whose shares of attention are listed
  std::int64_t max_pixels = 1 << 27;  ///< limit of a picture or frame
  bool sequence = false;              ///< folders are videos, one picture per frame
  VideoView view = VideoView::Overlay;
  double smooth = 0.15;          ///< seconds in which an old map fades to 1/e
  double frame_rate = 25;        ///< of a sequence
  std::filesystem::path output;  ///< a folder, a video, or "-" for standard output
  ProgressStyle progress = ProgressStyle::Lines;
  std::function<bool()> stop;  ///< true after Ctrl-C
  engine::Sink print;          ///< for videos to standard output

  bool stopped() const { return stop && stop(); }
};

/// Usage error for an invalid value, Input error for boxes that cannot be read.
RunSettings read_run_settings(const engine::Request& request);

/// A picture and the path of its results; subfolders are kept, so that names do not clash.
struct PictureJob {
  std::filesystem::path picture, target;  ///< target without ending
};

struct VideoJob {
  std::string input;             ///< a file, a folder of frames, or "-" for standard input
  bool sequence = false;         ///< a folder of frames
  std::filesystem::path output;  ///< a file, or "-" for standard output
  std::filesystem::path tables;  ///< path of the tables, without ending
};

/// A file of a folder that is no job.
struct LeftOut {
  std::filesystem::path file;
  std::string why;  ///< "neither PNG nor JPEG", "the same file as in/a.png"
};

struct RunJobs {
  std::vector<PictureJob> pictures;
  std::vector<VideoJob> videos;
  std::vector<LeftOut> left_out;
};

/// Lists each picture once and skips those in the output folder. Results are named after the
/// picture without its ending. Pictures in one folder that differ in the ending only keep it
/// ("a.jpg_saliency.png"); those of the same name in several inputs are numbered in their order
/// ("a", "a_2"). Input error for a folder without pictures; Usage error for results that would
/// overwrite an input, and for several inputs with one video as output.
RunJobs list_run_jobs(const std::vector<std::string>& inputs, const RunSettings& settings);

/// "3 files left out: in/a.webp (neither PNG nor JPEG), ..."; empty if there are none.
std::string left_out_text(const std::vector<LeftOut>& files);

std::filesystem::path map_path(const PictureJob& job, const RunSettings& settings);
std::filesystem::path overlay_path(const PictureJob& job, const RunSettings& settings);

}  // namespace ubique::msinet
