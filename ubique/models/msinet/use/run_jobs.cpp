// SPDX-License-Identifier: Apache-2.0
// From command-line inputs to jobs, with output names that neither clash nor overwrite an input.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ubique/base/terminal/log.h"
#include "ubique/data/images/pairing.h"
#include "ubique/models/msinet/use/run_settings.h"
#include "ubique/models/msinet/use/video_files.h"

namespace ubique::msinet {
namespace {

namespace fs = std::filesystem;

/// The canonical form of a path, however it was typed.
fs::path plain_path(const fs::path& path) {
  std::error_code ignored;
  auto plain = fs::weakly_canonical(fs::absolute(path, ignored), ignored);
  return plain.has_filename() ? plain : plain.parent_path();
}

bool lies_below(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
         folder.end();
}

class JobLister {
 public:
  explicit JobLister(const RunSettings& settings)
      : settings_(settings), output_(plain_path(settings.output)) {}

  void add(const std::string& input) {
    std::error_code ignored;
    const bool folder = fs::is_directory(input, ignored);
    if (input == "-" || (folder ? settings_.sequence : is_video_name(input))) {
      jobs_.videos.push_back(video_job(input, folder));
      if (input != "-") inputs_.insert(plain_path(input));
    } else {
      add_pictures(input, folder);
    }
  }

  RunJobs finish() {
    const bool one_video = settings_.output == "-" || is_video_name(settings_.output);
    check(!one_video || (jobs_.videos.size() == 1 && jobs_.pictures.empty()), ErrorKind::Usage,
          "[msinet.run] several inputs cannot go into one video; got {} pictures and {} videos for "
          "-o {}, "
          "expected one video. Name a folder instead.",
          jobs_.pictures.size(), jobs_.videos.size(), settings_.output.string());
    for (const auto& job : jobs_.pictures) {
      require_free(map_path(job, settings_));
      if (settings_.overlay) require_free(overlay_path(job, settings_));
    }
    for (const auto& job : jobs_.videos) {
      if (job.output != "-") require_free(job.output);
    }
    return std::move(jobs_);
  }

 private:
  void add_pictures(const fs::path& input, bool folder) {
    const auto found = data::images_in(input);
    const auto root = plain_path(input);
    const bool holds_output = folder && root != output_ && lies_below(output_, root);
    std::size_t taken = 0;
    for (const auto& picture : found) {
      const auto plain = plain_path(picture);
      if (holds_output && lies_below(plain, output_)) continue;  // results of an earlier run
      ++taken;
      if (!inputs_.insert(plain).second) continue;
      const auto below = folder ? picture.lexically_relative(input) : picture.filename();
      jobs_.pictures.push_back({picture, free_target(below)});
    }
    check(taken > 0, ErrorKind::Input,
          "[msinet.run] no picture found; got {}, expected .png or .jpg files (videos are named "
          "one by one).",
          input.string());
  }

  fs::path free_target(const fs::path& below) {
    const auto folder = settings_.output / below.parent_path();
    auto target = folder / below.stem();
    for (int number = 2; !targets_.insert(target).second; ++number) {
      target = folder / fmt::format("{}_{}", below.stem().string(), number);
    }
    return target;
  }

  VideoJob video_job(const std::string& input, bool folder) {
    constexpr const char* kViews[] = {"overlay", "map", "both"};
    const auto stem = input == "-" ? fs::path("stdin") : plain_path(input).stem();
    VideoJob job{input, folder, settings_.output, {}};
    if (settings_.output == "-") {
      job.tables = stem;
    } else if (is_video_name(settings_.output)) {
      job.tables = fs::path(settings_.output).replace_extension();
    } else {
      job.tables = job.output = free_target(stem);
      job.output += fmt::format("_{}.{}", kViews[static_cast<std::size_t>(settings_.view)],
                                needs_ffmpeg(input) ? "mp4" : "y4m");
    }
    return job;
  }

  void require_free(const fs::path& result) const {
    check(!inputs_.contains(plain_path(result)), ErrorKind::Usage,
          "[msinet.run] a result would overwrite an input; got {}, expected another path. Name "
          "one with -o.",
          result.string());
  }

  const RunSettings& settings_;
  fs::path output_;
  RunJobs jobs_;
  std::set<fs::path> inputs_, targets_;
};

}  // namespace

RunJobs list_run_jobs(const std::vector<std::string>& inputs, const RunSettings& settings) {
  JobLister lister(settings);
  for (const auto& input : inputs) lister.add(input);
  return lister.finish();
}

}  // namespace ubique::msinet
