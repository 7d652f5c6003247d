// SPDX-License-Identifier: Apache-2.0
// What was heard in a sound, as rows of a table and as JSON.
#include <fmt/format.h>

#include <array>

#include "ubique/base/terminal/table.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/text.h"
#include "ubique/models/acestep/commands/music_commands.h"

namespace ubique::acestep {

std::vector<std::string> heard_row(const std::string& name, const data::MusicHeard& heard) {
  if (heard.silent) return {name, "silent"};
  std::vector<std::string> notes;
  for (const int degree : heard.melody) {
    notes.emplace_back(degree < 0 ? "?" : data::syllable(degree));
  }
  constexpr std::array<const char*, 3> kSides = {"left", "centre", "right"};
  return {name,
          fmt::format("{} {}", data::pitch_name(heard.root), data::to_string(heard.mode)),
          std::string(data::to_string(heard.timbre)),
          heard.tempo > 0 ? fmt::format("{:.0f}", heard.tempo) : "-",
          kSides[static_cast<std::size_t>(heard.pan)],
          join(notes, " ")};
}

Json heard_json(const data::MusicHeard& heard) {
  if (heard.silent) return {{"silent", true}};
  auto notes = Json::array();
  for (const int degree : heard.melody) {
    if (degree < 0) {
      notes.push_back(nullptr);
    } else {
      notes.push_back(data::syllable(degree));
    }
  }
  return {{"root", data::pitch_name(heard.root)},
          {"mode", data::to_string(heard.mode)},
          {"timbre", data::to_string(heard.timbre)},
          {"bpm", heard.tempo},
          {"melody", notes},
          {"chroma", heard.chroma},
          {"even", heard.even},
          {"odd", heard.odd},
          {"sustain", heard.sustain}};
}

Json music_scores_json(const data::MusicScores& scores) {
  return {{"pieces", scores.pieces}, {"chord", scores.chord}, {"root", scores.root},
          {"timbre", scores.timbre}, {"tempo", scores.tempo}, {"side", scores.pan},
          {"notes", scores.notes}};
}

std::string music_scores_text(const data::MusicScores& scores) {
  Table table({"pieces", "root and mode", "root", "timbre", "tempo", "side", "notes"});
  const auto percent = [](double share) { return fmt::format("{:.1f} %", 100 * share); };
  table.add_row({std::to_string(scores.pieces), percent(scores.chord), percent(scores.root),
                 percent(scores.timbre), percent(scores.tempo), percent(scores.pan),
                 percent(scores.notes)});
  return table.to_text();
}

}  // namespace ubique::acestep
