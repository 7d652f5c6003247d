// SPDX-License-Identifier: Apache-2.0
// Building a task from a request, validation and previews.
#include "ubique/models/acestep/train/task.h"

#include <ATen/ATen.h>

#include "ubique/base/error.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"
#include "ubique/data/music/prompt.h"
#include "ubique/engine/walk/open_model.h"
#include "ubique/models/acestep/data/prepare.h"
#include "ubique/models/acestep/files/adapters/adapter_file.h"
#include "ubique/models/acestep/files/open.h"
#include "ubique/models/acestep/score/flow_scores.h"

namespace ubique::acestep {
namespace {

namespace fs = std::filesystem;

/// Latents and token ids mean nothing to another autoencoder and another vocabulary.
void check_data(const data::MusicSet& set, const ModelFolder& folder) {
  const auto& header = set.header();
  const auto codec = codec_digest(folder);
  check(
      header.codec == codec, ErrorKind::Input,
      "[acestep.train] {} was prepared with another autoencoder than the model's; got {}, expected "
      "{}. Prepare it again with --model of this model.",
      set.folder().string(), header.codec, codec);
  const auto vocabulary = folder.networks.transformer.lyric.vocabulary;
  for (const auto& clip : set.clips()) {
    for (const auto id : clip.lyric_ids) {
      check(id < vocabulary, ErrorKind::Input,
            "[acestep.train] the lyrics of '{}' have token {}, the model knows {} tokens. Prepare "
            "the data again with --model of this model.",
            printable(clip.key), id, vocabulary);
    }
  }
}

bool has_features(const SongDataset& songs) {
  for (const auto count : songs.clips_with_features()) {
    if (count > 0) return true;
  }
  return false;
}

/// Says once which of the losses towards audio encoders will be there.
void log_features(const SongDataset& songs, const SongDatasetOptions& options) {
  const auto counts = songs.clips_with_features();
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    parts.push_back(fmt::format("{} of {} songs for {}", counts[i], songs.clips().size(),
                                options.encoders[i].first));
  }
  const auto list = join(parts, ", ");
  if (has_features(songs)) {
    log::info("features of audio encoders: {}", list);
  } else {
    log::info("no features of audio encoders ({}): their losses are left out", list);
  }
}

void set_encoders(const DitConfig& config, SongDatasetOptions& options) {
  options.speaker_size = config.speaker_size;
  for (std::size_t i = 0; i < config.ssl_names.size(); ++i) {
    options.encoders.emplace_back(config.ssl_names[i], config.ssl_sizes[i]);
  }
}

std::unique_ptr<AcestepModel> open_checkpoint_model(const fs::path& path) {
  auto opened = engine::open_model(path, "acestep");
  auto* model = dynamic_cast<AcestepModel*>(opened.get());
  check(model != nullptr, ErrorKind::Internal, "[acestep.train] the model is of another family.");
  (void)opened.release();
  return std::unique_ptr<AcestepModel>(model);
}

void add_adapter(AcestepModel& model, const TrainSettings& settings) {
  check(model.adapter() == nullptr, ErrorKind::Usage,
        "[acestep.train] {} is an adapter's run; give its base as --model and the run as --adapter "
        "to train on, or --full after `ubique convert acestep {} --format merged -o FOLDER`.",
        settings.model, settings.model);
  auto options = *settings.adapter;
  std::optional<AdapterFile> start;
  if (!settings.start_adapter.empty()) {
    start = read_adapter(settings.start_adapter, settings.start_alpha);
    options = start->options;
    log::info("training goes on with the rank {}, alpha {} and layers of {}", options.rank,
              options.alpha, start->source);
  }
  model.add_adapter(options);
  model.initialize(Random(settings.recipe.seed));
  if (start) load_adapter(*model.adapter(), *start);
  model.quantize_base(settings.base_weights);
}

/// The model with what is trained of it, and its text encoder.
std::unique_ptr<AcestepModel> open_for_training(const TrainSettings& settings,
                                                const ModelPlace& place, bool projectors) {
  const bool lora = settings.adapter.has_value();
  std::unique_ptr<AcestepModel> model;
  if (place.checkpoint.empty()) {
    model =
        read_transformer(place.folder.path, {.as_stored = lora, .projectors = projectors || !lora});
  } else {
    model = open_checkpoint_model(place.checkpoint);
  }
  auto text = model->trains_text() ? model->text_encoder() : read_text_encoder(place.folder);
  if (settings.fresh) {  // sizes of the model, weights of the seed
    auto fresh =
        std::make_unique<AcestepModel>(std::make_shared<Dit>(model->dit().config()), model->base());
    fresh->set_origin(model->origin());
    model = std::move(fresh);
    if (settings.train_text) text = std::make_shared<Umt5>(text->config());
  }
  model->set_text_encoder(std::move(text), settings.train_text);
  if (lora) add_adapter(*model, settings);
  return model;
}

void set_options(AcestepModel& model, const TrainSettings& settings, const SongDataset& songs) {
  model.loss_options().ssl_coefficient = settings.ssl_coefficient;
  model.loss_options().original_padding = settings.original_padding;
  model.set_sample_size({.frames = songs.longest_frames(),
                         .context = songs.longest_context(),
                         .averaged = settings.recipe.ema_decay > 0,
                         .features = settings.ssl_coefficient > 0 && has_features(songs)});
}

/// What a person hears: the prompt of a clip that is held out, unless one is given.
PreviewSettings preview_of(PreviewSettings settings, const SongDataset& songs) {
  const auto& clip = songs.clips().front();
  if (settings.tags.empty()) {
    settings.tags = data::plain_prompt(clip.tags, clip.captions);
    if (settings.lyrics.empty()) settings.lyrics = clip.lyrics;
  }
  return settings;
}

}  // namespace

