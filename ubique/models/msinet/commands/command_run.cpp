// SPDX-License-Identifier: Apache-2.0
// `ubique run msinet`: saliency maps and overlays of pictures, folders and videos. An unreadable
// input does not stop the others; the exit code reports it.
#include <fmt/format.h>

#include <algorithm>

#include "ubique/base/terminal/log.h"
#include "ubique/base/text/json.h"
#include "ubique/engine/ranks/rank_jobs.h"
#include "ubique/models/msinet/commands/commands.h"
#include "ubique/models/msinet/data/open_data.h"
#include "ubique/models/msinet/use/open.h"
#include "ubique/models/msinet/use/predictor.h"
#include "ubique/models/msinet/use/run_video.h"

namespace ubique::msinet {
namespace {

constexpr std::int64_t kRunBatch = 16;  // keeps an accelerator busy; larger only adds latency

/// On the CPU a batch of one has the same throughput as a larger one, and less latency.
RunPace pace_of(const plan::Plan& plan) {
  const bool on_cpu = plan.compute_threads.value > 0;
  const int threads = plan.prefetch_threads.value;
  RunPace pace;
  pace.batch = static_cast<int>(on_cpu && !plan.micro_batch_asked ? 1 : plan.micro_batch.value);
  pace.decoders = threads;
  pace.encoders =
      on_cpu || threads == 0 ? threads : std::max(threads, hardware_threads() - threads);
  return pace;
}

struct VideoResult {
  VideoJob job;
  VideoDone done;
};

/// Result of the whole command.
struct RunResult {
  std::size_t requested = 0;  // pictures
  std::vector<LeftOut> left_out;
  PicturesDone pictures;
  std::vector<VideoResult> videos;
  std::vector<FailedInput> failed;
  bool stopped = false;
};

Json video_json(const VideoDone& done) {
  return {{"frames", done.frames},
          {"seconds", done.seconds},
          {"stopped", done.stopped},
          {"error", done.error}};
}

/// An unreadable video among several is a result with an error.
Json video_result(Predictor& predictor, const VideoJob& job, bool alone,
                  const RunSettings& settings, const RunPace& pace) {
  try {
    return video_json(run_video(predictor, job, settings, pace));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Input || alone) throw;
    log::error("{}", error.what());
    return {{"error", error.what()}};
  }
}

/// All ranks, each its share.
void run_videos(Predictor& predictor, const std::vector<VideoJob>& jobs, RunSettings settings,
                const RunPace& pace, RunResult& result) {
  const engine::RankJobs share(std::ssize(jobs));
  if (!dist::world().is_first()) settings.progress = ProgressStyle::Silent;
  std::vector<Json> mine;
  for (const auto& job : share.pick(jobs)) {
    if (result.stopped) break;
    mine.push_back(video_result(predictor, job, jobs.size() == 1, settings, pace));
    result.stopped = mine.back().value("stopped", false);
  }
  const auto results = share.collect(std::move(mine));
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto& video = results[i];
    result.stopped = result.stopped || video.is_null();
    if (video.is_null()) continue;
    const std::string error = video["error"];
    if (video.contains("frames")) {
      const VideoDone done{video["frames"], video["seconds"], video["stopped"], error};
      result.stopped = result.stopped || done.stopped;
      result.videos.push_back({jobs[i], done});
    }
    if (!error.empty()) result.failed.push_back({jobs[i].input, error});
  }
}

std::string video_line(const VideoResult& video) {
  const auto& done = video.done;
  return fmt::format("{}: {} frames, {:.1f} frames/s -> {}{}\n", video.job.input, done.frames,
                     static_cast<double>(done.frames) / std::max(done.seconds, 1e-9),
                     video.job.output.string(), done.stopped ? " (stopped)" : "");
}

std::string result_text(const RunResult& result, const RunSettings& settings) {
  std::string text;
  if (result.requested > 0) {
    const auto done = result.pictures.written + result.pictures.skipped;
    text += fmt::format("{} of {} pictures done; {} in {}\n", done, result.requested,
                        settings.overlay ? "maps and overlays" : "maps", settings.output.string());
  }
  for (const auto& video : result.videos) text += video_line(video);
  if (!result.failed.empty()) text += fmt::format("failed: {}\n", result.failed.size());
  for (const auto& failed : result.failed) text += fmt::format("  {}\n", failed.input);
  if (result.stopped && result.requested > 0) text += "stopped; --skip-existing continues\n";
  return text;
}

Json picture_json(const PictureResult& result) {
  Json json = {{"input", result.picture.string()}, {"map", result.map.string()}};
  if (!result.overlay.empty()) json["overlay"] = result.overlay.string();
  if (result.alpha_ignored) json["alpha_ignored"] = true;
  return json;
}

Json result_json(const RunResult& result, const RunSettings& settings) {
  auto json = json_document("run", 1);
  json["pictures"] = result.pictures.written;
  json["skipped"] = result.pictures.skipped;
  json["seconds"] = result.pictures.seconds;
  json["folder"] = settings.output.string();
  json["results"] = Json::array();
  for (const auto& done : result.pictures.results) json["results"].push_back(picture_json(done));
  json["videos"] = Json::array();
  for (const auto& [job, done] : result.videos) {
    json["videos"].push_back({{"input", job.input},
                              {"output", job.output.string()},
                              {"frames", done.frames},
                              {"seconds", done.seconds}});
  }
  json["left_out"] = Json::array();
  for (const auto& [file, why] : result.left_out) {
    json["left_out"].push_back({{"input", file.string()}, {"why", why}});
  }
  json["failed"] = Json::array();
  for (const auto& [input, error] : result.failed) {
    json["failed"].push_back({{"input", input}, {"error", error}});
  }
  json["stopped"] = result.stopped;
  return json;
}

