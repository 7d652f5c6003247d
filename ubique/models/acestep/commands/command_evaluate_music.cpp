// SPDX-License-Identifier: Apache-2.0
// `ubique evaluate acestep music`: songs from tags of synthetic music, and what is heard in them.
#include <fmt/format.h>

#include "ubique/base/files/file.h"
#include "ubique/base/files/output_path.h"
#include "ubique/base/terminal/table.h"
#include "ubique/base/text/json.h"
#include "ubique/engine/ranks/rank_progress.h"
#include "ubique/engine/session/session.h"
#include "ubique/models/acestep/commands/commands.h"
#include "ubique/models/acestep/commands/music_commands.h"
#include "ubique/models/acestep/commands/song_options.h"
#include "ubique/models/acestep/files/open.h"
#include "ubique/models/acestep/net/needs.h"
#include "ubique/models/acestep/score/music_scores.h"
#include "ubique/models/acestep/use/song_json.h"
#include "ubique/probe/probes/operation.h"

namespace ubique::acestep {
namespace {

struct MusicTest {
  std::string name;
  data::MusicScores scores;
};

struct MusicTestSettings {
  std::int64_t count = 100;
  std::uint64_t seed = 1;
  std::vector<double> guidances;
  SongRequest song;
};

MusicTestSettings read_music_test(const Config& config, const SongRequest& defaults) {
  MusicTestSettings settings;
  settings.count = config.get("count", settings.count);
  settings.seed = static_cast<std::uint64_t>(config.get<std::int64_t>("piece_seed", 1));
  settings.guidances = config.get("guidances", settings.guidances);
  auto with_words = defaults;  // each piece brings its own tags and lyrics
  with_words.tags = "synthetic music";
  settings.song = read_song_request(config, with_words);
  check(settings.count >= 2 && settings.count <= 100'000, ErrorKind::Usage,
        "[acestep.evaluate] count is out of range; got {}, expected 2 to 100000.", settings.count);
  check(!needs_source(settings.song.task), ErrorKind::Usage,
        "[acestep.evaluate] the task {} begins with a clip; expected text2music or retake.",
        to_string(settings.song.task));
  return settings;
}

/// Runs the tests one after another until the person stops.
class MusicTests {
 public:
  MusicTests(const engine::Request& request, Parts& parts, const MusicTestSettings& settings)
      : request_(request), parts_(parts), settings_(settings) {}

  void run() {
    const auto held_out = pieces(data::MusicSplit::HeldOut);
    heard("the codec alone", held_out,
          [&](const PieceDone& done) { return hear_codec(parts_, held_out, done); });
    songs("held-out combinations", held_out, settings_.song, true);
    songs("combinations of training", pieces(data::MusicSplit::Train), settings_.song, false);
    for (const double scale : settings_.guidances) {
      auto song = settings_.song;
      song.guidance.scale = scale;
      songs(fmt::format("held out, guidance {:g}", scale), held_out, song, false);
    }
  }

  bool stopped() const { return stopped_; }
  const std::vector<MusicTest>& tests() const { return tests_; }

 private:
  std::vector<data::MusicPiece> pieces(data::MusicSplit split) const {
    return pieces_to_score(split, settings_.count, settings_.seed);
  }

  template <typename Hear>
  std::vector<data::MusicHeard> heard(const std::string& name,
                                      const std::vector<data::MusicPiece>& pieces,
                                      const Hear& hear) {
    if (stopped_) return {};
    engine::RankProgress progress(
        {.title = name, .total = settings_.count, .unit = "pieces", .style = request_.progress});
    auto all = hear([&] {
      progress.advance();
      return !(request_.stop_requested && request_.stop_requested());
    });
    progress.finish();
    stopped_ = std::ssize(all) < settings_.count;
    tests_.push_back({name, score_heard(pieces, all)});
    return all;
  }

  void songs(const std::string& name, const std::vector<data::MusicPiece>& pieces,
             const SongRequest& song, bool with_control) {
    const auto all = heard(name, pieces, [&](const PieceDone& done) {
      return hear_songs(parts_, pieces, song, done);
    });
    if (with_control && !all.empty()) {
      tests_.push_back({"the same, tags shuffled", score_shuffled(pieces, all)});
    }
  }

  const engine::Request& request_;
  Parts& parts_;
  const MusicTestSettings& settings_;
  std::vector<MusicTest> tests_;
  bool stopped_ = false;
};

engine::Outcome outcome_of_tests(const MusicTests& tests) {
  engine::Outcome outcome;
  outcome.json = json_document("acestep_evaluate_music", 1);
  outcome.json["tests"] = Json::array();
  Table table({"", "pieces", "root and mode", "root", "timbre", "tempo", "side", "notes"});
  const auto percent = [](double share) { return fmt::format("{:.1f} %", 100 * share); };
  for (const auto& [name, scores] : tests.tests()) {
    table.add_row({name, std::to_string(scores.pieces), percent(scores.chord), percent(scores.root),
                   percent(scores.timbre), percent(scores.tempo), percent(scores.pan),
                   percent(scores.notes)});
    auto entry = music_scores_json(scores);
    entry["name"] = name;
    outcome.json["tests"].push_back(entry);
  }
  outcome.text = table.to_text();
  if (tests.stopped()) {
    outcome.text += "stopped: these are the pieces so far\n";
    outcome.code = ExitCode::Interrupted;
  }
  return outcome;
}

engine::Outcome evaluate_music(const engine::Request& request) {
  const std::filesystem::path model = request.model;
  const auto opened = find_model(model);
  const auto settings = read_music_test(request.config, default_request(opened.folder.path));
  engine::Session session(request, plan::Mode::Run);
  request.config.finish();
  check_output_file(request.output);
  SongSize size;
  size.seconds = settings.song.seconds;
  size.steps = settings.song.steps;
  session.start(song_needs(opened.folder.networks, size));
  auto parts =
      open_parts(opened, session.torch_device(), probe::to_torch(session.plan().dtype.value));
  MusicTests tests(request, parts, settings);
  tests.run();
  auto outcome = outcome_of_tests(tests);
  outcome.json["model"] = model.string();
  outcome.json["device"] = session.facts().label();
  if (!request.output.empty() && dist::world().is_first()) {
    write_file(request.output, json_text(outcome.json, 2) + "\n");
  }
  return outcome;
}

}  // namespace

engine::Command evaluate_music_command() {
  auto options = song_options();
  options.push_back({"--count", "count", "N", "pieces of each test (100)"});
  options.push_back({"--piece-seed", "piece_seed", "N", "which pieces (1)"});
  options.push_back({"--guidances", "guidances", "X,...", "further tests with these scales"});
  return {.verb = "evaluate",
          .name = "music",
          .summary = "makes songs from tags of synthetic music and listens: chord, timbre, tempo",
          .needs_model = true,
          .options = std::move(options),
          .examples = {{"ubique evaluate acestep music --model models/acestep-tiny --seconds 3 "
                        "--steps 27 --guidance 3",
                        "the shipped model"}},
          .run = evaluate_music};
}

}  // namespace ubique::acestep
