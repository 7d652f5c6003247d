// SPDX-License-Identifier: Apache-2.0
// `ubique run msinet`: saliency maps and overlays of pictures, a whole folder at once. A picture
// that cannot be read does not stop the others; the exit code says that some failed.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <future>
#include <iostream>
#include <set>

#include "ubique/base/file.h"
#include "ubique/base/log.h"
#include "ubique/base/progress.h"
#include "ubique/data/images/image.h"
#include "ubique/io/image.h"
#include "ubique/models/msinet/attention.h"
#include "ubique/models/msinet/commands.h"
#include "ubique/models/msinet/heatmap.h"
#include "ubique/models/msinet/predictor.h"

namespace ubique::msinet {
namespace {

namespace fs = std::filesystem;

struct RunSettings {
  HeatmapStyle style;
  bool overlay = true, skip_existing = false;
  std::vector<AttentionBox> boxes;
  fs::path output;
};

/// A picture to do, and where its results go: subfolders are kept, so that names do not clash.
struct Job {
  fs::path picture, target;  // target without ending
};

/// A picture that has been read and brought into the frame.
struct Ready {
  io::Picture picture;
  at::Tensor image;  // (3, H, W)
};

RunSettings read_run_settings(const engine::Request& request) {
  const auto& config = request.config;
  RunSettings settings;
  settings.style.palette = parse_palette(config.get<std::string>("palette", "inferno"));
  settings.style.alpha = config.get("alpha", settings.style.alpha);
  settings.style.contours = config.get("contours", settings.style.contours);
  settings.style.peaks = static_cast<int>(config.get<std::int64_t>("peaks", 0));
  settings.overlay = config.get("overlay", true);
  settings.skip_existing = config.get("skip_existing", false);
  const auto boxes = config.get<std::string>("boxes", "");
  if (!boxes.empty()) settings.boxes = parse_boxes(read_file(boxes), boxes);
  settings.output = request.output.empty() ? fs::path("saliency") : request.output;
  return settings;
}

std::vector<Job> list_jobs(const std::vector<std::string>& inputs, const fs::path& output) {
  std::vector<Job> jobs;
  std::set<fs::path> taken;
  for (const fs::path input : inputs) {
    const auto found = data::images_in(input);
    check(!found.empty(), ErrorKind::Input,
          "[msinet.run] no picture there; got {}, expected .png or .jpg files.", input.string());
    for (const auto& picture : found) {
      const auto below =
          fs::is_directory(input) ? fs::relative(picture, input) : picture.filename();
      auto target = output / below.parent_path() / below.stem();
      for (int number = 2; !taken.insert(target).second; ++number) {
        target = output / below.parent_path() / fmt::format("{}_{}", below.stem().string(), number);
      }
      jobs.push_back({picture, target});
    }
  }
  return jobs;
}

fs::path with_ending(fs::path path, const char* ending) { return path += ending; }

class Runner {
 public:
  Runner(Predictor& predictor, RunSettings settings)
      : predictor_(predictor), settings_(std::move(settings)) {}

  /// Reads the next picture while the network is busy with this one.
  std::vector<std::pair<std::string, std::string>> run(const std::vector<Job>& jobs,
                                                       const engine::Request& request) {
    Progress progress({.title = "saliency",
                       .total = static_cast<std::int64_t>(jobs.size()),
                       .unit = "pictures",
                       .style = request.progress},
                      std::cerr);
    std::vector<std::pair<std::string, std::string>> failed;
    auto next = prepare(jobs, 0);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (request.stop_requested && request.stop_requested()) break;
      auto current = std::move(next);
      next = prepare(jobs, i + 1);
      const auto error = finish(jobs[i], current);
      if (!error.empty()) failed.emplace_back(jobs[i].picture.string(), error);
      ++done;
      progress.advance(1, jobs[i].picture.filename().string());
    }
    if (next.valid()) next.wait();
    progress.finish();
    if (!attention_.empty()) {
      write_file(settings_.output / "attention.csv", attention_csv_header() + attention_);
    }
    return failed;
  }

  std::size_t done = 0;

