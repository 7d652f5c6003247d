// SPDX-License-Identifier: Apache-2.0
// The pipeline: read, predict in batches, draw and write; pictures grouped by size.
#include "ubique/models/msinet/use/run_pictures.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>

#include "ubique/base/files/file.h"
#include "ubique/base/ordered_workers.h"
#include "ubique/base/parallel.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/csv.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/text.h"
#include "ubique/data/prefetch.h"
#include "ubique/engine/ranks/rank_jobs.h"
#include "ubique/engine/ranks/rank_progress.h"
#include "ubique/io/images/image.h"
#include "ubique/models/msinet/data/open_data.h"
#include "ubique/models/msinet/use/map_files.h"
#include "ubique/models/msinet/use/run_tables.h"

namespace ubique::msinet {
namespace {

namespace fs = std::filesystem;

// Limit of pixels in flight. Pictures of similar size form a group, so that small ones are not held
// back by the limit of large ones.
constexpr std::int64_t kPixelsInFlight = std::int64_t{1} << 27;
constexpr std::int64_t kBytesPerPixel = 20;  // decoded, drawn, encoded
constexpr std::array<std::int64_t, 2> kGroupLimits = {std::int64_t{1} << 22, std::int64_t{1} << 25};

/// A picture that has been read and resized, or the error.
struct ReadyPicture {
  std::size_t job = 0;
  io::Picture picture;
  at::Tensor image;  // (3, H, W)
  bool has_alpha = false;
  std::string error;
};

bool is_transparent(const io::Picture& picture) {
  if (picture.channels != 4) return false;
  for (std::size_t i = 3; i < picture.pixels.size(); i += 4) {
    if (picture.pixels[i] != 255) return true;
  }
  return false;
}

/// Table lines of a picture whose files are written, or the error.
struct FinishedPicture {
  std::size_t job = 0;
  bool has_alpha = false, skipped = false;
  std::string attention = {}, fixations = {}, error = {};
};

Json to_json(const FinishedPicture& picture, std::size_t group) {
  return {{"group", group},
          {"alpha", picture.has_alpha},
          {"skipped", picture.skipped},
          {"attention", picture.attention},
          {"fixations", picture.fixations},
          {"error", picture.error}};
}

std::vector<std::string> picture_names(const std::vector<PictureJob>& jobs) {
  std::vector<std::string> names;
  for (const auto& job : jobs) names.push_back(job.picture.string());
  return names;
}

class PictureRun {
 public:
  PictureRun(Predictor& predictor, const std::vector<PictureJob>& jobs, const RunSettings& settings,
             const RunPace& pace)
      : predictor_(predictor),
        jobs_(jobs),
        settings_(settings),
        pace_(pace),
        share_(std::ssize(jobs), picture_names(jobs)),
        progress_({.title = "saliency",
                   .total = std::ssize(jobs),
                   .unit = "pictures",
                   .style = settings.progress}) {}

  /// All ranks, each its share.
  PicturesDone run() {
    const auto start = std::chrono::steady_clock::now();
    for (const auto& [limit, group] : size_groups()) {
      group_ = limit;
      if (!stopped_) run_group(group);
    }
    progress_.finish();
    std::vector<Json> mine;
    for (const auto job : share_.mine()) mine.push_back(done_[static_cast<std::size_t>(job)]);
    auto done = summary_of(share_.collect(std::move(mine)));
    done.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return done;
  }

 private:
  struct SizeGroup {
    std::vector<std::size_t> jobs;
    std::int64_t largest = 1;  // pixels
  };

  /// Groups by size, read from the file headers; refused and finished pictures are in none.
  std::map<std::size_t, SizeGroup> size_groups() {
    const auto mine = share_.mine();
    std::vector<std::int64_t> pixels(jobs_.size());
    std::vector<std::string> refused(jobs_.size());
    parallel_for(std::ssize(mine), hardware_threads(), [&](std::int64_t begin, std::int64_t end) {
      for (auto k = begin; k < end; ++k) {
        const auto i = static_cast<std::size_t>(mine[static_cast<std::size_t>(k)]);
        pixels[i] = pixels_of(jobs_[i], refused[i]);
      }
    });
    std::map<std::size_t, SizeGroup> groups;
    for (const auto job : mine) {
      const auto i = static_cast<std::size_t>(job);
      if (!refused[i].empty()) {
        take_error(i, std::move(refused[i]));
      } else if (pixels[i] == 0) {
        take({.job = i, .skipped = true});
      } else {
        const auto limit = std::ranges::lower_bound(kGroupLimits, pixels[i]);
        auto& group = groups[static_cast<std::size_t>(limit - kGroupLimits.begin())];
        group.jobs.push_back(i);
        group.largest = std::max(group.largest, pixels[i]);
        const auto note = large_picture_note(jobs_[i].picture.string(), pixels[i]);
        if (!note.empty()) log::info("{}", note);
      }
    }
    return groups;
  }

