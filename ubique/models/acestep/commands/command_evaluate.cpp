// SPDX-License-Identifier: Apache-2.0
// `ubique evaluate acestep`: how well a model recovers songs from noise, and what its codec loses.
#include <fmt/format.h>

#include "ubique/base/error.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/terminal/table.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/printable.h"
#include "ubique/engine/ranks/rank_jobs.h"
#include "ubique/engine/session/session.h"
#include "ubique/io/audio/audio_file.h"
#include "ubique/models/acestep/commands/data_commands.h"
#include "ubique/models/acestep/data/prepare.h"
#include "ubique/models/acestep/data/sound_latents.h"
#include "ubique/models/acestep/files/open.h"
#include "ubique/models/acestep/net/needs.h"
#include "ubique/models/acestep/score/codec_scores.h"
#include "ubique/models/acestep/score/flow_scores.h"
#include "ubique/models/acestep/use/sample.h"
#include "ubique/probe/probes/operation.h"

namespace ubique::acestep {
namespace {

struct CodecResult {
  CodecScores mean = {};
  std::int64_t clips = 0, missing = 0;
};

/// The five scores of a clip, or why it has none.
Json evaluate_clip(Parts& parts, const data::PreparedClip& clip, double seconds) {
  try {
    const auto sound = clip_sound(io::read_audio(clip.audio), seconds, clip.key);
    const auto scores = score_codec(parts.dcae(), parts.vocoder(), sound);
    return {{"scores",
             {scores.dcae_log_mel, scores.vocoder_log_mel, scores.vocoder_spectral,
              scores.chain_log_mel, scores.chain_spectral}}};
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Input) throw;
    const auto text = fmt::format("{}: {}", printable(clip.key), error.what());
    log::warn("{}", text);
    return {{"warnings", Json::array({text})}};
  }
}

/// All ranks: the beginnings of the songs' own sound files, where they are still there.
CodecResult evaluate_codec(Parts& parts, const std::vector<data::PreparedClip>& clips,
                           double seconds) {
  CodecResult result;
  for (const auto& clip : engine::share_jobs(std::ssize(clips), [&](std::int64_t i) {
         return evaluate_clip(parts, clips[static_cast<std::size_t>(i)], seconds);
       })) {
    if (!clip.contains("scores")) {
      ++result.missing;
      continue;
    }
    const auto& scores = clip["scores"];
    result.mean += CodecScores{scores[0], scores[1], scores[2], scores[3], scores[4]};
    ++result.clips;
  }
  if (result.clips > 0) result.mean = result.mean.divided(static_cast<double>(result.clips));
  return result;
}

void add_flow(engine::Outcome& outcome, const FlowScores& scores) {
  outcome.text = fmt::format("loss {:.5f} over {} songs\n", scores.loss, scores.clips);
  Table table({"noise level", "loss"});
  outcome.json["loss"] = scores.loss;
  outcome.json["songs"] = scores.clips;
  for (std::size_t i = 0; i < kScoreSigmas.size(); ++i) {
    table.add_row({fmt::format("{}", kScoreSigmas[i]), fmt::format("{:.5f}", scores.by_sigma[i])});
    outcome.json["levels"].push_back({{"sigma", kScoreSigmas[i]}, {"loss", scores.by_sigma[i]}});
  }
  outcome.text += table.to_text();
}

void add_codec(engine::Outcome& outcome, const CodecResult& result) {
  if (result.missing > 0) {
    outcome.text += fmt::format("{} sound files could not be read\n", result.missing);
    outcome.code = ExitCode::Input;
  }
  outcome.json["codec"] = {{"songs", result.clips}, {"missing", result.missing}};
  if (result.clips == 0) return;
  const auto& mean = result.mean;
  Table table({"codec", "log-mel L1", "spectral distance"});
  const auto number = [](double value) { return fmt::format("{:.4f}", value); };
  table.add_row({"autoencoder", number(mean.dcae_log_mel), ""});
  table.add_row({"vocoder", number(mean.vocoder_log_mel), number(mean.vocoder_spectral)});
  table.add_row({"both", number(mean.chain_log_mel), number(mean.chain_spectral)});
  outcome.text += "\n" + table.to_text();
  outcome.json["codec"].update({{"dcae_log_mel", mean.dcae_log_mel},
                                {"vocoder_log_mel", mean.vocoder_log_mel},
                                {"vocoder_spectral", mean.vocoder_spectral},
                                {"chain_log_mel", mean.chain_log_mel},
                                {"chain_spectral", mean.chain_spectral}});
}

SongSize longest_of(const SongDataset& songs) {
  return {.seconds = (static_cast<double>(songs.longest_frames()) + 0.5) *
                     static_cast<double>(kSamplesPerFrame) / kLatentSampleRate,
          .steps = 1,
          .branches = static_cast<std::int64_t>(kScoreSigmas.size()),
          .context = songs.longest_context()};
}

engine::Outcome evaluate_songs(const engine::Request& request) {
  const auto& config = request.config;
  const auto folder = config.get("data", std::string());
  const auto part = config.get("part", std::string(data::kMusicVal));
  const auto with_codec = config.get("codec", true);
  const auto seconds = config.get("codec_seconds", 10.0);
  const auto model = chosen_model(config);
  const auto vocabulary = config.get("lyric_vocabulary", std::string());
  engine::Session session(request, plan::Mode::Run);
  config.finish();
  check(!folder.empty(), ErrorKind::Usage,
        "[acestep.evaluate] which songs? give -d, a folder of `data acestep prepare`.");
  check(seconds >= kLeastSeconds && seconds <= kMostSeconds, ErrorKind::Usage,
        "[acestep.evaluate] codec_seconds is out of range; got {}, expected {} to {}.", seconds,
        kLeastSeconds, kMostSeconds);
  check(part == data::kMusicVal || part == data::kMusicTrain, ErrorKind::Usage,
        "[acestep.evaluate] unknown --part; got '{}', expected train or val.", printable(part));
  const auto place = find_model(model, vocabulary);
  const auto set = std::make_shared<data::MusicSet>(folder);
  check(set->header().codec == codec_digest(place.folder), ErrorKind::Input,
        "[acestep.evaluate] {} was prepared with another autoencoder than the model's. Prepare it "
        "again with --model of this model.",
        folder);
  const auto tokenizer =
      std::make_shared<const io::Tokenizer>(io::read_tokenizer(place.folder.tokenizer()));
  const SongDataset songs(set, part, tokenizer,
                          {.speaker_size = place.folder.networks.transformer.speaker_size});
  session.start(song_needs(place.folder.networks, longest_of(songs)));
  auto parts =
      open_parts(place, session.torch_device(), probe::to_torch(session.plan().dtype.value));
  engine::Outcome outcome;
  outcome.json = json_document("acestep_evaluate", 1);
  add_flow(outcome, score_flow(parts.transformer(), parts.text_encoder(), songs));
  parts.release(Part::Transformer);
  parts.release(Part::TextEncoder);
  if (with_codec) add_codec(outcome, evaluate_codec(parts, songs.clips(), seconds));
  return outcome;
}

}  // namespace

engine::Command evaluate_command() {
  return {
      .verb = "evaluate",
      .summary = "loss on held-out songs, and what the codec loses of them",
      .options = {{"--model,--checkpoint", "model", "PATH",
                   "folder, run or checkpoint; else the newest run"},
                  {"--lyric-vocabulary", "lyric_vocabulary", "FILE",
                   "ACE-Step's vocab.json, if it does not lie with the model"},
                  {"-d,--data,--data-dir", "data", "PATH", "folder of `data acestep prepare`"},
                  {"--part", "part", "NAME", "train or val (val)"},
                  {"--codec,!--no-codec", "codec", "", "score autoencoder and vocoder too (on)"},
                  {"--codec-seconds", "codec_seconds", "X", "of each song for that (10)"}},
      .examples = {{"ubique evaluate acestep --model runs/mine -d data/mine",
                    "the adapter of a run on the songs that were held out"}},
      .run = evaluate_songs};
}

}  // namespace ubique::acestep
