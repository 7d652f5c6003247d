// SPDX-License-Identifier: Apache-2.0
// `ubique run acestep`: songs from tags and lyrics, and from other songs.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "ubique/base/terminal/log.h"
#include "ubique/base/terminal/table.h"
#include "ubique/base/text/json.h"
#include "ubique/dist/world.h"
#include "ubique/engine/ranks/rank_jobs.h"
#include "ubique/engine/session/session.h"
#include "ubique/models/acestep/commands/commands.h"
#include "ubique/models/acestep/commands/song_files.h"
#include "ubique/models/acestep/commands/song_options.h"
#include "ubique/models/acestep/files/open.h"
#include "ubique/models/acestep/files/presets.h"
#include "ubique/models/acestep/net/needs.h"
#include "ubique/models/acestep/use/sound/decode_choice.h"
#include "ubique/probe/probes/operation.h"

namespace ubique::acestep {
namespace {

engine::Outcome show_presets(const Config& config) {
  const auto presets = list_presets(config.get("presets", std::string()));
  config.finish();
  Table table({"preset", "kind", "label", "tags"});
  engine::Outcome outcome;
  outcome.json = json_document("acestep_presets", 1);
  outcome.json["presets"] = Json::array();
  for (const auto& preset : presets) {
    table.add_row({preset.id, preset.kind, preset.label, preset.tags});
    outcome.json["presets"].push_back(
        {{"id", preset.id}, {"kind", preset.kind}, {"label", preset.label}, {"tags", preset.tags}});
  }
  outcome.text = table.to_text();
  return outcome;
}

/// The progress bar of the stage that runs.
class StageBar {
 public:
  explicit StageBar(ProgressStyle style)
      : style_(dist::world().is_first() ? style : ProgressStyle::Silent) {}

  void show(const SongProgress& now) {
    if (!bar_ || now.stage != stage_) {
      bar_.reset();
      stage_ = now.stage;
      shown_ = 0;
      bar_ = std::make_unique<Progress>(
          Progress::Options{.title = std::string(to_string(now.stage)),
                            .total = now.total,
                            .unit = now.stage == SongStage::Diffusion ? "steps" : "parts",
                            .style = style_},
          std::cerr);
    }
    if (now.done > shown_) bar_->advance(now.done - shown_);
    shown_ = std::max(shown_, now.done);
    if (now.done == now.total) bar_->finish();
  }