std::unique_ptr<engine::Task> make_acestep_task(const engine::Request& request) {
  TransformerTaskParts parts;
  auto& settings = parts.settings = read_train_settings(request);
  request.config.finish();
  const auto place = find_model(settings.model, settings.lyric_vocabulary);
  const auto set = std::make_shared<data::MusicSet>(settings.data);
  check_data(*set, place.folder);
  const auto& config = place.folder.networks.transformer;
  set_encoders(config, settings.dataset);
  const auto tokenizer =
      std::make_shared<const io::Tokenizer>(io::read_tokenizer(place.folder.tokenizer()));
  parts.training =
      std::make_unique<SongDataset>(set, data::kMusicTrain, tokenizer, settings.dataset);
  if (!set->clips_of(data::kMusicVal).empty()) {
    auto options = settings.dataset;
    options.encoders.clear();
    parts.validation = std::make_unique<SongDataset>(set, data::kMusicVal, tokenizer, options);
  }
  log_features(*parts.training, settings.dataset);
  const bool projectors = settings.ssl_coefficient > 0 && has_features(*parts.training);
  parts.model = open_for_training(settings, place, projectors);
  set_options(*parts.model, settings, *parts.training);
  if (settings.preview.on) {
    const auto& songs = parts.validation ? *parts.validation : *parts.training;
    parts.preview.emplace(place.folder, preview_of(settings.preview, songs), settings.recipe.seed);
  }
  log::info("{} songs for training, {} held out; {} is trained", parts.training->clips().size(),
            parts.validation ? std::to_string(parts.validation->clips().size()) : "none",
            settings.adapter
                ? fmt::format("an adapter of rank {}", parts.model->adapter_options().rank)
                : "the whole transformer");
  return std::make_unique<TransformerTask>(std::move(parts));
}

engine::Scores TransformerTask::score(std::int64_t most_clips) {
  preview_due_ = true;
  if (!parts_.validation) return {};
  auto& model = *parts_.model;
  return score_flow(model.dit(), *model.text_encoder(), *parts_.validation, most_clips).named();
}

void TransformerTask::epoch_closed(const engine::EpochRecord& record, const fs::path& folder) {
  if (!preview_due_ || !parts_.preview) return;
  preview_due_ = false;
  parts_.preview->make(*parts_.model, record.epoch, folder);
}

std::vector<engine::ReportSound> TransformerTask::sounds() {
  return parts_.preview ? parts_.preview->sounds() : std::vector<engine::ReportSound>();
}

std::vector<engine::ReportPicture> TransformerTask::pictures() {
  return parts_.preview ? parts_.preview->pictures() : std::vector<engine::ReportPicture>();
}

Json TransformerTask::provenance() const {
  return {{"songs", parts_.settings.data}, {"crop_seconds", parts_.settings.crop_seconds}};
}

}  // namespace ubique::acestep
