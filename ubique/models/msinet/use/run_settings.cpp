// SPDX-License-Identifier: Apache-2.0
// Settings from configuration keys; paths of maps and overlays.
#include "ubique/models/msinet/use/run_settings.h"

#include <algorithm>
#include <array>

#include "ubique/base/files/file.h"
#include "ubique/base/text/text.h"

namespace ubique::msinet {
namespace {

namespace fs = std::filesystem;

/// Index of a word in a list; Usage error that shows the list.
std::size_t parse_word(const std::string& what, const std::string& text,
                       const std::vector<std::string>& words) {
  const auto found = std::ranges::find(words, text);
  check(found != words.end(), ErrorKind::Usage, "[msinet.run] unknown {}; got '{}', expected {}.{}",
        what, text, join(words, ", "), hint(text, words));
  return static_cast<std::size_t>(found - words.begin());
}

template <typename T>
T read_at_least(const Config& config, const char* key, T fallback, T least) {
  const auto value = config.get<T>(key, fallback);
  check(value >= least, ErrorKind::Usage,
        "[msinet.run] {} is out of range; got {}, expected {} or more.", key, value, least);
  return value;
}

void read_video_settings(const Config& config, RunSettings& settings) {
  settings.sequence = config.get("sequence", false);
  settings.view = static_cast<VideoView>(
      parse_word("view", config.get<std::string>("what", "overlay"), {"overlay", "map", "both"}));
  settings.smooth = read_at_least(config, "smooth", settings.smooth, 0.0);
  settings.frame_rate = read_at_least(config, "fps", settings.frame_rate, 0.001);
}

}  // namespace

RunSettings read_run_settings(const engine::Request& request) {
  const auto& config = request.config;
  RunSettings settings;
  settings.style.palette = parse_palette(config.get<std::string>("palette", "inferno"));
  settings.style.alpha = config.get("alpha", settings.style.alpha);
  settings.style.contours = config.get("contours", settings.style.contours);
  settings.style.peaks = static_cast<int>(read_at_least<std::int64_t>(config, "peaks", 0, 0));
  check_style(settings.style);
  settings.format = static_cast<MapFormat>(parse_word(
      "format", config.get<std::string>("format", "png"), {"png", "png16", "npy", "jpeg"}));
  settings.overlay = config.get("overlay", true);
  settings.skip_existing = config.get("skip_existing", false);
  settings.top = static_cast<int>(read_at_least<std::int64_t>(config, "top", 0, 0));
  settings.max_pixels = read_at_least<std::int64_t>(config, "max_pixels", settings.max_pixels, 1);
  const auto boxes = config.get<std::string>("boxes", "");
  if (!boxes.empty()) settings.boxes = parse_boxes(read_file(boxes), boxes);
  read_video_settings(config, settings);
  settings.output = request.output.empty() ? fs::path("saliency") : request.output;
  check(
      settings.output != "-" || request.progress != ProgressStyle::JsonLines, ErrorKind::Usage,
      "[msinet.run] standard output cannot hold both; got --json and -o -, expected one of them.");
  settings.progress = request.progress;
  settings.stop = request.stop_requested;
  settings.print = request.print;
  return settings;
}

fs::path map_path(const PictureJob& job, const RunSettings& settings) {
  constexpr std::array<const char*, 4> kEndings = {"_saliency.png", "_saliency.png",
                                                   "_saliency.npy", "_saliency.jpg"};
  auto path = job.target;
  return path += kEndings[static_cast<std::size_t>(settings.format)];
}

fs::path overlay_path(const PictureJob& job, const RunSettings& settings) {
  auto path = job.target;
  return path += settings.format == MapFormat::Jpeg ? "_overlay.jpg" : "_overlay.png";
}

}  // namespace ubique::msinet