engine::Outcome outcome_of(const RunResult& result, const RunSettings& settings) {
  engine::Outcome outcome;
  if (settings.output == "-") {  // standard output is the video
    for (const auto& video : result.videos) log::info("{}", video_line(video));
  } else {
    outcome.text = result_text(result, settings);
    outcome.json = result_json(result, settings);
  }
  if (!result.failed.empty()) outcome.code = ExitCode::Input;
  if (result.stopped) outcome.code = ExitCode::Interrupted;
  return outcome;
}

/// Transparent pixels have a colour too, which is what the network sees.
void note_ignored_alpha(const std::vector<PictureResult>& results) {
  std::size_t count = 0;
  std::string first;
  for (const auto& result : results) {
    if (result.alpha_ignored && count++ == 0) first = result.picture.string();
  }
  if (count == 0) return;
  log::info("transparency is ignored, in {} picture{} ({}{})", count, count == 1 ? "" : "s", first,
            count == 1 ? "" : ", ...");
}

engine::Outcome run_msinet(const engine::Request& request) {
  const auto settings = read_run_settings(request);
  const bool piped = std::ranges::find(request.inputs, "-") != request.inputs.end();
  if (piped || settings.output == "-") engine::require_one_process("a pipe");
  const auto jobs = list_run_jobs(request.inputs, settings);
  engine::Session session(request, plan::Mode::Run);
  const auto file = open_file(request, session);
  start_run_session(session, request, file.config, kRunBatch);
  const auto pace = pace_of(session.plan());
  log::info("{}: {} pictures, {} videos", file.config.name(), jobs.pictures.size(),
            jobs.videos.size());
  if (!jobs.left_out.empty()) log::info("{}", left_out_text(jobs.left_out));
  Predictor predictor(file, session.plan(), session.torch_device());
  RunResult result;
  result.requested = jobs.pictures.size();
  result.left_out = jobs.left_out;
  if (!jobs.pictures.empty()) {
    result.pictures = run_pictures(predictor, jobs.pictures, settings, pace);
    result.stopped = result.pictures.stopped;
    result.failed = result.pictures.failed;
    note_ignored_alpha(result.pictures.results);
    log::info("{:.1f} pictures/s", static_cast<double>(result.pictures.written) /
                                       std::max(result.pictures.seconds, 1e-9));
  }
  if (!jobs.videos.empty()) run_videos(predictor, jobs.videos, settings, pace, result);
  return outcome_of(result, settings);
}

std::vector<engine::Option> run_options() {
  return {
      {"--dataset", "dataset", "NAME", "selects weights in a folder of named weights"},
      {"--format", "format", "NAME", "of maps: png, png16, npy (f32, 0 to 1) or jpeg"},
      {"--overlay,!--no-overlay", "overlay", "", "pictures with the map (on)"},
      {"--palette", "palette", "NAME", "inferno, viridis, jet or grey"},
      {"--alpha", "alpha", "X", "opacity of the overlay, 0 to 1 (0.6)"},
      {"--contours", "contours", "LEVELS", "lines at these shares: 0.5,0.8"},
      {"--peaks", "peaks", "N", "mark the first N predicted fixations"},
      {"--top", "top", "N", "list the first N in fixations.csv: x, y, share of attention"},
      {"--boxes", "boxes", "FILE", "CSV name,x,y,w,h: share of attention of each"},
      {"--skip-existing", "skip_existing", "", "leave pictures alone that are done"},
      {"--max-pixels", "max_pixels", "N", "refuse larger pictures and frames (134217728)"},
      {"--what", "what", "VIEW", "of a video: overlay, map or both side by side"},
      {"--smooth", "smooth", "SECONDS", "maps of a video fade to 1/e in this time (0.15; 0: off)"},
      {"--sequence", "sequence", "", "a folder is a video, each picture a frame"},
      {"--fps", "fps", "X", "frames per second of a sequence (25)"},
  };
}

}  // namespace

engine::Command run_command() {
  return {
      .verb = "run",
      .summary = "saliency maps and overlays of pictures and videos, at their own sizes",
      .inputs = "PICTURE|FOLDER|VIDEO|-...",
      .needs_model = true,
      .options = run_options(),
      .examples = {{"ubique run msinet photos/ --model best -o saliency --peaks 3",
                    "a folder with its subfolders"},
                   {"ubique run msinet page.png --model best --boxes areas.csv",
                    "which part of a page gets how much attention"},
                   {"ubique run msinet clip.mp4 --model best -o seen.mp4",
                    "a video, through the program ffmpeg"},
                   {"ffmpeg -i clip.mp4 -f yuv4mpegpipe - | ubique run msinet - --model best -o - "
                    "| ffplay -",
                    "the same as a pipe"}},
      .run = run_msinet};
}

}  // namespace ubique::msinet
