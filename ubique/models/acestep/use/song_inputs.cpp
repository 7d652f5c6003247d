// SPDX-License-Identifier: Apache-2.0
// Tokenizers and clips of a request.
#include "ubique/models/acestep/use/song_inputs.h"

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/text.h"
#include "ubique/data/audio/resample.h"
#include "ubique/data/lyrics/lyric_tokenizer.h"
#include "ubique/io/audio/audio_file.h"
#include "ubique/io/text/tokenizer.h"

namespace ubique::acestep {
namespace {

constexpr std::size_t kMostTextTokens = 256;
// Samples beyond a whole frame that are dropped: a song of ours that is resampled to 44.1 kHz again
// must not become a frame longer.
constexpr std::int64_t kSpareSamples = 2;

std::vector<std::int64_t> text_ids(const io::Tokenizer& tokenizer, const std::string& tags) {
  const auto ids = tokenizer.encode(tags, {.frame = true}, nullptr);
  std::vector<std::int64_t> made(ids.begin(), ids.end());
  if (made.size() > kMostTextTokens) {
    log::warn("the tags have {} tokens; the model reads the first {}", made.size(),
              kMostTextTokens);
    const auto end = made.back();
    made.resize(kMostTextTokens);
    made.back() = end;
  }
  return made;
}

std::vector<std::int64_t> lyric_ids(const data::LyricTokenizer& tokenizer,
                                    const std::string& lyrics, const std::string& language) {
  if (trim(lyrics).empty()) return {};
  const auto ids = tokenizer.encode(lyrics, {.language = language});
  return {ids.begin(), ids.end()};
}

void check_vocabulary(std::int64_t tokens, std::int64_t known, const std::string& what) {
  check(tokens <= known, ErrorKind::Input,
        "[acestep.song] the vocabulary of {} is not this model's; got {} tokens, expected at most "
        "{}.",
        what, tokens, known);
}

void read_prompts(const ModelFolder& folder, SongInputs& inputs) {
  const auto& request = inputs.request;
  const auto text = io::read_tokenizer(folder.tokenizer());
  check_vocabulary(text.size(), folder.networks.text.vocabulary, "tags");
  inputs.prompt.text = text_ids(text, request.tags);
  const bool edits = request.task == SongTask::Edit;
  if (edits) inputs.target.text = text_ids(text, request.target_tags);
  const bool sung = !trim(request.lyrics).empty() || (edits && !request.target_lyrics.empty());
  if (!sung) return;
  const data::LyricTokenizer lyrics(require_lyric_vocabulary(folder));
  check_vocabulary(lyrics.vocabulary().size(), folder.networks.transformer.lyric.vocabulary,
                   "lyrics");
  inputs.prompt.lyrics = lyric_ids(lyrics, request.lyrics, request.language);
  if (edits) inputs.target.lyrics = lyric_ids(lyrics, request.target_lyrics, request.language);
}

/// An edit keeps what its target does not name.
void complete_target(SongRequest& request) {
  if (request.task != SongTask::Edit) return;
  if (request.target_tags.empty()) request.target_tags = request.tags;
  if (request.target_lyrics.empty()) request.target_lyrics = request.lyrics;
}

/// What the task does to the clip must lie in it.
void check_clip(const SongInputs& inputs) {
  const auto& request = inputs.request;
  const auto frames = inputs.source_frames();
  const auto seconds = inputs.source.seconds();
  if (request.task == SongTask::Repaint) {
    const auto first = frames_of(request.start);
    const auto last = request.end == -1 ? frames : frames_of(request.end);
    check(first < last && last <= frames, ErrorKind::Usage,
          "[acestep.song] the window of repaint, {} to {} seconds, is not inside of the clip or is "
          "shorter than a frame (0.093 seconds); the clip has {:.2f} seconds.",
          request.start, request.end == -1 ? seconds : request.end, seconds);
  }
  if (request.task == SongTask::Extend) {
    const auto left = frames_of(request.left), right = frames_of(request.right);
    check(left <= frames && right <= frames && left + frames + right <= kMostFrames,
          ErrorKind::Usage,
          "[acestep.song] a clip of {:.2f} seconds gets {} before and {} after; expected at most "
          "as much on each side as it has, and {} seconds in all. Extend it in several steps.",
          seconds, request.left, request.right, kLongestSong);
  }
}

}  // namespace

std::int64_t SongInputs::frames() const {
  if (!needs_source(request.task)) return frames_of(request.seconds);
  const bool longer = request.task == SongTask::Extend;
  return source_frames() + (longer ? frames_of(request.left) + frames_of(request.right) : 0);
}

io::Audio prepared_source(const io::Audio& audio) {
  const auto stereo = data::as_stereo(data::resampled(audio, static_cast<int>(kLatentSampleRate)));
  const auto frames = std::max<std::int64_t>(
      1, (stereo.frames() + kSamplesPerFrame - 1 - kSpareSamples) / kSamplesPerFrame);
  io::Audio padded{.rate = stereo.rate, .channels = 2};
  padded.samples.resize(static_cast<std::size_t>(2 * frames * kSamplesPerFrame));
  for (int channel = 0; channel < 2; ++channel) {
    const auto from = stereo.channel(channel);
    const auto count = std::min(stereo.frames(), padded.frames());
    std::copy_n(from.begin(), count, padded.channel(channel).begin());
  }
  return padded;
}

SongInputs read_song_inputs(const SongRequest& request, const ModelFolder& folder) {
  validate(request);
  SongInputs inputs{.request = request};
  complete_target(inputs.request);
  if (needs_source(request.task)) {
    const auto clip = io::read_audio(request.source);
    check(clip.frames() >= 1 && clip.seconds() <= kLongestSong, ErrorKind::Input,
          "[acestep.song] {}: a clip of {:.2f} seconds; expected more than nothing and at most {}.",
          request.source, clip.seconds(), kLongestSong);
    inputs.source = prepared_source(clip);
    inputs.request.seconds = inputs.source.seconds();
    check_clip(inputs);
  }
  read_prompts(folder, inputs);
  for (const auto& lora : request.loras) inputs.adapters.push_back(read_adapter(lora.path));
  return inputs;
}

}  // namespace ubique::acestep