 private:
  ProgressStyle style_;
  std::unique_ptr<Progress> bar_;
  SongStage stage_ = SongStage::Text;
  std::int64_t shown_ = 0;
};

/// What is said of a song whose files are written.
Json entry_of(const SongFiles& paths, double seconds, std::int64_t seed) {
  Json entry = {{"sound", paths.sound.string()},
                {"json", paths.json.string()},
                {"seconds", seconds},
                {"seed", seed}};
  if (!paths.picture.empty()) entry["picture"] = paths.picture.string();
  return entry;
}

/// `songs`: one for each variation, null if it was not made.
engine::Outcome outcome_of(const std::vector<Json>& songs, const SongRequest& song,
                           const SongResult& result) {
  engine::Outcome outcome;
  outcome.json = json_document("acestep_run", 1);
  outcome.json["songs"] = Json::array();
  for (const auto& entry : songs) {
    if (entry.is_null()) continue;
    outcome.text += fmt::format("{}: {:.2f} seconds, seed {}\n", entry["sound"].get<std::string>(),
                                entry["seconds"].get<double>(), entry["seed"].get<std::int64_t>());
    outcome.json["songs"].push_back(entry);
  }
  const auto made = outcome.json["songs"].size();
  const bool stopped = made < songs.size();
  outcome.json["timecosts"] = {{"preprocess", result.times.text},
                               {"diffusion", result.times.diffusion},
                               {"latent2audio", result.times.decoding}};
  outcome.json["stopped"] = stopped;
  if (stopped) {
    outcome.text += fmt::format("stopped; {} of {} songs made\n", made, song.variations);
    outcome.code = ExitCode::Interrupted;
  }
  log::debug("text {:.2f} s, diffusion {:.2f} s, decoding {:.2f} s", result.times.text,
             result.times.diffusion, result.times.decoding);
  return outcome;
}

SongSize size_of(const SongInputs& inputs, std::int64_t batch, const WeightFormat& weights) {
  const auto& request = inputs.request;
  const bool guided = request.guidance.is_on();
  return {.seconds = static_cast<double>(inputs.frames() * kSamplesPerFrame) / kLatentSampleRate,
          .steps = request.steps,
          .branches = batch * (guided ? (request.guidance.is_double() ? 3 : 2) : 1),
          .context = 1 + static_cast<std::int64_t>(inputs.prompt.text.size()) +
                     static_cast<std::int64_t>(inputs.prompt.lyrics.size()),
          .weights = weights};
}

/// 65536 where the plan says that longer convolutions must be cut; else no limit.
std::int64_t longest_convolution(const plan::Plan& plan) {
  constexpr std::int64_t kLimit = 65'536;
  const bool cut = std::ranges::any_of(
      plan.workarounds, [](const plan::Workaround& known) { return known.id == "tile_conv1d"; });
  return cut ? kLimit : 0;
}

engine::Outcome run_song(const engine::Request& request) {
  const auto& config = request.config;
  if (config.get("list_presets", false)) return show_presets(config);
  read_song_request(config);  // impossible values are named before a model is looked for
  const auto model = chosen_model(config);
  const auto vocabulary = config.get("lyric_vocabulary", std::string());
  const auto weights = read_weight_format(config);
  const auto opened = find_model(model, vocabulary);
  auto song = read_song_request(config, default_request(opened.folder.path));
  const SongWriter writer(request, song);
  engine::Session session(request, plan::Mode::Run);
  config.finish();
  const auto inputs = read_song_inputs(song, opened.folder);
  auto size = size_of(inputs, 1, weights);
  size.tile = decode_tile(session.device().facts);
  session.start(song_needs(opened.folder.networks, size));
  auto parts =
      open_parts(opened, session.torch_device(), probe::to_torch(session.plan().dtype.value));
  if (session.plan().memory_format.value == probe::Layout::ChannelsLast) parts.use_channels_last();
  if (halves_decoder(session.plan())) parts.use_half_decoder();
  if (weights) parts.keep_transformer_in(*weights);
  const engine::RankJobs share(song.variations);
  const SongOptions options{.batch = std::min(song.variations, session.plan().micro_batch.value),
                            .chosen = share.mine(),
                            .record = session.plan().graph_capture.value,
                            .tile = size.tile,
                            .longest_convolution = longest_convolution(session.plan())};
  SongRecord record{.model = model.string(),
                    .device = session.plan().device.value,
                    .dtype = std::string(to_string(session.plan().dtype.value))};
  StageBar bar(request.progress);
  std::vector<Json> written;
  SongHooks hooks;
  hooks.progress = [&](const SongProgress& now) { bar.show(now); };
  hooks.stop = request.stop_requested;
  hooks.finished = [&](const MadeSong& made) {
    record.times = made.times;
    written.push_back(entry_of(writer.write(made, inputs.request, record), made.audio.seconds(),
                               song.seed(made.variation)));
  };
  try {
    SongResult result;
    if (!options.chosen.empty()) result = make_song(inputs, parts, options, hooks);
    return outcome_of(share.collect(std::move(written)), song, result);
  } catch (const NotFinite& failure) {
    const auto replay = writer.write_replay(inputs.request, failure, record);
    throw Error(failure.kind(),
                fmt::format("{} The request is in {}.", failure.what(), replay.string()));
  }
}

}  // namespace

engine::Command run_command() {
  auto options = engine::in_group(
      engine::kModelGroup,
      {{"--model,--checkpoint", "model", "PATH", "folder, run or checkpoint; else the newest run"},
       {"--weights", "weights", "FORM",
        "the transformer in int8, int4 or nf4: less memory, less exact"},
       {"--lyric-vocabulary", "lyric_vocabulary", "FILE",
        "ACE-Step's vocab.json, if it does not lie with the model"}});
  return {
      .verb = "run",
      .summary = "make a song from tags and lyrics, or from another song",
      .options = engine::all_options({song_options(), options}),
      .examples = {{"ubique run acestep --tags 'funk, slap bass, 110 bpm' --seconds 30 -o a.wav",
                    "a song of half a minute, and a.json that makes it again"},
                   {"ubique run acestep --preset synthwave --lyrics-file words.txt -o a.mp3",
                    "a preset with words of your own"},
                   {"ubique run acestep --from a.json --task retake --variance 0.3 -o b.wav",
                    "nearly the same again"},
                   {"ubique run acestep --from a.json --task repaint --source a.wav --start 5 "
                    "--end 9 -o c.wav",
                    "four seconds of it anew"}},
      .run = run_song};
}

}  // namespace ubique::acestep
