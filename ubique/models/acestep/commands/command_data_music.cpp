// SPDX-License-Identifier: Apache-2.0
// `ubique data acestep synth`, `new` and `analyse`: music to train on, a model to begin with, and
// what is heard in sounds.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/files/output_path.h"
#include "ubique/base/terminal/table.h"
#include "ubique/base/text/json.h"
#include "ubique/data/music/analysis.h"
#include "ubique/io/audio/audio_file.h"
#include "ubique/models/acestep/commands/music_commands.h"
#include "ubique/models/acestep/files/write_model.h"

namespace ubique::acestep {
namespace {

namespace fs = std::filesystem;

struct SynthSettings {
  data::MusicOptions music;
  std::int64_t count = 100;
  std::uint64_t seed = 42;
};

SynthSettings read_synth_settings(const Config& config) {
  SynthSettings settings;
  settings.count = config.get("count", settings.count);
  settings.seed = static_cast<std::uint64_t>(config.get<std::int64_t>("seed", 42));
  settings.music.seconds = config.get("seconds", settings.music.seconds);
  const auto timbre = config.get<std::string>("timbre", "");
  const auto split = config.get<std::string>("split", "train");
  config.finish();
  check(settings.count >= 1 && settings.count <= 1'000'000, ErrorKind::Usage,
        "[acestep.synth] count is out of range; got {}, expected 1 to 1000000.", settings.count);
  check(settings.music.seconds >= 1 && settings.music.seconds <= 240, ErrorKind::Usage,
        "[acestep.synth] seconds is out of range; got {}, expected 1 to 240.",
        settings.music.seconds);
  check(split == "train" || split == "held-out", ErrorKind::Usage,
        "[acestep.synth] unknown split; got '{}', expected train or held-out.", split);
  if (split == "held-out") settings.music.split = data::MusicSplit::HeldOut;
  if (!timbre.empty()) settings.music.timbre = data::parse_timbre(timbre);
  return settings;
}

engine::Outcome make_music(const engine::Request& request) {
  const auto settings = read_synth_settings(request.config);
  const auto folder = request.output.empty() ? fs::path("music") : request.output;
  std::error_code ignored;
  check(!fs::exists(folder, ignored), ErrorKind::Usage,
        "[acestep.synth] {} exists; expected a new folder with -o.", folder.string());
  check_output_folder(folder);
  make_folder(folder);
  Progress progress(
      {.title = "music", .total = settings.count, .unit = "pieces", .style = request.progress},
      std::cerr);
  const Random random(settings.seed);
  const auto samples = static_cast<std::int64_t>(settings.music.seconds * data::kMusicRate);
  std::int64_t made = 0;
  for (; made < settings.count; ++made) {
    if (request.stop_requested && request.stop_requested()) break;
    const auto piece = data::music_piece(random, static_cast<std::uint64_t>(made), settings.music);
    const auto stem = fmt::format("piece-{:06}", made);
    io::write_audio(folder / (stem + ".wav"), data::play_music(piece, samples));
    write_file(folder / (stem + "_prompt.txt"), data::music_tags(piece) + "\n");
    write_file(folder / (stem + "_lyrics.txt"), data::music_lyrics(piece) + "\n");
    progress.advance();
  }
  progress.finish();
  auto json = json_document("acestep_synth", 1);
  json["folder"] = folder.string();
  json["pieces"] = made;
  const bool stopped = made < settings.count;
  return {fmt::format("{} pieces of {:g} s in {}{}\n", made, settings.music.seconds,
                      folder.string(), stopped ? ": stopped" : ""),
          json, stopped ? ExitCode::Interrupted : ExitCode::Ok};
}

engine::Outcome make_model(const engine::Request& request) {
  const auto& config = request.config;
  const auto networks = read_networks(config);
  const auto seed = static_cast<std::uint64_t>(config.get<std::int64_t>("seed", 42));
  const auto dtype = named_dtype(config.get<std::string>("weights_dtype", "float32"));
  config.finish();
  const auto folder = request.output.empty() ? fs::path("acestep-new") : request.output;
  check_output_folder(folder);
  write_new_model(folder, networks, seed, dtype);
  auto json = json_document("acestep_new", 1);
  json["folder"] = folder.string();
  return {fmt::format("a new model with random weights in {}\n", folder.string()), json,
          ExitCode::Ok};
}

/// Sound files, and those of folders, in order.
std::vector<fs::path> sound_files(const std::vector<std::string>& inputs) {
  std::vector<fs::path> files;
  for (const auto& input : inputs) {
    std::error_code ignored;
    if (!fs::is_directory(input, ignored)) {
      files.emplace_back(input);
      continue;
    }
    check_readable(input);
    std::vector<fs::path> inside;
    for (const auto& entry : fs::directory_iterator(input)) {
      if (entry.is_regular_file() && io::is_audio_name(entry.path())) {
        inside.push_back(entry.path());
      }
    }
    std::ranges::sort(inside);
    files.insert(files.end(), inside.begin(), inside.end());
  }
  check(!files.empty(), ErrorKind::Usage,
        "[acestep.analyse] no sounds to analyse; expected sound files or a folder of them.");
  return files;
}

/// What the texts beside a sound say that it is.
std::optional<data::MusicPiece> meant_piece(const fs::path& file) {
  const auto beside = [&](const char* ending) {
    const auto path = file.parent_path() / (file.stem().string() + ending);
    std::error_code ignored;
    return fs::is_regular_file(path, ignored) ? read_file(path, 1 << 20) : std::string();
  };
  return data::parse_music(beside("_prompt.txt"), beside("_lyrics.txt"));
}

engine::Outcome analyse_sounds(const engine::Request& request) {
  request.config.finish();
  engine::Outcome outcome;
  outcome.json = json_document("acestep_analyse", 1);
  auto rows = Json::array();
  Table table({"sound", "chord", "timbre", "bpm", "side", "melody"});
  data::MusicCounter counter;
  for (const auto& file : sound_files(request.inputs)) {
    try {
      const auto heard = data::hear_music(io::read_audio(file));
      auto row = heard_json(heard);
      row["file"] = file.string();
      table.add_row(heard_row(file.filename().string(), heard));
      if (const auto meant = meant_piece(file)) {
        const auto match = data::match_music(*meant, heard);
        counter.add(match);
        row["meant"] = data::music_tags(*meant);
        row["as_meant"] = match.chord() && match.timbre && match.tempo;
      }
      rows.push_back(row);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Input) throw;
      outcome.code = ExitCode::Input;
      rows.push_back({{"file", file.string()}, {"error", error.what()}});
      table.add_row({file.filename().string(), error.what()});
    }
  }
  outcome.json["sounds"] = rows;
  outcome.text = table.to_text();
  const auto scores = counter.scores();
  if (scores.pieces > 0) {
    outcome.json["scores"] = music_scores_json(scores);
    outcome.text += "\nas the texts beside them say:\n" + music_scores_text(scores);
  }
  return outcome;
}

engine::Command new_command() {
  auto options = network_options();
  options.push_back({"--seed", "seed", "N", "of the weights (42)"});
  options.push_back(
      {"--weights-dtype", "weights_dtype", "NAME", "float32, bfloat16 or float16 (float32)"});
  return {.verb = "data",
          .name = "new",
          .summary = "make a model with random weights and small vocabularies, to train",
          .needs_device = false,
          .options = std::move(options),
          .examples = {{"ubique data acestep new -o models/mine", "of the tiny sizes"}},
          .run = make_model};
}

engine::Command analyse_command() {
  return {.verb = "data",
          .name = "analyse",
          .summary = "chord, timbre, tempo and melody of sounds made as synthetic music is",
          .inputs = "SOUND|FOLDER...",
          .needs_device = false,
          .examples = {{"ubique data acestep analyse a.wav", "one sound"},
                       {"ubique data acestep analyse music", "a folder, compared with its texts"}},
          .run = analyse_sounds};
}

}  // namespace

engine::Command synth_command() {
  return {.verb = "data",
          .name = "synth",
          .summary = "make synthetic music with tags and lyrics, from a seed",
          .needs_device = false,
          .options = {{"--count", "count", "N", "pieces (100)"},
                      {"--seconds", "seconds", "X", "of each (3)"},
                      {"--split", "split", "NAME",
                       "train, or held-out: combinations that are never trained on (train)"},
                      {"--timbre", "timbre", "NAME", "sine, saw, square, pluck or organ (mixed)"},
                      {"--seed", "seed", "N", "the same seed gives the same music (42)"}},
          .examples = {{"ubique data acestep synth -o music --count 2000", "a set to train on"},
                       {"ubique data acestep synth -o organ --count 100 --timbre organ",
                        "a timbre that the shipped model does not know"}},
          .run = make_music};
}

std::vector<engine::Command> music_commands() {
  return {synth_command(), new_command(), analyse_command()};
}

}  // namespace ubique::acestep
