// SPDX-License-Identifier: Apache-2.0
// `ubique demo acestep`: three songs with the small model that comes with the program, an adapter
// for a timbre that it does not know, a fourth song with it, and a page to listen to them. The
// commands are those that a person would type.
#include <fmt/format.h>

#include "ubique/base/files/file.h"
#include "ubique/base/terminal/table.h"
#include "ubique/base/text/json.h"
#include "ubique/engine/walk/demo.h"
#include "ubique/io/audio/audio_file.h"
#include "ubique/models/acestep/commands/commands.h"
#include "ubique/models/acestep/commands/data_commands.h"
#include "ubique/models/acestep/commands/music_commands.h"
#include "ubique/models/acestep/commands/song_page.h"
#include "ubique/models/acestep/files/open.h"
#include "ubique/models/acestep/train/task.h"

namespace ubique::acestep {
namespace {

namespace fs = std::filesystem;
using engine::demo_request;

/// How much is done.
struct DemoSize {
  const char *clips, *steps, *batch, *sampling;
};
constexpr DemoSize kWholeSize{"96", "200", "8", "27"};
constexpr DemoSize kQuickSize{"6", "3", "2", "3"};

struct DemoSong {
  const char *name, *tags, *lyrics;
};
constexpr DemoSong kDemoSongs[] = {
    {"saw", "a minor, saw, 120 bpm", "[verse]\ndo mi so mi do so"},
    {"pluck", "c major, pluck, 90 bpm, left", "[verse]\ndo re mi fa so"},
    {"square", "f# open, square, 60 bpm, right", "[verse]\ndo so do"}};
constexpr DemoSong kOrganSong = {"organ", "d major, organ, 120 bpm", "[verse]\nso mi do mi so so"};

/// The parts of a demo's folder; what is there already is used again.
struct DemoFolder {
  explicit DemoFolder(const fs::path& folder)
      : organ(folder / "organ"),
        data(folder / "organ-data"),
        run(folder / "organ-run"),
        songs(folder / "songs"),
        page(folder / "index.html") {}
  fs::path organ, data, run, songs, page;
};

fs::path demo_model(const engine::Request& request) {
  const auto given = request.config.get<std::string>("model", "");
  if (!given.empty()) return given;
  const auto shipped = shipped_model();
  check(!shipped.empty(), ErrorKind::Usage,
        "[acestep.demo] the small model does not lie with the program; name one with --model.");
  return shipped;
}

/// Writes SONGS/name.wav with its picture; false if it was stopped.
bool make_demo_song(const engine::Request& request, const DemoSong& song, const DemoSize& size,
                    const fs::path& model, const DemoFolder& folder) {
  const auto own = demo_request(request,
                                {{"model", model.string()},
                                 {"tags", song.tags},
                                 {"lyrics", song.lyrics},
                                 {"steps", size.sampling},
                                 {"seed", "1"},
                                 {"picture", "true"}},
                                folder.songs / (std::string(song.name) + ".wav"));
  return run_command().run(own).code == ExitCode::Ok;
}

bool train_organ(const engine::Request& request, const DemoSize& size, const fs::path& model,
                 const DemoFolder& folder) {
  if (!fs::exists(folder.organ)) {
    const auto own = demo_request(
        request, {{"count", size.clips}, {"timbre", "organ"}, {"seconds", "3.065"}}, folder.organ,
        /*on_device=*/false);
    if (synth_command().run(own).code != ExitCode::Ok) return false;
  }
  auto prepare = demo_request(request, {{"model", model.string()}}, folder.data);
  prepare.inputs = {folder.organ.string()};
  if (data_prepare_command().run(prepare).code != ExitCode::Ok) return false;
  const auto trained = engine::train_demo(demo_request(request,
                                                       {{"model", model.string()},
                                                        {"data", folder.data.string()},
                                                        {"lora_rank", "16"},
                                                        {"lora_alpha", "16"},
                                                        {"lr", "2e-3"},
                                                        {"effective_batch", size.batch},
                                                        {"epochs", "1000"},
                                                        {"validate_every", "1000"},
                                                        {"preview", "false"},
                                                        {"max_steps", size.steps}},
                                                       folder.run),
                                          make_acestep_task);
  return !trained.interrupted;
}

SongEntry listen(const DemoSong& song, const DemoFolder& folder) {
  const auto sound = folder.songs / (std::string(song.name) + ".wav");
  auto picture = sound;
  return {.name = song.name,
          .tags = song.tags,
          .lyrics = song.lyrics,
          .sound = sound,
          .picture = picture.replace_extension(".png"),
          .heard = data::hear_music(io::read_audio(sound))};
}

engine::Outcome outcome_of_demo(const std::vector<SongEntry>& songs, const DemoFolder& folder) {
  engine::Outcome outcome;
  outcome.json = json_document("demo", 1);
  outcome.json["songs"] = Json::array();
  Table table({"tags", "heard", "timbre", "bpm", "side", "melody"});
  for (const auto& song : songs) {
    table.add_row(heard_row(song.tags, song.heard));
    auto entry = heard_json(song.heard);
    entry["tags"] = song.tags;
    entry["sound"] = song.sound.string();
    outcome.json["songs"].push_back(entry);
  }
  outcome.json["page"] = folder.page.string();
  outcome.json["adapter"] = folder.run.string();
  outcome.text = fmt::format("{}\nlisten: {}\nadapter: {}\n", table.to_text(), folder.page.string(),
                             folder.run.string());
  return outcome;
}

engine::Outcome demo_acestep(const engine::Request& request) {
  const auto output = request.output.empty() ? fs::path("demo") / "acestep" : request.output;
  const auto& size = request.config.get("quick", false) ? kQuickSize : kWholeSize;
  const auto model = demo_model(request);
  const DemoFolder folder(output);
  make_folder(folder.songs);
  for (const auto& song : kDemoSongs) {
    if (!make_demo_song(request, song, size, model, folder)) return engine::interrupted_demo();
  }
  if (!train_organ(request, size, model, folder)) return engine::interrupted_demo();
  if (!make_demo_song(request, kOrganSong, size, folder.run, folder)) {
    return engine::interrupted_demo();
  }
  std::vector<SongEntry> songs;
  for (const auto& song : kDemoSongs) songs.push_back(listen(song, folder));
  songs.push_back(listen(kOrganSong, folder));
  write_file(folder.page, song_page("Ubique makes music", songs));
  return outcome_of_demo(songs, folder);
}

}  // namespace

engine::Command demo_command() {
  return {.verb = "demo",
          .summary = "make songs with the small model, teach it a new timbre, listen to all",
          .options = {{"--quick,--smoke", "quick", "", "few clips and steps, in seconds"},
                      {"--model", "model", "PATH", "another model of synthetic music"}},
          .examples = {{"ubique demo acestep", "about two minutes on two cores"},
                       {"ubique demo acestep --quick --device sham", "the code that a Mac runs"}},
          .run = demo_acestep};
}

}  // namespace ubique::acestep
