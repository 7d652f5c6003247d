// SPDX-License-Identifier: Apache-2.0
// One line at a time; what a row lacks has a default, what it has wrongly is named.
#include "ubique/data/music/clip_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/text.h"

namespace ubique::data {
namespace {

namespace fs = std::filesystem;

std::string text_of(const Json& row, const char* key) {
  const auto found = row.find(key);
  if (found == row.end() || found->is_null()) return {};
  check(found->is_string(), ErrorKind::Input, "[data.music] {} is no text; got {}.", key,
        found->type_name());
  return std::string(trim(found->get<std::string>()));
}

/// A list of texts, or one text with commas.
std::vector<std::string> tags_of(const Json& row) {
  const auto found = row.find("tags");
  if (found == row.end() || found->is_null()) return {};
  if (found->is_string()) return split(found->get<std::string>(), ',');
  check(found->is_array(), ErrorKind::Input,
        "[data.music] tags are neither a list nor a text; got {}.", found->type_name());
  std::vector<std::string> tags;
  for (const auto& tag : *found) {
    check(tag.is_string(), ErrorKind::Input, "[data.music] a tag is no text; got {}.",
          tag.type_name());
    if (auto text = std::string(trim(tag.get<std::string>())); !text.empty()) {
      tags.push_back(std::move(text));
    }
  }
  return tags;
}

/// Texts of the object `recaption`; what is no text (an analysis in parts) is left out, as in the
/// original.
std::vector<std::string> captions_of(const Json& row) {
  const auto found = row.find("recaption");
  if (found == row.end() || found->is_null()) return {};
  check(found->is_object(), ErrorKind::Input, "[data.music] recaption is no object; got {}.",
        found->type_name());
  std::vector<std::string> captions;
  for (const auto& [kind, value] : found->items()) {
    if (!value.is_string()) continue;
    if (auto text = std::string(trim(value.get<std::string>())); !text.empty()) {
      captions.push_back(std::move(text));
    }
  }
  return captions;
}

MusicClip clip_of_row(const Json& row, const fs::path& folder) {
  check(row.is_object(), ErrorKind::Input, "[data.music] a row is no object; got {}.",
        row.type_name());
  const auto file = text_of(row, "filename");
  check(!file.empty(), ErrorKind::Input,
        "[data.music] a row has no filename; expected the sound file of each row.");
  MusicClip clip{.key = text_of(row, "keys"), .audio = folder / file};
  if (clip.key.empty()) clip.key = fs::path(file).replace_extension().generic_string();
  clip.tags = tags_of(row);
  clip.captions = captions_of(row);
  clip.lyrics = text_of(row, "norm_lyrics");
  if (const auto speaker = text_of(row, "speaker_emb_path"); !speaker.empty()) {
    clip.speaker = folder / speaker;
  }
  return clip;
}

}  // namespace

MusicClips read_music_rows(const fs::path& path) {
  const auto text = read_file(path);
  MusicClips found;
  std::set<std::string> keys;
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    const auto line = trim(std::string_view(text).substr(at, end - at));
    at = end + 1;
    ++number;
    if (line.empty()) continue;
    const auto where = fmt::format("{} line {}", path.string(), number);
    try {
      auto clip = clip_of_row(parse_json(line, where), path.parent_path());
      check(keys.insert(clip.key).second, ErrorKind::Input,
            "[data.music] an earlier row has the same name; expected different keys.");
      found.clips.push_back(std::move(clip));
    } catch (const Error& error) {
      found.skipped.push_back({where, error.what()});
    }
  }
  std::sort(found.clips.begin(), found.clips.end(),
            [](const MusicClip& a, const MusicClip& b) { return a.key < b.key; });
  return found;
}

}  // namespace ubique::data