  /// 0 for a picture that is skipped because its map exists.
  std::int64_t pixels_of(const PictureJob& job, std::string& refused) const {
    std::error_code ignored;
    if (settings_.skip_existing && fs::exists(map_path(job, settings_), ignored)) return 0;
    try {
      const auto size = io::image_size(job.picture);
      const auto pixels = static_cast<std::int64_t>(size.width) * size.height;
      check(pixels <= settings_.max_pixels, ErrorKind::Input,
            "[msinet.run] {} is too large; got {} x {} = {} pixels, expected at most {}. Make it "
            "smaller (the network sees {} x {} pixels of it), or allow more with --max-pixels.",
            job.picture.string(), size.width, size.height, pixels, settings_.max_pixels,
            predictor_.config().size[1], predictor_.config().size[0]);
      return pixels;
    } catch (const Error& error) {
      refused = error.what();
      return 0;
    }
  }

  void run_group(const SizeGroup& group) {
    const auto most =
        static_cast<int>(std::clamp<std::int64_t>(kPixelsInFlight / group.largest, 1, 1 << 16));
    // Pictures in flight are spread over reading, waiting for the network, and writing.
    const auto threads = [&](int wanted) { return std::min(wanted, most / 6); };
    const int batch = std::clamp(most / 3, 1, pace_.batch);
    threads_per_picture_ = most < 6 ? hardware_threads() : 1;
    data::Prefetch<ReadyPicture> ready(reader(group.jobs), threads(pace_.decoders));
    OrderedWorkers<FinishedPicture> written([this](FinishedPicture&& picture) { take(picture); },
                                            threads(pace_.encoders));
    while (!stopped_) {
      auto pictures = collect(ready, batch);
      if (pictures.empty()) break;
      predict(std::move(pictures), written);
      stopped_ = settings_.stopped();
    }
    written.finish();
  }

  data::Prefetch<ReadyPicture>::Source reader(const std::vector<std::size_t>& jobs) const {
    return [this, &jobs,
            next = std::size_t{0}]() mutable -> std::optional<data::Prefetch<ReadyPicture>::Job> {
      if (next == jobs.size()) return std::nullopt;
      return [this, job = jobs[next++]] { return read(job); };
    };
  }

  ReadyPicture read(std::size_t job) const {
    ReadyPicture ready;
    ready.job = job;
    try {
      auto picture = io::read_image(jobs_[job].picture);
      ready.has_alpha = is_transparent(picture);
      ready.picture = io::as_rgb(std::move(picture));
      ready.image = predictor_.prepare(ready.picture, threads_per_picture_);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Input) throw;
      ready.error = error.what();
    }
    return ready;
  }

  /// The next batch; unreadable pictures are recorded as errors.
  std::vector<ReadyPicture> collect(data::Prefetch<ReadyPicture>& ready, int batch) {
    std::vector<ReadyPicture> pictures;
    while (pictures.size() < static_cast<std::size_t>(batch)) {
      auto next = ready.next();
      if (!next) break;
      if (next->error.empty()) {
        pictures.push_back(std::move(*next));
      } else {
        take_error(next->job, std::move(next->error));
      }
    }
    return pictures;
  }

  void predict(std::vector<ReadyPicture> pictures, OrderedWorkers<FinishedPicture>& written) {
    std::vector<at::Tensor> images;
    for (const auto& picture : pictures) images.push_back(picture.image);
    const auto maps = predictor_.maps(at::stack(images));  // (B, H, W)
    for (std::size_t i = 0; i < pictures.size(); ++i) {
      auto picture = std::make_shared<ReadyPicture>(std::move(pictures[i]));
      written.push([this, picture, map = maps[static_cast<std::int64_t>(i)]] {
        return finish(*picture, map);
      });
    }
  }

