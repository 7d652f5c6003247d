// SPDX-License-Identifier: Apache-2.0
// `ubique run meshnet`: label maps of scans, a whole folder at once. A scan that cannot be read
// does not stop the others; the exit code says that some failed.
#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <iostream>
#include <optional>
#include <set>

#include "ubique/base/files/file.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/terminal/table.h"
#include "ubique/base/text/csv.h"
#include "ubique/base/text/text.h"
#include "ubique/data/scans/volume/scan_name.h"
#include "ubique/models/meshnet/commands/commands.h"
#include "ubique/models/meshnet/use/overlay.h"
#include "ubique/models/meshnet/use/scan_segmenter.h"

namespace ubique::meshnet {
namespace {

namespace fs = std::filesystem;

enum class Space { Native, Conformed, Both };

struct RunSettings {
  SegmentOptions segment;
  Space space = Space::Native;
  bool overlay = true, skip_existing = false;
  std::int64_t volume = -1;
  fs::path output;
  ProgressStyle progress = ProgressStyle::Lines;
};

/// One scan to do, with the name that its results get.
struct Job {
  fs::path scan;
  std::string name;
};

/// What became of it.
struct Done {
  std::string name;
  fs::path labels;
  std::vector<LabelVolume> volumes;
  std::string error;  ///< empty: all well
  bool skipped = false;
};

Space parse_space(const std::string& text) {
  if (text == "native") return Space::Native;
  if (text == "conformed") return Space::Conformed;
  check(text == "both", ErrorKind::Usage,
        "[meshnet.run] unknown space; got '{}', expected native, conformed or both.", text);
  return Space::Both;
}

RunSettings read_run_settings(const engine::Request& request) {
  const auto& config = request.config;
  RunSettings settings;
  settings.space = parse_space(config.get<std::string>("space", "native"));
  settings.segment.native = settings.space != Space::Conformed;
  settings.segment.probabilities = config.get("probabilities", false);
  settings.segment.components =
      data::parse_component_policy(config.get<std::string>("components", "none"));
  settings.overlay = config.get("overlay", true);
  settings.skip_existing = config.get("skip_existing", false);
  if (const auto volume = config.find<std::int64_t>("volume")) {
    check(*volume >= 0, ErrorKind::Usage,
          "[meshnet.run] no such volume; got number {}, expected 0 for the first one.", *volume);
    settings.volume = *volume;
  }
  settings.output = request.output.empty() ? fs::path("segmentations") : request.output;
  settings.progress = request.progress;
  return settings;
}

/// Files as given, and every scan in the folders given; each once.
std::vector<fs::path> list_scans(const std::vector<std::string>& inputs) {
  std::vector<fs::path> scans;
  std::set<fs::path> seen;
  const auto add = [&](const fs::path& scan) {
    std::error_code ignored;
    if (seen.insert(fs::weakly_canonical(scan, ignored)).second) scans.push_back(scan);
  };
  for (const fs::path input : inputs) {
    if (!fs::is_directory(input)) {
      add(input);
      continue;
    }
    const auto found = data::scans_in(input);
    check(!found.empty(), ErrorKind::Input,
          "[meshnet.run] no scan in that folder; got {}, expected .nii or .nii.gz files.",
          input.string());
    for (const auto& scan : found) add(scan);
  }
  return scans;
}

/// Results are named after the scans; where two have one name, their folders come in front.
std::vector<Job> name_jobs(const std::vector<fs::path>& scans) {
  std::vector<Job> jobs;
  std::multiset<std::string> stems;
  for (const auto& scan : scans) stems.insert(data::scan_stem(scan));
  std::set<std::string> taken;
  for (const auto& scan : scans) {
    auto name = data::scan_stem(scan);
    if (stems.count(name) > 1) {
      name = fs::absolute(scan).parent_path().filename().string() + "_" + name;
    }
    const auto base = name;
    for (int number = 2; !taken.insert(name).second; ++number) {
      name = fmt::format("{}_{}", base, number);
    }
    jobs.push_back({scan, name});
  }
  return jobs;
}

fs::path result_path(const RunSettings& settings, const Job& job, const std::string& suffix) {
  return settings.output / (job.name + suffix);
}

fs::path labels_path(const RunSettings& settings, const Job& job) {
  return result_path(settings, job,
                     settings.segment.native ? "_labels.nii.gz" : "_labels_conformed.nii.gz");
}

void write_results(const RunSettings& settings, const Job& job, const MeshNetConfig& config,
                   const PreparedScan& prepared, const Segmentation& result) {
  const auto& header = prepared.scan.header;
  for (std::size_t c = 0; c < result.probabilities.size(); ++c) {
    const auto suffix = fmt::format("_probability-{}.nii.gz", c + 1);
    data::write_volume(result_path(settings, job, suffix), result.probabilities[c], header);
  }
  if (settings.overlay) {
    const OverlayOptions options{config.labels};
    io::write_png(result_path(settings, job, "_overlay.png"),
                  result.native ? draw_overlay(prepared.scan.volume, *result.native, options)
                                : draw_overlay(prepared.input, result.conformed, options));
  }
  if (settings.space == Space::Both) {
    data::write_labels(result_path(settings, job, "_labels_conformed.nii.gz"), result.conformed,
                       header);
  }
  // Last: who finds it finds everything.
  data::write_labels(labels_path(settings, job), result.native ? *result.native : result.conformed,
                     header);
}

class Runner {
 public:
  Runner(const MeshNetFile& file, const engine::Session& session, RunSettings settings)
      : config_(file.config),
        settings_(std::move(settings)),
        threads_(std::max(1, session.plan.compute_threads.value)),
        segmenter_(file, segmenter_options(session.plan, session.device.torch_device), threads_) {}

