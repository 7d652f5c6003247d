// SPDX-License-Identifier: Apache-2.0
// From command-line inputs to jobs, with output names that neither clash nor overwrite an input.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "ubique/base/terminal/log.h"
#include "ubique/base/text/text.h"
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

/// The canonical folder of a file and its name: two links to one file are two files.
fs::path place_of(const fs::path& file) {
  std::error_code ignored;
  return plain_path(fs::absolute(file, ignored).parent_path()) / file.filename();
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
    check(!one_video || (jobs_.videos.size() == 1 && pictures_.empty()), ErrorKind::Usage,
          "[msinet.run] several inputs cannot go into one video; got {} pictures and {} videos for "
          "-o {}, "
          "expected one video. Name a folder instead.",
          pictures_.size(), jobs_.videos.size(), settings_.output.string());
    name_results();
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
    auto found = data::images_in(input);
    const auto root = plain_path(input);
    const bool holds_output = folder && root != output_ && lies_below(output_, root);
    const auto is_result = [&](const fs::path& file) {  // of an earlier run
      return holds_output && lies_below(place_of(file), output_);
    };
    const auto below = [&](const fs::path& file) {
      return folder ? file.lexically_relative(input) : file.filename();
    };
    std::erase_if(found, is_result);
    // What is reached through a linked folder too is done where it is.
    std::ranges::stable_partition(found, [&](const fs::path& file) {
      return !folder || place_of(file) == root / below(file);
    });
    for (const auto& file : found) add_picture(file, below(file));
    const auto known = static_cast<std::ptrdiff_t>(jobs_.left_out.size());
    for (const auto& file : data::other_files_in(input)) {
      if (!is_result(file)) leave_out(file);
    }
    const std::vector<LeftOut> others(jobs_.left_out.begin() + known, jobs_.left_out.end());
    check(!found.empty(), ErrorKind::Input,
          "[msinet.run] no picture found; got {}{}, expected .png or .jpg files (videos are named "
          "one by one).",
          input.string(), others.empty() ? "" : ", " + left_out_text(others));
  }

  void add_picture(const fs::path& file, const fs::path& below) {
    const auto [known, is_new] = places_.emplace(place_of(file), file);
    if (!is_new) {
      jobs_.left_out.push_back({file, "the same file as " + known->second.string()});
      return;
    }
    inputs_.insert(plain_path(file));
    pictures_.push_back({file, below});
  }

  void leave_out(const fs::path& file) {
    if (!places_.emplace(place_of(file), file).second) return;
    jobs_.left_out.push_back(
        {file, is_video_name(file) ? "a video; name it by itself" : "neither PNG nor JPEG"});
  }

  /// Some file systems do not distinguish capitals: names that differ in nothing else are the same.
  static std::string clash_key(const fs::path& path) { return lowercase(path.string()); }

  void name_results() {
    std::map<std::string, std::set<std::string>> names;  // of the files that share a stem
    const auto stem = [](const fs::path& below) { return fs::path(below).replace_extension(); };
    for (const auto& picture : pictures_) {
      names[clash_key(stem(picture.below))].insert(clash_key(picture.below));
    }
    for (const auto& [file, below] : pictures_) {
      const bool shared = names[clash_key(stem(below))].size() > 1;
      jobs_.pictures.push_back({file, free_target(shared ? below : stem(below), targets_)});
    }
  }

  fs::path free_target(const fs::path& wanted, std::set<std::string>& taken) const {
    auto target = settings_.output / wanted;
    for (int number = 2; !taken.insert(clash_key(target)).second; ++number) {
      target = settings_.output / fmt::format("{}_{}", wanted.string(), number);
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
      job.tables = job.output = free_target(stem, video_targets_);
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

  struct FoundPicture {
    fs::path file, below;  // below: relative to the input
  };

  const RunSettings& settings_;
  fs::path output_;
  RunJobs jobs_;
  std::vector<FoundPicture> pictures_;
  std::map<fs::path, fs::path> places_;  // canonical folder and name -> as it was found
  std::set<fs::path> inputs_;            // canonical
  std::set<std::string> targets_, video_targets_;
};

}  // namespace

std::string left_out_text(const std::vector<LeftOut>& files) {
  constexpr std::size_t kShown = 3;
  std::vector<std::string> names;
  for (const auto& [file, why] : files) {
    if (names.size() == kShown) break;
    names.push_back(fmt::format("{} ({})", file.string(), why));
  }
  if (names.empty()) return {};
  if (files.size() > kShown) names.push_back(fmt::format("{} more", files.size() - kShown));
  return fmt::format("{} file{} left out: {}", files.size(), files.size() == 1 ? "" : "s",
                     join(names, ", "));
}

RunJobs list_run_jobs(const std::vector<std::string>& inputs, const RunSettings& settings) {
  JobLister lister(settings);
  for (const auto& input : inputs) lister.add(input);
  return lister.finish();
}

}  // namespace ubique::msinet