  FinishedPicture finish(const ReadyPicture& ready, const at::Tensor& small) const {
    const auto& job = jobs_[ready.job];
    FinishedPicture finished;
    finished.job = ready.job;
    finished.has_alpha = ready.has_alpha;
    PictureFiles files;
    try {
      const auto map = predictor_.restore(small, {ready.picture.height, ready.picture.width},
                                          threads_per_picture_);
      const MeasuredMap<float> measured(map.values, map.width, map.height);
      const auto name = job.picture.string();
      finished.attention = box_csv_lines(name, box_shares(measured, settings_.boxes));
      finished.fixations = fixation_csv_lines(csv_field(name), measured, settings_.top);
      files = encode_files(ready.picture, map, measured, settings_);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Input) throw;
      finished.error = error.what();
      return finished;
    }
    make_folder(job.target.parent_path());
    if (!files.overlay.empty()) write_file(overlay_path(job, settings_), files.overlay);
    write_file(map_path(job, settings_), files.map);  // last: --skip-existing relies on it
    return finished;
  }

  void take(const FinishedPicture& picture) {
    {
      const std::lock_guard lock(mutex_);
      done_[picture.job] = to_json(picture, group_);
    }
    progress_.advance(1, jobs_[picture.job].picture.filename().string());
  }

  void take_error(std::size_t job, std::string error) {
    log::error("{}", error);
    take({.job = job, .error = std::move(error)});
  }

  PictureResult result_of(std::size_t job, bool has_alpha) const {
    const auto overlay = settings_.overlay ? overlay_path(jobs_[job], settings_) : fs::path();
    return {jobs_[job].picture, map_path(jobs_[job], settings_), overlay, has_alpha};
  }

  /// Of all pictures; null for those after a stop.
  PicturesDone summary_of(const std::vector<Json>& pictures) const {
    PicturesDone done;
    for (std::size_t i = 0; i < pictures.size(); ++i) {
      const auto& picture = pictures[i];
      done.stopped = done.stopped || picture.is_null();
      if (picture.is_null()) continue;
      if (picture["error"] != "") {
        done.failed.push_back({jobs_[i].picture.string(), picture["error"]});
        continue;
      }
      ++(picture["skipped"].get<bool>() ? done.skipped : done.written);
      done.results.push_back(result_of(i, picture["alpha"]));
    }
    if (dist::world().is_first()) write_tables(pictures);
    return done;
  }

  /// Small pictures first, as they are done.
  void write_tables(const std::vector<Json>& pictures) const {
    std::map<std::pair<std::size_t, std::size_t>, const Json*> ordered;
    for (std::size_t i = 0; i < pictures.size(); ++i) {
      if (pictures[i].is_null() || pictures[i]["error"] != "" || pictures[i]["skipped"] == true) {
        continue;
      }
      ordered[{pictures[i]["group"].get<std::size_t>(), i}] = &pictures[i];
    }
    ResultTable attention(settings_.output / "attention.csv", box_csv_header());
    ResultTable fixations(settings_.output / "fixations.csv",
                          "image," + fixation_csv_columns() + "\n");
    for (const auto& [place, picture] : ordered) {
      const auto name = jobs_[place.second].picture.string();
      if (!settings_.boxes.empty()) attention.add(name, (*picture)["attention"]);
      if (settings_.top > 0) fixations.add(name, (*picture)["fixations"]);
    }
    attention.write();
    fixations.write();
  }

  Predictor& predictor_;
  const std::vector<PictureJob>& jobs_;
  const RunSettings& settings_;
  RunPace pace_;
  int threads_per_picture_ = 1;  // for resizing one picture
  engine::RankJobs share_;
  engine::RankProgress progress_;
  bool stopped_ = false;
  std::size_t group_ = 0;  // the one that is worked on
  std::mutex mutex_;
  std::map<std::size_t, Json> done_;  // by job
};

}  // namespace

std::string large_picture_note(const std::string& name, std::int64_t pixels) {
  if (pixels <= kGroupLimits.back()) return {};
  return fmt::format(
      "{} has {} megapixels: that takes up to {} of memory and seconds; a smaller copy gives much "
      "the same map",
      name, pixels / 1'000'000, human_bytes(kBytesPerPixel * pixels));
}

PicturesDone run_pictures(Predictor& predictor, const std::vector<PictureJob>& jobs,
                          const RunSettings& settings, const RunPace& pace) {
  make_folder(settings.output);
  return PictureRun(predictor, jobs, settings, pace).run();
}

}  // namespace ubique::msinet
