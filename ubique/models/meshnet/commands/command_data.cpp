// SPDX-License-Identifier: Apache-2.0
// `ubique data meshnet`: synthetic heads, splits, and scans conformed ahead of training.
#include <fmt/format.h>

#include <iostream>
#include <thread>

#include "ubique/base/files/file.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/terminal/table.h"
#include "ubique/base/text/text.h"
#include "ubique/data/scans/phantom/phantom.h"
#include "ubique/data/scans/study/splits_file.h"
#include "ubique/models/meshnet/commands/commands.h"
#include "ubique/models/meshnet/data/dataset.h"
#include "ubique/models/meshnet/data/study.h"

namespace ubique::meshnet {
namespace {

/// Thrown by the progress callback. Every head is a complete file, so stopping between two is safe.
struct SynthStopped {};

std::int64_t write_heads(const std::filesystem::path& folder, const data::PhantomOptions& options,
                         const engine::Request& request) {
  Progress progress(
      {.title = "heads", .total = options.count, .unit = "heads", .style = request.progress},
      std::cerr);
  std::int64_t written = 0;
  try {
    data::write_phantoms(folder, options, [&](std::int64_t done, std::int64_t) {
      progress.advance(done - written);
      written = done;
      if (request.stop_requested && request.stop_requested()) throw SynthStopped();
    });
  } catch (const SynthStopped&) {
    return written;
  }
  progress.finish();
  return options.count;
}

engine::Outcome synth(const engine::Request& request) {
  const auto& config = request.config;
  data::PhantomOptions options;
  options.count = config.get("count", options.count);
  options.seed = static_cast<std::uint64_t>(config.get<std::int64_t>("seed", 42));
  options.size = config.get("size", options.size);
  options.contrast = data::parse_contrast(config.get<std::string>("contrast", "t2"));
  options.threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  config.finish();
  const auto folder = request.output.empty() ? std::filesystem::path("heads") : request.output;
  const auto done = write_heads(folder, options, request);
  auto json = json_document("synth", 1);
  json["folder"] = folder.string();
  json["heads"] = done;
  json["seed"] = options.seed;
  json["shape"] = options.size;
  json["spacing"] = options.spacing();
  if (done < options.count) {
    return {fmt::format("stopped after {} of {} heads; the same command resumes\n", done,
                        options.count),
            json, ExitCode::Interrupted};
  }
  const auto text = fmt::format(
      "{} heads in {} (seed {})\ntrain on them: ubique train meshnet -d {} --shape {},{},{} "
      "--spacing {:g} -c 5\n",
      done, folder.string(), options.seed, folder.string(), options.size, options.size,
      options.size, options.spacing());
  return {text, json, ExitCode::Ok};
}

engine::Outcome make_splits(const engine::Request& request) {
  // Nothing but folds is drawn here, so that plain `seed` is theirs.
  const auto settings =
      read_study_settings(request.config, request.config.effective_name({"split_seed", "seed"}));
  request.config.finish();
  const auto path = request.output.empty() ? std::filesystem::path("splits.json") : request.output;
  check(!std::filesystem::exists(path), ErrorKind::Usage,
        "[meshnet.splits] {} exists already; expected a new name. Runs may depend on it.",
        path.string());
  const auto study = open_study(settings, StudyUse::Folds);
  data::write_splits(path, study.splits);
  Table table({"outer fold", "train", "test", "inner folds (train/val)"});
  for (std::size_t f = 0; f < study.splits.outer.size(); ++f) {
    std::vector<std::string> inner;
    for (const auto& fold : study.splits.outer[f].inner) {
      inner.push_back(fmt::format("{}/{}", fold.train.size(), fold.val.size()));
    }
    table.add_row({std::to_string(f), std::to_string(study.splits.train_of(f).size()),
                   std::to_string(study.splits.outer[f].test.size()), join(inner, ", ")});
  }
  auto json = json_document("splits", 1);
  json["path"] = path.string();
  json["subjects"] = study.cohort.subjects.size();
  json["outer_folds"] = study.splits.outer.size();
  json["seed"] = study.splits.seed;
  return {fmt::format("{} scans ({}), seed {}\n\n{}\nwritten to {}\n", study.cohort.subjects.size(),
                      study.cohort.source, study.splits.seed, table.to_text(), path.string()),
          json, ExitCode::Ok};
}

engine::Outcome prepare(const engine::Request& request) {
  const auto network = read_config(request.config);
  const auto settings = read_study_settings(request.config);
  const int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const auto cache = open_scan_cache(request.config, network, threads);
  request.config.finish();
  const auto study = open_study(settings, StudyUse::Scans);
  const auto total = static_cast<std::int64_t>(study.cohort.subjects.size());
  Progress progress(
      {.title = "prepare", .total = total, .unit = "scans", .style = request.progress}, std::cerr);
  std::int64_t ready = 0;
  std::vector<data::UnusableSubject> failed;
  bool stopped = false;
  for (const auto& subject : study.cohort.subjects) {
    stopped = request.stop_requested && request.stop_requested();
    if (stopped) break;
    try {
      data::require_mask(subject);
      cache->get(subject);
      ++ready;
    } catch (const data::UnusableScan& error) {
      log::error("{}", error.what());
      failed.push_back({subject.id, error.what()});
    }
    progress.advance(1, subject.id);
  }
  progress.finish();
  auto json = json_document("prepare", 1);
  json["scans"] = ready;
  json["cache"] = cache->folder().string();
  json["failed"] = unusable_json(failed);
  return {fmt::format("{} of {} scans ready in {}{}\n", ready, total, cache->folder().string(),
                      unusable_text(failed)),
          json,
          stopped          ? ExitCode::Interrupted
          : failed.empty() ? ExitCode::Ok
                           : ExitCode::Input};
}

}  // namespace

engine::Command synth_command() {
  return {.verb = "data",
          .name = "synth",
          .summary = "make synthetic heads with stroke lesions and masks from a seed",
          .needs_device = false,
          .options = {{"--count", "count", "N", "heads (24)"},
                      {"--size", "size", "N", "voxels along each axis, 16 to 512 (48)"},
                      {"--contrast", "contrast", "NAME", "t2 or t1"},
                      {"--seed", "seed", "N", "the same seed gives the same heads (42)"}},
          .examples = {{"ubique data meshnet synth -o heads --count 24 --size 48",
                        "images/, masks/, labels/ and dataset_info.json"}},
          .run = synth};
}

engine::Command splits_command() {
  auto options = data_options();
  for (auto& option : fold_options()) options.push_back(std::move(option));
  options.push_back({"--seed", "seed", "N", "the same as --split-seed"});
  return {.verb = "data",
          .name = "splits",
          .summary = "split a study into folds stratified by lesion size and acquisition",
          .needs_device = false,
          .options = std::move(options),
          .examples = {{"ubique data meshnet splits -d data/arc -o splits.json",
                        "the folds that training uses, in arc-meshchop's format"},
                       {"ubique data meshnet splits -d data/arc --seed 7 -o splits7.json",
                        "other folds, to see how much depends on them; train with --splits"}},
          .run = make_splits};
}

engine::Command prepare_command() {
  auto options = data_options();
  for (auto& option : preprocessing_options()) options.push_back(std::move(option));
  options.push_back({"--classes", "classes", "N", "labels, background too (2)"});
  options.push_back({"--cache", "cache", "DIR", "where conformed scans are kept"});
  options.push_back({"--cache-dtype", "cache_dtype", "DTYPE", "f16, f32 or u8"});
  return {.verb = "data",
          .name = "prepare",
          .summary = "conform every scan of a study now instead of in the first epoch",
          .needs_device = false,
          .options = std::move(options),
          .examples = {{"ubique data meshnet prepare -d data/arc", "fills the shared cache"}},
          .run = prepare};
}

}  // namespace ubique::meshnet