 private:
  std::future<Ready> prepare(const std::vector<Job>& jobs, std::size_t i) const {
    if (i >= jobs.size()) return {};
    if (settings_.skip_existing && fs::exists(with_ending(jobs[i].target, "_saliency.png"))) {
      return {};
    }
    return std::async(std::launch::async, [this, path = jobs[i].picture] {
      Ready ready{io::as_rgb(io::read_image(path)), {}};
      ready.image = predictor_.prepare(ready.picture, host_threads());
      return ready;
    });
  }

  /// The reason, where a picture could not be read.
  std::string finish(const Job& job, std::future<Ready>& current) {
    if (!current.valid()) return {};  // skipped
    Ready ready;
    try {
      ready = current.get();
    } catch (const Error& error) {
      log::error("{}", error.what());
      return error.what();
    }
    const data::FrameSize size{ready.picture.height, ready.picture.width};
    const auto map =
        predictor_.restore(predictor_.maps(ready.image.unsqueeze(0))[0], size, host_threads());
    write_results(job, ready.picture, map);
    return {};
  }

  void write_results(const Job& job, const io::Picture& picture, const data::Image& map) {
    make_folder(job.target.parent_path());
    const MeasuredMap<float> measured(map.values, map.width, map.height);
    if (settings_.overlay) {
      io::write_png(with_ending(job.target, "_overlay.png"),
                    draw_heatmap(picture, measured, settings_.style));
    }
    if (!settings_.boxes.empty()) {
      attention_ +=
          attention_csv_lines(job.picture.string(), attention_shares(measured, settings_.boxes));
    }
    // Last: who finds it finds everything.
    io::write_png(with_ending(job.target, "_saliency.png"), data::to_picture(map));
  }

  Predictor& predictor_;
  RunSettings settings_;
  std::string attention_;
};

engine::Outcome run_msinet(const engine::Request& request) {
  const auto settings = read_run_settings(request);
  const auto file = open_file(request);
  const auto session = open_run_session(file.config, request);
  const auto jobs = list_jobs(request.inputs, settings.output);
  log::info("{} on {}, {} pictures", file.config.name(), session.device.facts.label(), jobs.size());
  Predictor predictor(file, session.plan, session.device.torch_device);
  Runner runner(predictor, settings);
  const auto failed = runner.run(jobs, request);
  engine::Outcome outcome;
  outcome.json = json_document("run", 1);
  outcome.json["pictures"] = runner.done;
  outcome.json["folder"] = settings.output.string();
  outcome.json["failed"] = Json::array();
  for (const auto& [picture, error] : failed) {
    outcome.json["failed"].push_back({{"picture", picture}, {"error", error}});
  }
  outcome.text = fmt::format("{} of {} pictures done; maps and overlays in {}\n",
                             runner.done - failed.size(), jobs.size(), settings.output.string());
  if (!failed.empty()) outcome.code = ExitCode::Input;
  if (runner.done < jobs.size()) outcome.code = ExitCode::Interrupted;
  return outcome;
}

}  // namespace

engine::Command run_command() {
  return {
      .verb = "run",
      .summary = "saliency maps and overlays of pictures, at their own sizes",
      .inputs = "PICTURE...",
      .needs_model = true,
      .options = {{"--dataset", "dataset", "NAME", "which weights of a folder of them"},
                  {"--palette", "palette", "NAME", "inferno, viridis, jet or grey"},
                  {"--alpha", "alpha", "X", "opacity of the overlay, 0 to 1 (0.6)"},
                  {"--contours", "contours", "LEVELS", "lines at these shares: 0.5,0.8"},
                  {"--peaks", "peaks", "N", "mark the first N places that people look at"},
                  {"--boxes", "boxes", "FILE", "CSV name,x,y,w,h: share of attention of each"},
                  {"--overlay,!--no-overlay", "overlay", "", "pictures with the map (on)"},
                  {"--skip-existing", "skip_existing", "", "leave pictures alone that are done"}},
      .examples = {{"ubique run msinet photos/ --model best -o saliency --peaks 3",
                    "a folder with its subfolders"},
                   {"ubique run msinet page.png --model best --boxes areas.csv",
                    "which part of a page gets how much attention"}},
      .run = run_msinet};
}

}  // namespace ubique::msinet
