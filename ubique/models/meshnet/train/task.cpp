// SPDX-License-Identifier: Apache-2.0
// The recipe, the training options, and the task built from a request.
#include "ubique/models/meshnet/train/task.h"

#include <fmt/format.h>

#include <thread>

#include "ubique/base/terminal/log.h"
#include "ubique/engine/ranks/rank_jobs.h"
#include "ubique/models/meshnet/score/scoring.h"
#include "ubique/models/meshnet/use/open.h"
#include "ubique/models/meshnet/use/overlay.h"

namespace ubique::meshnet {
namespace {

constexpr std::int64_t kPictures = 2;

LossOptions read_loss(const Config& config, std::int64_t classes) {
  LossOptions loss;
  loss.label_smoothing = config.get("label_smoothing", 0.01);
  const double background = config.get("bg_weight", classes == 2 ? 0.5 : 1.0);
  check(background >= 0 && loss.label_smoothing >= 0 && loss.label_smoothing < 1, ErrorKind::Usage,
        "[meshnet.train] invalid loss options; got bg_weight {} and label_smoothing {}, expected "
        "at least 0, and a smoothing below 1.",
        background, loss.label_smoothing);
  loss.class_weights.assign(static_cast<std::size_t>(classes), 1.0);
  loss.class_weights.front() = background;
  return loss;
}

std::unique_ptr<MeshNetModel> start_model(const engine::Request& request,
                                          const MeshNetConfig& asked) {
  if (request.model.empty()) return std::make_unique<MeshNetModel>(asked);
  auto file = open_file(request.model);
  const bool asked_channels = request.config.find<std::int64_t>("channels").has_value();
  check(
      !asked_channels || file.config.channels == asked.channels, ErrorKind::Input,
      "[meshnet.train] the model to start from has another width; got {} channels in {}, expected "
      "{}. Leave out --channels.",
      file.config.channels, request.model, asked.channels);
  file.config.preprocessing = asked.preprocessing;
  file.config.dropout = asked.dropout;
  auto model = std::make_unique<MeshNetModel>(file);
  model->set_initialized();
  return model;
}

}  // namespace

engine::Recipe paper_recipe() {
  engine::Recipe recipe;
  recipe.epochs = 50;
  recipe.optimizer.name = "adamw";
  recipe.optimizer.lr = 1e-3;
  recipe.optimizer.weight_decay = 3e-5;
  recipe.optimizer.eps = 1e-4;
  recipe.schedule.name = "onecycle";
  recipe.schedule.warmup = 0.01;
  recipe.schedule.div_factor = 100;
  recipe.schedule.final_div_factor = 1e4;
  recipe.watch = "dice";
  return recipe;
}

std::vector<engine::Option> meshnet_train_options() {
  const auto data = engine::in_group(
      engine::kDataGroup,
      {{"--all-train", "all_train", "", "no validation: train on everything but the test fold"},
       {"--cache", "cache", "DIR", "where conformed scans are kept"},
       {"--cache-dtype", "cache_dtype", "DTYPE", "how they are kept: f16, f32 or u8"},
       {"--workers", "prefetch_threads", "N", "the same as --prefetch-threads"}});
  const auto model = engine::in_group(
      engine::kModelGroup,
      {{"--preset", "preset", "NAME", "meshnet-5, meshnet-16 or meshnet-26"},
       {"-c,--channels", "channels", "N", "channels of every layer (26)"},
       {"--classes", "classes", "N", "labels, background too (2)"},
       {"--labels", "labels", "NAMES", "what the classes are called: background,lesion"},
       {"--dilations", "dilations", "LIST", "one per layer: 1,2,4,8,16,16,8,4,2"},
       {"--activation", "activation", "NAME", "relu, elu, gelu or gelu_tanh"},
       {"--norm", "norm", "NAME", "batch, instance or none"},
       {"--dropout", "dropout", "P", "of whole channels (0)"}});
  const auto loss = engine::in_group(
      engine::kTrainingGroup,
      {{"--bg-weight", "bg_weight", "X", "weight of the background in the loss (0.5)"},
       {"--label-smoothing", "label_smoothing", "X", "share given to the other classes (0.01)"},
       {"--sync-batch-norm", "sync_batch_norm", "",
        "batch norm over what all processes compute at once, not each its own"}});
  return engine::all_options(
      {data_options(), fold_options(), data, preprocessing_options(), model, loss});
}

std::unique_ptr<MeshNetTask> make_task(const engine::Request& request) {
  const auto& config = request.config;
  const auto network = read_config(config);
  const auto settings = read_study_settings(config);
  TaskParts parts;
  parts.recipe = engine::read_recipe(config, paper_recipe());
  parts.model = start_model(request, network);
  const auto classes = parts.model->settings().classes;
  parts.model->set_loss(read_loss(config, classes));
  parts.model->set_sync_batch_norm(config.get("sync_batch_norm", false));
  const int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const auto cache = open_scan_cache(config, parts.model->settings(), threads);
  const bool all_train = config.get("all_train", false);
  config.finish();  // a mistyped key is named before data are read

  const auto study = open_study(settings, StudyUse::Folds);
  const auto outer_train = study.splits.train_of(static_cast<std::size_t>(settings.outer_fold));
  const auto fold = all_train ? data::InnerFold{outer_train, {}} : inner_fold(study, settings);
  auto used = fold.train;
  used.insert(used.end(), fold.val.begin(), fold.val.end());
  data::check_subjects(pick(study.cohort, used), cache->options().target);
  parts.training =
      std::make_unique<ScanDataset>(pick(study.cohort, fold.train), cache, parts.model->loss());
  if (!fold.val.empty()) {
    parts.validation =
        std::make_unique<ScanDataset>(pick(study.cohort, fold.val), cache, parts.model->loss());
  } else {
    parts.recipe.watch.clear();
  }
  parts.provenance = {{"data", parts.training->fingerprint()},
                      {"split_seed", study.splits.seed},
                      {"outer_fold", settings.outer_fold},
                      {"inner_fold", all_train ? Json() : Json(settings.inner_fold)}};
  log::info("{}: {} scans for training, {} for validation", parts.model->settings().name(),
            fold.train.size(), fold.val.size());
  return std::make_unique<MeshNetTask>(std::move(parts));
}

void MeshNetTask::check_resume(const Json& provenance) const {
  const auto then = provenance.value("split_seed", Json());  // older checkpoints do not say
  const auto now = parts_.provenance.value("split_seed", Json());
  check(then.is_null() || then == now, ErrorKind::Input,
        "[meshnet.resume] the run was trained on folds of another seed; got {}, expected {}. With "
        "other folds it would be validated and tested on scans that it has learned from. Resume "
        "with --split-seed {}.",
        json_text(now), json_text(then), json_text(then));
}

/// Segments a held-out scan: its score, and a picture of the first few.
Json MeshNetTask::validate_scan(ScanSegmenter& segmenter, std::int64_t index) const {
  const auto& config = parts_.model->settings();
  const auto entry = parts_.validation->scan(index);
  const auto image = entry.image();
  const auto truth = entry.mask(), labels = segmenter.label(image);
  SubjectScore score;
  score.id = parts_.validation->subject(index).id;
  score.classes = compare_labels(labels.values, truth.values, config.classes);
  Json result = {{"score", to_json(score)}};
  if (index >= kPictures) return result;
  const auto png = io::png_bytes(draw_overlay(image, labels, {config.labels}, &truth));
  result["caption"] = fmt::format("{}: prediction above, truth below, lesion Dice {:.3f}", score.id,
                                  score.lesion_dice());
  result["png"] = Json::binary({png.begin(), png.end()});
  return result;
}

engine::Scores MeshNetTask::validate() {
  if (parts_.validation == nullptr) return {};
  SegmenterOptions options;
  options.device = parts_.model->device();
  const auto file = parts_.model->file();
  ScanSegmenter segmenter(file, options, 1);
  pictures_.clear();
  std::vector<SubjectScore> scores;
  for (const auto& result : engine::share_jobs(parts_.validation->size(), [&](std::int64_t i) {
         return validate_scan(segmenter, i);
       })) {
    scores.push_back(read_subject_score(result["score"]));
    if (!result.contains("png")) continue;
    const auto& png = result["png"].get_binary();
    pictures_.push_back({result["caption"], {png.begin(), png.end()}});
  }
  return mean_scores(scores);
}

}  // namespace ubique::meshnet