  /// Reads the next scan while the network is busy with this one.
  std::vector<Done> run(const std::vector<Job>& jobs, const std::function<bool()>& stop) {
    Progress progress({.title = "segment",
                       .total = static_cast<std::int64_t>(jobs.size()),
                       .unit = "scans",
                       .style = settings_.progress},
                      std::cerr);
    std::vector<Done> done;
    auto next = prepare(jobs, 0);
    for (std::size_t i = 0; i < jobs.size() && !(stop && stop()); ++i) {
      auto current = std::move(next);
      next = prepare(jobs, i + 1);
      done.push_back(finish(jobs[i], current));
      progress.advance(1, jobs[i].name);
    }
    if (next.valid()) next.wait();
    progress.finish();
    return done;
  }

 private:
  bool is_done(const Job& job) const {
    return settings_.skip_existing && fs::exists(labels_path(settings_, job));
  }

  std::future<PreparedScan> prepare(const std::vector<Job>& jobs, std::size_t i) const {
    if (i >= jobs.size() || is_done(jobs[i])) return {};
    return std::async(std::launch::async, [this, job = jobs[i]] {
      return prepare_scan(data::read_scan(job.scan, settings_.volume, threads_),
                          config_.preprocessing, threads_);
    });
  }

  /// What cannot be read is a matter of this scan; what cannot be written ends the run.
  Done finish(const Job& job, std::future<PreparedScan>& prepared) {
    Done done{job.name, labels_path(settings_, job), {}, {}, !prepared.valid()};
    std::optional<PreparedScan> scan;
    Segmentation result;
    try {
      if (done.skipped) {
        done.volumes = measure_volumes(data::to_labels(data::read_scan(done.labels).volume),
                                       config_.labels, config_.classes);
        return done;
      }
      scan = prepared.get();
      result = segmenter_.segment(*scan, settings_.segment);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Input) throw;
      log::error("{}", error.what());
      done.error = error.what();
      return done;
    }
    write_results(settings_, job, config_, *scan, result);
    done.volumes = std::move(result.volumes);
    return done;
  }

  const MeshNetConfig config_;
  const RunSettings settings_;
  const int threads_;
  ScanSegmenter segmenter_;
};

constexpr const char* kVolumesHeader = "scan,label,name,voxels,mm3";

/// Rows of earlier runs into the same folder, without the scans of this one.
std::string rows_of_others(const fs::path& path, const std::vector<Done>& done) {
  if (!fs::exists(path)) return {};
  const auto lines = split(read_file(path), '\n');
  if (lines.front() != kVolumesHeader) return {};
  std::string kept;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const auto is_of = [&](const Done& row) {
      return lines[i].starts_with(csv_field(row.name) + ",");
    };
    if (!lines[i].empty() && std::none_of(done.begin(), done.end(), is_of)) kept += lines[i] + "\n";
  }
  return kept;
}

