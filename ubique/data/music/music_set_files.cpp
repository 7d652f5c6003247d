// SPDX-License-Identifier: Apache-2.0
// JSON of the header and the clips; every value is checked before it is used.
#include "ubique/data/music/music_set_files.h"

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/text/json_fields.h"

namespace ubique::data {
namespace {

constexpr int kMusicSetVersion = 1;
constexpr const char* kMusicSetTag = "data.music";
constexpr std::int64_t kMostClipFrames = 1 << 20;
constexpr std::size_t kDigestDigits = 16;

bool is_digest(const std::string& text) {
  return text.size() == kDigestDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

}  // namespace

std::filesystem::path latents_file(const std::filesystem::path& folder, const std::string& digest) {
  return folder / "latents" / (digest + ".safetensors");
}

std::string music_header_line(const MusicSetHeader& header) {
  auto json = json_document("music_data", kMusicSetVersion);
  json["codec"] = header.codec;
  json["vocabulary"] = header.vocabulary;
  json["channels"] = header.channels;
  json["rows"] = header.rows;
  json["source"] = header.source;
  json["options"] = header.options;
  return json_text(json) + "\n";
}

std::string music_clip_line(const PreparedClip& clip) {
  return json_text(Json{{"key", clip.key},
                        {"sound", clip.sound},
                        {"audio", clip.audio},
                        {"latents", clip.latents},
                        {"split", clip.split},
                        {"frames", clip.frames},
                        {"seconds", clip.seconds},
                        {"tags", clip.tags},
                        {"captions", clip.captions},
                        {"lyrics", clip.lyrics},
                        {"lyric_ids", clip.lyric_ids}}) +
         "\n";
}

MusicSetHeader parse_music_header(std::string_view line, const std::string& where) {
  JsonFields fields(parse_json(line, where), kMusicSetTag, where);
  std::string schema;
  int version = 0;
  MusicSetHeader header;
  fields.take("schema", schema);
  fields.take("schema_version", version);
  check(schema == "ubique.music_data" && version == kMusicSetVersion, ErrorKind::Input,
        "[data.music] {} is no music data that is known here; got schema '{}' version {}, expected "
        "ubique.music_data version {}. Prepare the data again.",
        where, schema, version, kMusicSetVersion);
  fields.take("codec", header.codec);
  fields.take("vocabulary", header.vocabulary);
  fields.take("channels", header.channels);
  fields.take("rows", header.rows);
  header.source = fields.take_json("source");
  header.options = fields.take_json("options");
  fields.finish();
  const bool fits =
      header.channels >= 1 && header.channels <= 1024 && header.rows >= 1 && header.rows <= 1024;
  check(fits, ErrorKind::Input, "[data.music] {}: latents of {} channels and {} rows cannot be.",
        where, header.channels, header.rows);
  return header;
}

PreparedClip parse_music_clip(std::string_view line, const std::string& where) {
  JsonFields fields(parse_json(line, where), kMusicSetTag, where);
  PreparedClip clip;
  fields.take("key", clip.key);
  fields.take("sound", clip.sound);
  fields.take("audio", clip.audio);
  fields.take("latents", clip.latents);
  fields.take("split", clip.split);
  fields.take("frames", clip.frames);
  fields.take("seconds", clip.seconds);
  fields.take("tags", clip.tags);
  fields.take("captions", clip.captions);
  fields.take("lyrics", clip.lyrics);
  fields.take("lyric_ids", clip.lyric_ids);
  fields.finish();
  check(is_digest(clip.latents) && !clip.key.empty(), ErrorKind::Input,
        "[data.music] {}: a clip needs a key and the digest of its latents.", where);
  check(clip.split == kMusicTrain || clip.split == kMusicVal, ErrorKind::Input,
        "[data.music] {}: the split is '{}', expected train or val.", where, clip.split);
  check(clip.frames >= 1 && clip.frames <= kMostClipFrames, ErrorKind::Input,
        "[data.music] {}: {} frames cannot be; expected 1 to {}.", where, clip.frames,
        kMostClipFrames);
  const bool ids = std::all_of(clip.lyric_ids.begin(), clip.lyric_ids.end(),
                               [](std::int32_t id) { return id >= 0; });
  check(ids, ErrorKind::Input, "[data.music] {}: a token of the lyrics is negative.", where);
  return clip;
}

}  // namespace ubique::data
