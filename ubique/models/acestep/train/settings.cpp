// SPDX-License-Identifier: Apache-2.0
// Options of `train acestep` and how they are read.
#include "ubique/models/acestep/train/settings.h"

#include <cmath>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"
#include "ubique/kernels/quant/quantized_weight.h"
#include "ubique/models/acestep/files/adapters/peft_config.h"
#include "ubique/models/acestep/use/sample.h"

namespace ubique::acestep {
namespace {

constexpr const char* kTrainTag = "acestep.train";

double number_in(const Config& config, const char* key, double fallback, double least,
                 double most) {
  const auto value = config.get(key, fallback);
  check(std::isfinite(value) && value >= least && value <= most, ErrorKind::Usage,
        "[{}] {}: {} is out of range; got {}, expected {} to {}.", kTrainTag, config.where(key),
        key, value, least, most);
  return value;
}

std::int64_t count_in(const Config& config, const char* key, std::int64_t fallback,
                      std::int64_t least, std::int64_t most) {
  const auto value = config.get(key, fallback);
  check(value >= least && value <= most, ErrorKind::Usage,
        "[{}] {}: {} is out of range; got {}, expected {} to {}.", kTrainTag, config.where(key),
        key, value, least, most);
  return value;
}

/// The original's optimizer; warm-up and a straight line to 0.
engine::Recipe default_recipe() {
  engine::Recipe recipe;
  recipe.epochs = 100;
  recipe.max_steps = 2000;
  recipe.optimizer.lr = 1e-4;
  recipe.optimizer.weight_decay = 1e-2;
  recipe.optimizer.beta1 = 0.8;
  recipe.optimizer.beta2 = 0.9;
  recipe.schedule.name = "linear";
  recipe.schedule.warmup_steps = 10;
  recipe.clip_norm = 0.5;
  recipe.validate_every = 10;
  recipe.watch = "loss";
  recipe.watch_higher = false;
  return recipe;
}

std::optional<AdapterOptions> read_adapter_options(const Config& config) {
  AdapterOptions options;
  if (const auto file = config.get("lora_config", std::string()); !file.empty()) {
    options = read_peft_config(file);
  }
  const bool full = config.get("full", false);
  const bool named = config.has("lora_rank") || config.has("lora_targets") ||
                     config.has("lora_config") || config.has("lora_alpha");
  options.rank = config.get("lora_rank", options.rank);
  options.alpha = config.get("lora_alpha", options.alpha);
  options.rank_stabilized = config.get("lora_rslora", options.rank_stabilized);
  options.dropout = config.get("lora_dropout", options.dropout);
  options.targets = config.get("lora_targets", options.targets);
  check(!full || !named, ErrorKind::Usage,
        "[{}] --full trains all weights, --lora-... an adapter; expected one of them.", kTrainTag);
  if (full) return std::nullopt;
  validate(options);
  return options;
}

SongDatasetOptions read_dataset_options(const Config& config) {
  SongDatasetOptions options;
  options.repeat = count_in(config, "repeat", options.repeat, 1, 1'000'000);
  options.drop_text = number_in(config, "drop_text", options.drop_text, 0, 1);
  options.drop_speaker = number_in(config, "drop_speaker", options.drop_speaker, 0, 1);
  options.drop_lyrics = number_in(config, "drop_lyrics", options.drop_lyrics, 0, 1);
  options.sigma_mean = number_in(config, "sigma_mean", options.sigma_mean, -10, 10);
  options.sigma_deviation = number_in(config, "sigma_deviation", options.sigma_deviation, 0, 10);
  options.shift = number_in(config, "shift", options.shift, 0.01, 100);
  return options;
}

PreviewSettings read_preview(const Config& config) {
  PreviewSettings preview;
  preview.on = config.get("preview", preview.on);
  preview.seconds = number_in(config, "preview_seconds", preview.seconds, 0.1, 60);
  preview.steps = count_in(config, "preview_steps", preview.steps, 1, 1000);
  preview.guidance = number_in(config, "preview_guidance", preview.guidance, 0, 200);
  preview.tags = config.get("preview_tags", std::string());
  preview.lyrics = config.get("preview_lyrics", std::string());
  return preview;
}

void read_weights_use(const Config& config, TrainSettings& settings) {
  settings.fresh = config.get("fresh", false);
  settings.train_text = config.get("train_text", false);
  settings.start_adapter = config.get("adapter", std::string());
  settings.start_alpha = config.find<double>("lora_alpha");
  settings.base_weights = config.get("base_weights", std::string());
  const bool lora = settings.adapter.has_value();
  check(!lora || (!settings.fresh && !settings.train_text), ErrorKind::Usage,
        "[{}] --fresh and --train-text are for --full: an adapter leaves the model as it is.",
        kTrainTag);
  check(lora || (settings.start_adapter.empty() && settings.base_weights.empty()), ErrorKind::Usage,
        "[{}] --adapter and --base-weights are for adapters; got --full.", kTrainTag);
  const auto& form = settings.base_weights;
  check(form.empty() || kernels::parse_quant_format(form), ErrorKind::Usage,
        "[{}] unknown --base-weights; got '{}', expected int8, int4 or nf4.", kTrainTag,
        printable(form));
}

}  // namespace

TrainSettings read_train_settings(const engine::Request& request) {
  const auto& config = request.config;
  TrainSettings settings;
  settings.data = config.get("data", std::string());
  check(!settings.data.empty(), ErrorKind::Usage,
        "[{}] which songs? give -d, a folder that `ubique data acestep prepare` made.", kTrainTag);
  settings.model = request.model;
  check(!settings.model.empty(), ErrorKind::Usage,
        "[{}] which model? give --model, the folder of ACE-Step or a run of ours.", kTrainTag);
  settings.lyric_vocabulary = config.get("lyric_vocabulary", std::string());
  settings.adapter = read_adapter_options(config);
  read_weights_use(config, settings);
  settings.recipe = engine::read_recipe(config, default_recipe());
  settings.dataset = read_dataset_options(config);
  settings.crop_seconds = number_in(config, "crop_seconds", 0, 0, 240);
  if (settings.crop_seconds > 0) {
    settings.dataset.crop_frames = std::max<std::int64_t>(1, frames_of(settings.crop_seconds));
  }
  settings.ssl_coefficient = number_in(config, "ssl_coefficient", 1, 0, 100);
  settings.original_padding = config.get("original_padding", false);
  if (settings.original_padding) settings.dataset.token_multiple = 1;
  settings.val_clips = count_in(config, "val_clips", settings.val_clips, 1, 1'000'000);
  settings.preview = read_preview(config);
  return settings;
}

std::vector<engine::Option> acestep_train_options() {
  const auto data = engine::in_group(
      engine::kDataGroup,
      {{"-d,--data,--data-dir", "data", "PATH", "folder of `ubique data acestep prepare`"},
       {"--repeat", "repeat", "N", "times that each song comes in an epoch (1)"},
       {"--crop-seconds", "crop_seconds", "X",
        "train on random stretches this long; 0 = whole (0)"},
       {"--drop-text", "drop_text", "X", "share of samples without tags (0.15)"},
       {"--drop-lyrics", "drop_lyrics", "X", "share of samples without lyrics (0.15)"},
       {"--drop-speaker", "drop_speaker", "X", "share of samples without speaker (0.5)"},
       {"--val-clips", "val_clips", "N", "held-out songs during the run; all at the end (32)"},
       {"--lyric-vocabulary", "lyric_vocabulary", "FILE",
        "vocabulary of lyrics, if it does not lie with the model"}});
  const auto weights = engine::in_group(
      engine::kModelGroup,
      {{"--full", "full", "", "train all weights instead of an adapter"},
       {"--fresh", "fresh", "", "with --full: begin with new weights of the model's sizes"},
       {"--train-text", "train_text", "", "with --full: the text encoder too"},
       {"--shift", "shift", "X", "moves noise levels upwards (3)"},
       {"--ssl-coefficient", "ssl_coefficient", "X",
        "weight of the losses towards audio encoders, where features are given (1)"},
       {"--original-padding", "original_padding", "",
        "padding changes results as in the original (off)"}});
  const auto lora = engine::in_group(
      "LoRA",
      {{"--lora-rank", "lora_rank", "N", "rank of the adapter (16)"},
       {"--lora-alpha", "lora_alpha", "X", "scale times rank (32)"},
       {"--lora-rslora", "lora_rslora", "", "scale by the root of the rank"},
       {"--lora-dropout", "lora_dropout", "X", "of the adapter's input (0)"},
       {"--lora-targets", "lora_targets", "NAMES", "layers by the end of their names"},
       {"--lora-config", "lora_config", "FILE", "rank, alpha and targets as a file of PEFT's form"},
       {"--adapter", "adapter", "PATH", "begin with the numbers of this adapter"},
       {"--base-weights", "base_weights", "FORM", "the frozen model in nf4, int8 or int4"}});
  const auto previews = engine::in_group(
      "Previews",
      {{"--preview,!--no-preview", "preview", "", "make a song at each validation (on)"},
       {"--preview-seconds", "preview_seconds", "X", "its length (5)"},
       {"--preview-steps", "preview_steps", "N", "its steps (20)"},
       {"--preview-guidance", "preview_guidance", "X", "its guidance scale (5)"},
       {"--preview-tags", "preview_tags", "TEXT", "its tags (those of a song of the data)"},
       {"--preview-lyrics", "preview_lyrics", "TEXT", "its lyrics"}});
  return engine::all_options({data, weights, lora, previews});
}

engine::Examples acestep_train_examples() {
  return {
      {"ubique train acestep --model ACE-Step-v1-3.5B -d data/mine -o runs/mine",
       "an adapter that knows the style of some songs"},
      {"ubique train acestep --model ACE-Step-v1-3.5B -d data/mine -o runs/mine --base-weights "
       "nf4 --crop-seconds 30",
       "the same in little memory"},
      {"ubique train acestep --model tiny -d data/synth -o runs/tiny --full --fresh --train-text "
       "--effective-batch 16 --lr 1e-3",
       "a small transformer from nothing"}};
}

}  // namespace ubique::acestep
