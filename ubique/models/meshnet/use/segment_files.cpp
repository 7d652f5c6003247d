// SPDX-License-Identifier: Apache-2.0
// Names the jobs, reads the next scan while the network runs, and writes the results.
#include "ubique/models/meshnet/use/segment_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <iostream>
#include <optional>
#include <set>

#include "ubique/base/terminal/log.h"
#include "ubique/data/scans/volume/scan_name.h"
#include "ubique/models/meshnet/use/overlay.h"

namespace ubique::meshnet {
namespace {

namespace fs = std::filesystem;

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

/// Results are named after the scans; scans of the same name are prefixed with their folder's.
std::vector<SegmentJob> name_jobs(const std::vector<fs::path>& scans) {
  std::vector<SegmentJob> jobs;
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

fs::path result_path(const SegmentFilesOptions& options, const SegmentJob& job,
                     const std::string& suffix) {
  return options.output / (job.name + suffix);
}

fs::path labels_path(const SegmentFilesOptions& options, const SegmentJob& job) {
  return result_path(options, job,
                     options.segment.native ? "_labels.nii.gz" : "_labels_conformed.nii.gz");
}

void write_results(const SegmentFilesOptions& options, const SegmentJob& job,
                   const MeshNetConfig& config, const PreparedScan& prepared,
                   const Segmentation& result) {
  const auto& header = prepared.scan.header;
  for (std::size_t c = 0; c < result.probabilities.size(); ++c) {
    const auto suffix = fmt::format("_probability-{}.nii.gz", c + 1);
    data::write_volume(result_path(options, job, suffix), result.probabilities[c], header);
  }
  if (options.overlay) {
    const OverlayOptions colours{config.labels};
    io::write_png(result_path(options, job, "_overlay.png"),
                  result.native ? draw_overlay(prepared.scan.volume, *result.native, colours)
                                : draw_overlay(prepared.input, result.conformed, colours));
  }
  if (options.space == LabelSpace::Both) {
    data::write_labels(result_path(options, job, "_labels_conformed.nii.gz"), result.conformed,
                       header);
  }
  // Written last: its presence marks a complete result (--skip-existing relies on it).
  data::write_labels(labels_path(options, job), result.native ? *result.native : result.conformed,
                     header);
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
  std::vector<SegmentedFile> run(const std::vector<SegmentJob>& jobs,
                                 const std::function<bool()>& stop) {
    Progress progress({.title = "segment",
                       .total = static_cast<std::int64_t>(jobs.size()),
                       .unit = "scans",
                       .style = options_.progress},
                      std::cerr);
    std::vector<SegmentedFile> done;
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

  /// An Input error becomes this scan's result; an error while writing ends the run.
  SegmentedFile finish(const SegmentJob& job, std::future<PreparedScan>& prepared) {
    SegmentedFile done{job.name, labels_path(options_, job), {}, {}, !prepared.valid()};
    std::optional<PreparedScan> scan;
    Segmentation result;
    try {
      if (done.skipped) {
        done.volumes = measure_volumes(data::to_labels(data::read_scan(done.labels).volume),
                                       config_.labels, config_.classes);
        return done;
      }
      scan = prepared.get();
      result = segmenter_.segment(*scan, options_.segment);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Input) throw;
      log::error("{}", error.what());
      done.error = error.what();
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

std::vector<SegmentJob> segment_jobs(const std::vector<std::string>& inputs) {
  return name_jobs(list_scans(inputs));
}

std::vector<SegmentedFile> segment_files(const MeshNetFile& file, const engine::Session& session,
                                         const std::vector<SegmentJob>& jobs,
                                         const SegmentFilesOptions& options,
                                         const std::function<bool()>& stop) {
  return FileSegmenter(file, session, options).run(jobs, stop);
}

}  // namespace ubique::meshnet
