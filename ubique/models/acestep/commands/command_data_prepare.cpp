// SPDX-License-Identifier: Apache-2.0
// `ubique data acestep prepare`: a musician's folder as data to train on.
#include <fmt/format.h>

#include <iostream>

#include "ubique/base/error.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/printable.h"
#include "ubique/engine/session/session.h"
#include "ubique/models/acestep/commands/data_commands.h"
#include "ubique/models/acestep/data/prepare.h"
#include "ubique/models/acestep/data/sound_latents.h"
#include "ubique/models/acestep/files/open.h"
#include "ubique/probe/probes/operation.h"

namespace ubique::acestep {
namespace {

PrepareOptions read_prepare_options(const Config& config) {
  PrepareOptions options;
  options.most_seconds = config.get("most_seconds", options.most_seconds);
  options.val_share = config.get("val_share", options.val_share);
  options.seed =
      static_cast<std::uint64_t>(config.get("seed", static_cast<std::int64_t>(options.seed)));
  options.language = config.get("language", std::string());
  check(options.most_seconds >= kLeastSeconds && options.most_seconds <= kMostSeconds,
        ErrorKind::Usage, "[acestep.data] most_seconds is out of range; got {}, expected {} to {}.",
        options.most_seconds, kLeastSeconds, kMostSeconds);
  check(options.val_share >= 0 && options.val_share < 1, ErrorKind::Usage,
        "[acestep.data] val_share is out of range; got {}, expected at least 0, below 1.",
        options.val_share);
  check(
      options.language.empty() || data::find_lyric_language(options.language) != nullptr,
      ErrorKind::Usage,
      "[acestep.data] the language of the lyrics is unknown; got '{}', expected a code such as en.",
      printable(options.language, 40));
  return options;
}

/// The autoencoder on a minute of sound.
plan::Needs encoder_needs(const DcaeConfig& config) {
  constexpr std::int64_t kFrames = 645, kRows = 128, kAlive = 4;
  plan::Needs needs;
  needs.name = "acestep-encoder";
  needs.family = "acestep";
  needs.parameters = {{"autoencoder", nn::count_values(parameter_shapes(config)), false, 4}};
  needs.activations.largest = config.encoder.channels.front() * kRows * 8 * kFrames;
  needs.activations.run = kAlive * needs.activations.largest;
  needs.inputs = {{"spectrogram", {config.in_channels, kRows, 8 * kFrames}, DType::F32}};
  needs.convs = {{2, config.encoder.channels.front(), config.encoder.channels.front(), 3, 1, 0}};
  needs.fixed_shapes = false;
  return needs;
}

data::MusicSetHeader header_for(const ModelFolder& folder, const engine::Request& request,
                                const PrepareOptions& options) {
  data::MusicSetHeader header;
  header.codec = codec_digest(folder);
  header.vocabulary = file_digest(require_lyric_vocabulary(folder));
  header.channels = folder.networks.dcae.latent_channels;
  header.source = {{"songs", request.inputs}};
  header.options = {{"most_seconds", options.most_seconds},
                    {"val_share", options.val_share},
                    {"seed", options.seed},
                    {"language", options.language}};
  return header;
}

engine::Outcome prepare_outcome(const std::filesystem::path& folder, const PrepareResult& result) {
  std::int64_t held = 0;
  double seconds = 0;
  for (const auto& clip : result.clips) {
    held += clip.split == data::kMusicVal ? 1 : 0;
    seconds += clip.seconds;
  }
  engine::Outcome outcome;
  outcome.text = fmt::format("{} songs, {:.1f} minutes in {}: {} to train on, {} held out\n",
                             result.clips.size(), seconds / 60, folder.string(),
                             static_cast<std::int64_t>(result.clips.size()) - held, held);
  outcome.text += fmt::format("{} encoded now, {} were there already\n", result.encoded,
                              static_cast<std::int64_t>(result.clips.size()) - result.encoded);
  if (result.cut > 0) outcome.text += fmt::format("{} were cut, they are longer\n", result.cut);
  if (!result.skipped.empty()) {
    outcome.text += fmt::format("{} cannot be used:\n", result.skipped.size());
  }
  outcome.json = json_document("acestep_prepare", 1);
  outcome.json["folder"] = folder.string();
  outcome.json["songs"] = result.clips.size();
  outcome.json["held_out"] = held;
  outcome.json["seconds"] = seconds;
  outcome.json["encoded"] = result.encoded;
  outcome.json["cut"] = result.cut;
  outcome.json["skipped"] = Json::array();
  for (const auto& clip : result.skipped) {
    outcome.text += fmt::format("  {}: {}\n", printable(clip.name), printable(clip.why, 400));
    outcome.json["skipped"].push_back({{"name", clip.name}, {"why", clip.why}});
  }
  outcome.code = result.skipped.empty() ? ExitCode::Ok : ExitCode::Input;
  return outcome;
}

engine::Outcome prepare_songs(const engine::Request& request) {
  const auto& config = request.config;
  const auto options = read_prepare_options(config);
  const auto model = chosen_model(config);
  const auto vocabulary = config.get("lyric_vocabulary", std::string());
  engine::Session session(request, plan::Mode::Run);
  config.finish();
  check(request.inputs.size() == 1, ErrorKind::Usage,
        "[acestep.data] got {} folders, expected one: sound files with X_prompt.txt and "
        "X_lyrics.txt beside them, or a .jsonl file.",
        request.inputs.size());
  const auto place = find_model(model, vocabulary);
  const auto songs = data::read_music_clips(request.inputs.front());
  const auto folder = request.output.empty() ? std::filesystem::path("music-data") : request.output;
  const data::LyricTokenizer lyrics(require_lyric_vocabulary(place.folder));
  const data::MusicSetWriter writer(folder, header_for(place.folder, request, options));
  session.start(encoder_needs(place.folder.networks.dcae));
  Parts parts(place.folder, session.torch_device(), at::kFloat);
  MusicPreparer preparer(
      writer, codec_digest(place.folder), lyrics, [&]() -> const Dcae& { return parts.dcae(); },
      options);
  for (const auto& clip : songs.skipped) preparer.skip(clip);
  Progress progress({.title = "songs",
                     .total = static_cast<std::int64_t>(songs.clips.size()),
                     .unit = "songs",
                     .style = request.progress},
                    std::cerr);
  for (const auto& clip : songs.clips) {
    if (request.stop_requested && request.stop_requested()) {
      return {"stopped; what was encoded is kept, the same command goes on\n",
              json_document("acestep_prepare", 1), ExitCode::Interrupted};
    }
    preparer.add(clip);
    progress.advance(1, printable(clip.key, 40));
  }
  progress.finish();
  return prepare_outcome(folder, preparer.finish());
}

}  // namespace

engine::Command data_prepare_command() {
  return {.verb = "data",
          .name = "prepare",
          .summary = "encode songs with their tags and lyrics for training",
          .inputs = "FOLDER",
          .options = {{"--model,--checkpoint", "model", "PATH",
                       "whose autoencoder and vocabularies; else the newest run's"},
                      {"--lyric-vocabulary", "lyric_vocabulary", "FILE",
                       "ACE-Step's vocab.json, if it does not lie with the model"},
                      {"--val-share", "val_share", "SHARE", "share of songs held out (0.05)"},
                      {"--seed", "seed", "N", "the same seed holds out the same songs (42)"},
                      {"--language", "language", "CODE", "of all lyrics (guessed line by line)"},
                      {"--most-seconds", "most_seconds", "X", "longer songs are cut (240)"}},
          .examples = {{"ubique data acestep prepare songs -o data/mine --model ACE-Step-v1-3.5B",
                        "songs/a.mp3 with a_prompt.txt (tags) and a_lyrics.txt"},
                       {"ubique data acestep prepare rows.jsonl -o data/mine",
                        "rows with filename, tags, norm_lyrics, recaption"}},
          .run = prepare_songs};
}

}  // namespace ubique::acestep
