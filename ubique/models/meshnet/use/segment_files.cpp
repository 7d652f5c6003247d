// SPDX-License-Identifier: Apache-2.0
// Reads the next scan while the network runs, and writes the results.
#include "ubique/models/meshnet/use/segment_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <optional>

#include "ubique/base/terminal/log.h"
#include "ubique/base/text/json.h"
#include "ubique/device/runtime.h"
#include "ubique/engine/ranks/rank_jobs.h"
#include "ubique/engine/ranks/rank_progress.h"
#include "ubique/models/meshnet/use/overlay.h"

namespace ubique::meshnet {
namespace {

namespace fs = std::filesystem;

fs::path result_path(const SegmentFilesOptions& options, const SegmentJob& job,
                     const std::string& suffix) {
  return options.output / (job.name + suffix);
}

fs::path labels_path(const SegmentFilesOptions& options, const SegmentJob& job) {
  return result_path(
      options, job,
      fmt::format("{}.nii.gz", options.segment.native ? kLabelsSuffix : kConformedSuffix));
}

void write_results(const SegmentFilesOptions& options, const SegmentJob& job,
                   const MeshNetConfig& config, const PreparedScan& prepared,
                   const Segmentation& result) {
  auto header = prepared.scan.header;
  header.intent_name = kResultMark;
  for (std::size_t c = 0; c < result.probabilities.size(); ++c) {
    const auto suffix = fmt::format("{}{}.nii.gz", kProbabilitySuffix, c + 1);
    data::write_volume(result_path(options, job, suffix), result.probabilities[c], header);
  }
  if (options.overlay) {
    const OverlayOptions colours{config.labels};
    io::write_png(result_path(options, job, "_overlay.png"),
                  result.native ? draw_overlay(prepared.scan.volume, *result.native, colours)
                                : draw_overlay(prepared.input, result.conformed, colours));
  }
  if (options.space == LabelSpace::Both) {
    data::write_labels(result_path(options, job, fmt::format("{}.nii.gz", kConformedSuffix)),
                       result.conformed, header);
  }
  // Written last: its presence marks a complete result (--skip-existing relies on it).
  data::write_labels(labels_path(options, job), result.native ? *result.native : result.conformed,
                     header);
}

/// What a person should know before trusting the labels.
std::vector<std::string> doubts_about(const data::Scan& scan) {
  std::vector<std::string> doubts;
  const auto [least, most] = std::ranges::minmax(scan.volume.values);
  if (least == most) {
    doubts.push_back(fmt::format(
        "[meshnet.run] {} has one value only; got {:g} everywhere. Its labels mean nothing.",
        scan.name, least));
  }
  if (scan.header.affine_source == io::AffineSource::Spacing) {
    doubts.push_back(
        fmt::format("[meshnet.run] {} does not say how it is oriented; got neither sform nor "
                    "qform, taken as LAS: the first axis runs from right to left, the second from "
                    "back to front, the third from below to above.",
                    scan.name));
  }
  return doubts;
}

Json to_json(const SegmentedFile& done) {
  Json volumes = Json::array();
  for (const auto& volume : done.volumes) {
    volumes.push_back({volume.label, volume.name, volume.voxels, volume.mm3});
  }
  return {{"name", done.name},   {"labels", done.labels.string()}, {"volumes", volumes},
          {"error", done.error}, {"warnings", done.warnings},      {"skipped", done.skipped}};
}

SegmentedFile from_json(const Json& json) {
  SegmentedFile done{.name = json["name"], .labels = json["labels"].get<std::string>()};
  for (const auto& volume : json["volumes"]) {
    done.volumes.push_back({volume[0], volume[1], volume[2], volume[3]});
  }
  done.error = json["error"];
  done.warnings = json["warnings"].get<std::vector<std::string>>();
  done.skipped = json["skipped"];
  return done;
}

std::vector<std::string> scan_names(const std::vector<SegmentJob>& jobs) {
  std::vector<std::string> names;
  for (const auto& job : jobs) names.push_back(job.scan.string());
  return names;
}

class FileSegmenter {
 public:
  FileSegmenter(const MeshNetFile& file, const engine::Session& session,
                SegmentFilesOptions options)
      : config_(file.config),
        options_(std::move(options)),
        threads_(std::max(1, session.plan().compute_threads.value)),
        segmenter_(file, segmenter_options(session.plan(), session.torch_device()), threads_) {}

