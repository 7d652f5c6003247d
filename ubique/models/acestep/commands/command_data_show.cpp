// SPDX-License-Identifier: Apache-2.0
// `ubique data acestep show`: what a prepared folder holds.
#include <fmt/format.h>

#include "ubique/base/error.h"
#include "ubique/base/terminal/table.h"
#include "ubique/base/text/printable.h"
#include "ubique/data/music/music_set.h"
#include "ubique/data/music/prompt.h"
#include "ubique/models/acestep/commands/data_commands.h"

namespace ubique::acestep {
namespace {

std::string lyrics_note(const data::PreparedClip& clip) {
  return clip.lyric_ids.empty() ? "none" : fmt::format("{} tokens", clip.lyric_ids.size());
}

Json clip_json(const data::PreparedClip& clip) {
  return {{"key", clip.key},         {"split", clip.split},
          {"seconds", clip.seconds}, {"frames", clip.frames},
          {"tags", clip.tags},       {"captions", clip.captions},
          {"lyrics", clip.lyrics},   {"lyric_tokens", clip.lyric_ids.size()}};
}

engine::Outcome show_songs(const engine::Request& request) {
  const auto count = request.config.get<std::int64_t>("count", 20);
  const auto first = request.config.get<std::int64_t>("first", 0);
  request.config.finish();
  check(request.inputs.size() == 1, ErrorKind::Usage,
        "[acestep.data] got {} folders, expected one.", request.inputs.size());
  check(count >= 0 && first >= 0, ErrorKind::Usage,
        "[acestep.data] --count and --first count from 0; got {} and {}.", count, first);
  const data::MusicSet set(request.inputs.front());
  const auto held = set.clips_of(data::kMusicVal).size();
  double seconds = 0;
  for (const auto& clip : set.clips()) seconds += clip.seconds;
  Table table({"song", "split", "seconds", "frames", "lyrics", "tags"});
  engine::Outcome outcome;
  outcome.json = json_document("acestep_data", 1);
  outcome.json["folder"] = set.folder().string();
  outcome.json["fingerprint"] = set.fingerprint();
  outcome.json["size"] = set.clips().size();
  outcome.json["held_out"] = held;
  outcome.json["seconds"] = seconds;
  outcome.json["songs"] = Json::array();
  const auto all = static_cast<std::int64_t>(set.clips().size());
  for (auto i = first; i < std::min(all, first + std::min(count, all)); ++i) {
    const auto& clip = set.clips()[static_cast<std::size_t>(i)];
    table.add_row({printable(clip.key, 40), clip.split, fmt::format("{:.1f}", clip.seconds),
                   std::to_string(clip.frames), lyrics_note(clip),
                   printable(data::plain_prompt(clip.tags, clip.captions), 60)});
    outcome.json["songs"].push_back(clip_json(clip));
  }
  outcome.text = fmt::format("{} songs, {:.1f} minutes; {} held out\n{}", all, seconds / 60, held,
                             table.to_text());
  return outcome;
}

}  // namespace

engine::Command data_show_command() {
  return {.verb = "data",
          .name = "show",
          .summary = "list the songs of a prepared folder",
          .inputs = "FOLDER",
          .needs_device = false,
          .options = {{"--count", "count", "N", "songs to list (20)"},
                      {"--first", "first", "N", "number of the first one (0)"}},
          .examples = {{"ubique data acestep show data/mine",
                        "what was prepared, and what is held "
                        "out"}},
          .run = show_songs};
}

}  // namespace ubique::acestep
