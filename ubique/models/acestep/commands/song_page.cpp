// SPDX-License-Identifier: Apache-2.0
// One section per song.
#include "ubique/models/acestep/commands/song_page.h"

#include <fmt/format.h>

#include "ubique/base/text/text.h"
#include "ubique/engine/run/report_text.h"
#include "ubique/models/acestep/commands/music_commands.h"

namespace ubique::acestep {
namespace {

constexpr const char* kPageHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{0}</title><style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 54rem; margin: 2rem auto; padding: 0 1rem;
  background: #14151a; color: #e8e6e3 }}
section {{ border-top: 1px solid #3a3c45; padding: 1rem 0 }}
audio, img {{ width: 100%; display: block; margin: .5rem 0 }}
dl {{ display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; margin: 0 }}
dt {{ color: #9fa3b0 }} dd {{ margin: 0 }}
</style></head><body><h1>{0}</h1>
)";

std::string relative_name(const std::filesystem::path& file) {
  return (file.parent_path().filename() / file.filename()).generic_string();
}

std::string heard_text(const data::MusicHeard& heard) {
  const auto row = heard_row("", heard);
  return heard.silent
             ? "nothing"
             : fmt::format("{}, {}, {} bpm, {}; {}", row[1], row[2], row[3], row[4], row[5]);
}

std::string song_section(const SongEntry& song) {
  const auto line = [](const char* name, const std::string& value) {
    return fmt::format("<dt>{}</dt><dd>{}</dd>\n", name, engine::escape_html(value));
  };
  auto text = fmt::format("<section><h2>{}</h2>\n", engine::escape_html(song.name));
  text += fmt::format("<audio controls src=\"{}\"></audio>\n",
                      engine::escape_html(relative_name(song.sound)));
  if (!song.picture.empty()) {
    text += fmt::format("<img alt=\"spectrogram and wave\" src=\"{}\">\n",
                        engine::escape_html(relative_name(song.picture)));
  }
  return text + "<dl>\n" + line("tags", song.tags) + line("lyrics", song.lyrics) +
         line("heard", heard_text(song.heard)) + "</dl></section>\n";
}

}  // namespace

std::string song_page(const std::string& title, const std::vector<SongEntry>& songs) {
  auto page = fmt::format(kPageHead, engine::escape_html(title));
  for (const auto& song : songs) page += song_section(song);
  return page + "</body></html>\n";
}

}  // namespace ubique::acestep
