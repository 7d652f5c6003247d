// SPDX-License-Identifier: Apache-2.0
// `ubique run meshnet`: segments scans and sums up the results as a table, JSON and volumes.csv.
// The exit code says whether some scans failed.
#include <fmt/format.h>

#include <algorithm>

#include "ubique/base/files/file.h"
#include "ubique/base/files/output_path.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/terminal/table.h"
#include "ubique/base/text/csv.h"
#include "ubique/base/text/text.h"
#include "ubique/dist/world.h"
#include "ubique/models/meshnet/commands/commands.h"
#include "ubique/models/meshnet/use/open.h"
#include "ubique/models/meshnet/use/segment_files.h"

namespace ubique::meshnet {
namespace {

namespace fs = std::filesystem;

LabelSpace parse_space(const std::string& text) {
  if (text == "native") return LabelSpace::Native;
  if (text == "conformed") return LabelSpace::Conformed;
  check(text == "both", ErrorKind::Usage,
        "[meshnet.run] unknown space; got '{}', expected native, conformed or both.", text);
  return LabelSpace::Both;
}

SegmentFilesOptions read_run_settings(const engine::Request& request) {
  const auto& config = request.config;
  SegmentFilesOptions settings;
  settings.space = parse_space(config.get<std::string>("space", "native"));
  settings.segment.native = settings.space != LabelSpace::Conformed;
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

constexpr const char* kVolumesHeader = "scan,label,name,voxels,mm3";

/// Rows of volumes.csv from earlier runs, without the scans of this run.
std::string earlier_rows(const fs::path& path, const std::vector<SegmentedFile>& done) {
  if (!fs::exists(path)) return {};
  const auto lines = split(read_file(path), '\n');
  if (lines.front() != kVolumesHeader) return {};
  std::string kept;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const auto is_of = [&](const SegmentedFile& row) {
      return lines[i].starts_with(csv_field(row.name) + ",");
    };
    if (!lines[i].empty() && std::none_of(done.begin(), done.end(), is_of)) kept += lines[i] + "\n";
  }
  return kept;
}

void write_volumes(const fs::path& path, const std::vector<SegmentedFile>& done) {
  auto text = fmt::format("{}\n{}", kVolumesHeader, earlier_rows(path, done));
  for (const auto& row : done) {
    for (const auto& volume : row.volumes) {
      text += fmt::format("{},{},{},{},{:.3f}\n", csv_field(row.name), volume.label,
                          csv_field(volume.name), volume.voxels, volume.mm3);
    }
  }
  write_file(path, text);
}

Json done_json(const SegmentedFile& done) {
  Json json = {{"scan", done.name},
               {"labels", done.error.empty() ? Json(done.labels.string()) : Json()},
               {"error", done.error.empty() ? Json() : Json(done.error)},
               {"warnings", done.warnings},
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

engine::Outcome run_outcome(const SegmentFilesOptions& settings,
                            const std::vector<SegmentedFile>& done, std::size_t asked) {
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
  const auto succeeded = done.size() - failed;
  outcome.text = fmt::format("{}\n{} of {} scans segmented", table.to_text(), succeeded, asked);
  if (failed > 0) outcome.text += fmt::format(", {} failed", failed);
  if (succeeded > 0) {
    if (dist::world().is_first()) write_volumes(settings.output / "volumes.csv", done);
    outcome.text += fmt::format("; volumes in {}", (settings.output / "volumes.csv").string());
  }
  if (done.size() < asked) outcome.text += "; stopped, --skip-existing resumes";
  outcome.text += "\n";
  if (failed > 0) outcome.code = ExitCode::Input;
  if (done.size() < asked) outcome.code = ExitCode::Interrupted;
  return outcome;
}

engine::Outcome run_meshnet(const engine::Request& request) {
  const auto settings = read_run_settings(request);
  check_output_folder(settings.output);
  const auto file = open_file(request.model);
  const auto session = open_run_session(file.config, request);
  const auto jobs = segment_jobs(request.inputs);
  log::info("{}: {} scan{}", file.config.name(), jobs.size(), jobs.size() == 1 ? "" : "s");
  make_folder(settings.output);
  const auto done = segment_files(file, session, jobs, settings, request.stop_requested);
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
                  {"--skip-existing", "skip_existing", "", "skip scans that already have labels"},
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