void write_volumes(const fs::path& path, const std::vector<Done>& done) {
  auto text = fmt::format("{}\n{}", kVolumesHeader, rows_of_others(path, done));
  for (const auto& row : done) {
    for (const auto& volume : row.volumes) {
      text += fmt::format("{},{},{},{},{:.3f}\n", csv_field(row.name), volume.label,
                          csv_field(volume.name), volume.voxels, volume.mm3);
    }
  }
  write_file(path, text);
}

Json done_json(const Done& done) {
  Json json = {{"scan", done.name},
               {"labels", done.error.empty() ? Json(done.labels.string()) : Json()},
               {"error", done.error.empty() ? Json() : Json(done.error)},
               {"skipped", done.skipped},
               {"volumes", Json::array()}};
  for (const auto& volume : done.volumes) {
    json["volumes"].push_back({{"label", volume.label},
                               {"name", volume.name},
                               {"voxels", volume.voxels},
                               {"mm3", volume.mm3}});
  }
  return json;
}

engine::Outcome run_outcome(const RunSettings& settings, const std::vector<Done>& done,
                            std::size_t asked) {
  engine::Outcome outcome;
  outcome.json = json_document("run", 1);
  outcome.json["scans"] = Json::array();
  Table table({"scan", "label", "volume", "result"});
  std::size_t failed = 0;
  for (const auto& row : done) {
    outcome.json["scans"].push_back(done_json(row));
    const auto result = !row.error.empty() ? "failed" : row.skipped ? "kept" : row.labels.string();
    if (!row.error.empty()) ++failed;
    if (row.volumes.empty()) table.add_row({row.name, "", "", result});
    for (const auto& volume : row.volumes) {
      const bool first = &volume == &row.volumes.front();
      table.add_row({first ? row.name : "", volume.name, fmt::format("{:.1f} ml", volume.mm3 / 1e3),
                     first ? result : ""});
    }
  }
  outcome.json["failed"] = failed;
  const auto well = done.size() - failed;
  outcome.text = fmt::format("{}\n{} of {} scans segmented", table.to_text(), well, asked);
  if (well > 0) {
    write_volumes(settings.output / "volumes.csv", done);
    outcome.text += fmt::format("; volumes in {}", (settings.output / "volumes.csv").string());
  }
  if (done.size() < asked) outcome.text += "; stopped, --skip-existing goes on";
  outcome.text += "\n";
  if (failed > 0) outcome.code = ExitCode::Input;
  if (done.size() < asked) outcome.code = ExitCode::Interrupted;
  return outcome;
}

engine::Outcome run_meshnet(const engine::Request& request) {
  const auto settings = read_run_settings(request);
  const auto file = open_file(request.model);
  const auto session = open_run_session(file.config, request);
  const auto jobs = name_jobs(list_scans(request.inputs));
  log::info("{} on {}, {}, {} scan{}", file.config.name(), session.device.facts.label(),
            to_string(session.plan.dtype.value), jobs.size(), jobs.size() == 1 ? "" : "s");
  make_folder(settings.output);
  Runner runner(file, session, settings);
  const auto done = runner.run(jobs, request.stop_requested);
  return run_outcome(settings, done, jobs.size());
}

}  // namespace

engine::Command run_command() {
  return {
      .verb = "run",
      .summary = "segment scans: label maps in each scan's own space, volumes in a table",
      .inputs = "SCAN...",
      .needs_model = true,
      .options = {{"--space", "space", "NAME", "grid of the labels: native, conformed or both"},
                  {"--components", "components", "POLICY", "none, largest or min-size:MM3"},
                  {"--probabilities", "probabilities", "", "also probability maps, one per label"},
                  {"--overlay,!--no-overlay", "overlay", "", "pictures in three planes (on)"},
                  {"--skip-existing", "skip_existing", "", "leave scans alone that have labels"},
                  {"--volume", "volume", "N", "which volume of a 4D file"}},
      .examples = {{"ubique run meshnet scans/ --model runs/lesion/checkpoints/best -o out",
                    "a folder of scans with a network trained here"},
                   {"ubique run meshnet head.nii.gz --model brainchop/models/model5_gw_ae",
                    "one scan with a BrainChop model"},
                   {"ubique run meshnet scans/ --model net.pt --components min-size:50 --json",
                    "small islands removed, results for a program"}},
      .run = run_meshnet};
}

}  // namespace ubique::meshnet
