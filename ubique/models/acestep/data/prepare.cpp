// SPDX-License-Identifier: Apache-2.0
// One clip at a time: a folder of songs may be larger than memory.
#include "ubique/models/acestep/data/prepare.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "ubique/base/error.h"
#include "ubique/base/files/digest.h"
#include "ubique/base/files/file.h"
#include "ubique/data/music/speaker_file.h"
#include "ubique/io/audio/audio_file.h"
#include "ubique/models/acestep/data/sound_latents.h"

namespace ubique::acestep {
namespace {

constexpr std::size_t kMostLyricIds = 4096;
constexpr int kLatentRules = 1;  // counts changes of how sound becomes latents

}  // namespace

std::string file_digest(const std::filesystem::path& path) {
  const MappedFile file(path);
  return digest_of(file.bytes());
}

std::string codec_digest(const ModelFolder& folder) {
  return file_digest(folder.weights(Part::Dcae));
}

MusicPreparer::MusicPreparer(const data::MusicSetWriter& writer, std::string codec,
                             const data::LyricTokenizer& lyrics,
                             std::function<const Dcae&()> encoder, PrepareOptions options)
    : writer_(writer),
      codec_(std::move(codec)),
      lyrics_(lyrics),
      encoder_(std::move(encoder)),
      options_(std::move(options)) {}

std::vector<std::int32_t> MusicPreparer::lyric_ids(const data::MusicClip& clip) const {
  if (clip.lyrics.empty()) return {};
  constexpr std::int64_t kNoLimit = 1 << 24;
  auto ids = lyrics_.encode(clip.lyrics, {.language = options_.language, .most_ids = kNoLimit});
  if (ids.size() > kMostLyricIds) ids.resize(kMostLyricIds);
  return ids;
}

void MusicPreparer::read_sound(const data::MusicClip& clip, std::span<const std::byte> bytes,
                               Draft& draft) const {
  const auto audio = io::parse_audio(bytes, clip.audio.string());
  draft.clip.seconds = audio.seconds();
  draft.sound = clip_sound(audio, options_.most_seconds, clip.audio.string());
  if (!clip.speaker.empty()) draft.speaker = data::read_speaker(clip.speaker);
}

MusicPreparer::Draft MusicPreparer::read(const data::MusicClip& clip) const {
  Draft draft{.clip = {.key = clip.key,
                       .audio = std::filesystem::absolute(clip.audio).string(),
                       .tags = clip.tags,
                       .captions = clip.captions,
                       .lyrics = clip.lyrics,
                       .lyric_ids = lyric_ids(clip)}};
  auto& made = draft.clip;
  const MappedFile file(clip.audio);
  made.sound = digest_of(file.bytes());
  const auto speaker = clip.speaker.empty() ? std::string() : file_digest(clip.speaker);
  made.latents = digest_of(fmt::format("{} {} {} {} {}", codec_, made.sound, speaker,
                                       options_.most_seconds, kLatentRules));
  if (const auto known = writer_.find(made.latents)) {
    made.frames = known->frames;
    made.seconds = known->seconds;
  } else {
    read_sound(clip, file.bytes(), draft);
  }
  return draft;
}

void MusicPreparer::add(const data::MusicClip& clip) {
  Draft draft;
  try {
    draft = read(clip);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Input) throw;
    return skip({clip.key, error.what()});
  }
  auto& made = draft.clip;
  if (draft.sound) {  // from here on an error is not the clip's: a full disk, a damaged model
    const auto latents = sound_latents(encoder_(), *draft.sound);
    made.frames = latents.size(-1);
    writer_.write_latents(
        made.latents, {made.frames, made.seconds},
        {latents.const_data_ptr<float>(), static_cast<std::size_t>(latents.numel())},
        draft.speaker);
    ++result_.encoded;
  }
  if (made.seconds > options_.most_seconds) ++result_.cut;
  result_.clips.push_back(std::move(made));
}

const PrepareResult& MusicPreparer::finish() {
  check(!result_.clips.empty(), ErrorKind::Input,
        "[acestep.data] no clip is left to train on; got {} that cannot be used, the first: {}: {}",
        result_.skipped.size(), result_.skipped.empty() ? "" : result_.skipped.front().name,
        result_.skipped.empty() ? "" : result_.skipped.front().why);
  data::hold_out_clips(result_.clips, options_.val_share, options_.seed);
  writer_.finish(result_.clips);
  return result_;
}

}  // namespace ubique::acestep