  /// Reads the next scan while the network runs on this one.
  std::vector<Json> run(const std::vector<SegmentJob>& jobs, engine::RankProgress& progress,
                        const std::function<bool()>& stop) {
    std::vector<Json> done;
    auto next = prepare(jobs, 0);
    for (std::size_t i = 0; i < jobs.size() && !(stop && stop()); ++i) {
      auto current = std::move(next);
      next = prepare(jobs, i + 1);
      done.push_back(to_json(finish(jobs[i], current)));
      progress.advance(1, jobs[i].name);
    }
    if (next.valid()) next.wait();
    progress.finish();
    return done;
  }

 private:
  bool is_done(const SegmentJob& job) const {
    return options_.skip_existing && fs::exists(labels_path(options_, job));
  }

  std::future<PreparedScan> prepare(const std::vector<SegmentJob>& jobs, std::size_t i) const {
    if (i >= jobs.size() || is_done(jobs[i])) return {};
    return std::async(std::launch::async, [this, job = jobs[i]] {
      return prepare_scan(data::read_scan(job.scan, options_.volume, threads_),
                          config_.preprocessing, threads_);
    });
  }

  /// What fails for this scan alone becomes its result; an error while writing ends the run.
  SegmentedFile finish(const SegmentJob& job, std::future<PreparedScan>& prepared) {
    SegmentedFile done{
        .name = job.name, .labels = labels_path(options_, job), .skipped = !prepared.valid()};
    std::optional<PreparedScan> scan;
    Segmentation result;
    try {
      if (done.skipped) {
        done.volumes = measure_volumes(data::to_labels(data::read_scan(done.labels).volume),
                                       config_.labels, config_.classes);
        return done;
      }
      scan = prepared.get();
      done.warnings = doubts_about(scan->scan);
      for (const auto& warning : done.warnings) log::warn("{}", warning);
      result = segmenter_.segment(*scan, options_.segment);
    } catch (const std::exception& error) {
      const auto failure = failure_of_one_scan(error, job.scan);
      if (!failure) throw;
      log::error("{}", *failure);
      done.error = *failure;
      return done;
    }
    write_results(options_, job, config_, *scan, result);
    done.volumes = std::move(result.volumes);
    return done;
  }

  const MeshNetConfig config_;
  const SegmentFilesOptions options_;
  const int threads_;
  ScanSegmenter segmenter_;
};

}  // namespace

std::optional<std::string> failure_of_one_scan(const std::exception& error, const fs::path& scan) {
  const auto* own = dynamic_cast<const Error*>(&error);
  if (own != nullptr && own->kind() == ErrorKind::Input) return own->what();
  // A large scan may need more than there is, and the next one less.
  if (own != nullptr || !device::is_out_of_memory(error)) return std::nullopt;
  return fmt::format("[meshnet.run] memory ran out for {}; resample or crop it, or free memory.",
                     scan.string());
}

std::vector<SegmentedFile> segment_files(const MeshNetFile& file, const engine::Session& session,
                                         const std::vector<SegmentJob>& jobs,
                                         const SegmentFilesOptions& options,
                                         const std::function<bool()>& stop) {
  const engine::RankJobs share(std::ssize(jobs), scan_names(jobs));
  engine::RankProgress progress(
      {.title = "segment", .total = std::ssize(jobs), .unit = "scans", .style = options.progress});
  FileSegmenter segmenter(file, session, options);
  std::vector<SegmentedFile> done;
  for (const auto& result : share.collect(segmenter.run(share.pick(jobs), progress, stop))) {
    if (!result.is_null()) done.push_back(from_json(result));
  }
  return done;
}

}  // namespace ubique::meshnet
