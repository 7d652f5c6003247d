// SPDX-License-Identifier: Apache-2.0
// What a request may say.
#include "ubique/models/acestep/use/song_request.h"

#include <cmath>

#include "ubique/base/error.h"
#include "ubique/base/text/names.h"
#include "ubique/base/text/printable.h"
#include "ubique/data/lyrics/language.h"

namespace ubique::acestep {
namespace {

constexpr NameTable<SongTask, 6> kTasks{{{SongTask::Text2Music, "text2music"},
                                         {SongTask::Retake, "retake"},
                                         {SongTask::Repaint, "repaint"},
                                         {SongTask::Extend, "extend"},
                                         {SongTask::Edit, "edit"},
                                         {SongTask::Audio2Audio, "audio2audio"}}};
constexpr std::int64_t kMostSteps = 1000, kMostVariations = 64;
constexpr std::size_t kLongestTags = 10'000, kLongestLyrics = 1 << 20;  // bytes
constexpr std::int64_t kLargestSeed = std::int64_t{1} << 53;            // exact in JSON
constexpr double kLongestFade = 60;

/// Of a list that may be shorter than the number of variations: counted on from its last value.
std::int64_t nth_seed(const std::vector<std::int64_t>& seeds, std::int64_t index) {
  const auto last = static_cast<std::int64_t>(seeds.size()) - 1;
  if (index <= last) return seeds[static_cast<std::size_t>(index)];
  return seeds.back() + (index - last);
}

void in_range(const char* what, double value, double least, double most) {
  check(std::isfinite(value) && value >= least && value <= most, ErrorKind::Usage,
        "[acestep.song] {} is out of range; got {}, expected {} to {}.", what, value, least, most);
}

void check_count(const char* what, std::int64_t value, std::int64_t least, std::int64_t most) {
  check(value >= least && value <= most, ErrorKind::Usage,
        "[acestep.song] {} is out of range; got {}, expected {} to {}.", what, value, least, most);
}

void check_seeds(const char* what, const std::vector<std::int64_t>& seeds) {
  check_count(what, static_cast<std::int64_t>(seeds.size()), 0, kMostVariations);
  for (const auto seed : seeds) check_count("a seed", seed, 0, kLargestSeed);
}

void check_texts(const SongRequest& request) {
  check(!request.tags.empty() || !request.lyrics.empty(), ErrorKind::Usage,
        "[acestep.song] neither tags nor lyrics; expected --tags 'funk, bass, 110 bpm', --preset "
        "NAME or --from song.json.");
  for (const auto* tags : {&request.tags, &request.target_tags}) {
    check(tags->size() <= kLongestTags, ErrorKind::Usage,
          "[acestep.song] the tags are too long; got {} bytes, expected at most {}.", tags->size(),
          kLongestTags);
  }
  for (const auto* lyrics : {&request.lyrics, &request.target_lyrics}) {
    check(lyrics->size() <= kLongestLyrics, ErrorKind::Usage,
          "[acestep.song] the lyrics are too long; got {} bytes, expected at most {}.",
          lyrics->size(), kLongestLyrics);
  }
  check(request.language.empty() || data::find_lyric_language(request.language) != nullptr,
        ErrorKind::Usage,
        "[acestep.song] the language of the lyrics is unknown; got '{}', expected a code such as "
        "en, de or fr.",
        printable(request.language, 40));
}

void check_sampling(const SongRequest& request) {
  const auto& guidance = request.guidance;
  check_count("the number of steps", request.steps, 1, kMostSteps);
  in_range("the guidance", guidance.scale, 0, 1000);
  in_range("the guided share of the steps", guidance.interval, 0, 1);
  in_range("the decay of the guidance", guidance.decay, 0, 1);
  in_range("the least guidance", guidance.least_scale, 0, 1000);
  in_range("the guidance of the tags", guidance.text_scale, 0, 1000);
  in_range("the guidance of the lyrics", guidance.lyric_scale, 0, 1000);
  in_range("omega", request.omega, -1000, 1000);
  in_range("the shift", request.shift, 0.01, 100);
  check(request.chosen_steps.empty() || request.chosen_steps.back() <= kMostSteps, ErrorKind::Usage,
        "[acestep.song] a chosen step is {}, expected at most {}.", request.chosen_steps.back(),
        kMostSteps);
  if (!request.chosen_steps.empty()) (void)nn::chosen_steps(request.solver, request.chosen_steps);
}

void check_source(const SongRequest& request) {
  const bool needed = needs_source(request.task);
  check(!needed || !request.source.empty(), ErrorKind::Usage,
        "[acestep.song] {} begins with a clip; expected --source FILE.", to_string(request.task));
  check(needed || request.source.empty(), ErrorKind::Usage,
        "[acestep.song] {} does not read a clip; got --source {}. Expected --task repaint, extend, "
        "edit or audio2audio with it.",
        to_string(request.task), printable(request.source));
}

void check_task(const SongRequest& request) {
  in_range("the variance", request.variance, 0, 1);
  switch (request.task) {
    case SongTask::Text2Music:
    case SongTask::Retake:
      check(std::isfinite(request.seconds) && frames_of(request.seconds) >= 1 &&
                request.seconds <= kLongestSong,
            ErrorKind::Usage,
            "[acestep.song] a song of {} seconds; expected 0.1 to {}. --task extend makes a song "
            "longer, piece by piece.",
            request.seconds, kLongestSong);
      break;
    case SongTask::Repaint:
      in_range("the window's start", request.start, 0, kLongestSong);
      check(request.end == -1 || request.end > request.start, ErrorKind::Usage,
            "[acestep.song] the window of repaint is empty; got {} to {} seconds, expected an end "
            "behind the start, or -1: the clip's end.",
            request.start, request.end);
      break;
    case SongTask::Extend:
      in_range("what is added to the left", request.left, 0, kLongestSong);
      in_range("what is added to the right", request.right, 0, kLongestSong);
      check(frames_of(request.left) + frames_of(request.right) >= 1, ErrorKind::Usage,
            "[acestep.song] extend adds nothing; expected --left or --right in seconds.");
      break;
    case SongTask::Edit:
      check(!request.target_tags.empty() || !request.target_lyrics.empty(), ErrorKind::Usage,
            "[acestep.song] an edit towards what? Expected --target-tags or --target-lyrics.");
      in_range("the edit's first share of the steps", request.edit.begin, 0, 1);
      in_range("the edit's last share of the steps", request.edit.end, request.edit.begin, 1);
      check_count("the number of averaged noises", request.edit.averaged, 1, 100);
      break;
    case SongTask::Audio2Audio:
      check(request.strength >= 0 && request.strength < 1, ErrorKind::Usage,
            "[acestep.song] the source's strength is out of range; got {}, expected 0 to below 1.",
            request.strength);
      break;
  }
}

void check_output(const SongOutput& output) {
  const bool known = output.format == "wav" || output.format == "flac" || output.format == "ogg" ||
                     output.format == "mp3";
  check(known, ErrorKind::Usage,
        "[acestep.song] unknown format; got '{}', expected wav, flac, ogg or mp3.",
        printable(output.format, 40));
  check(output.bits == 16 || output.bits == 24 || output.bits == 32, ErrorKind::Usage,
        "[acestep.song] got {} bits, expected 16, 24 or 32.", output.bits);
  in_range("the fade at the start", output.fade_in, 0, kLongestFade);
  in_range("the fade at the end", output.fade_out, 0, kLongestFade);
  if (output.loudness) in_range("the loudness", *output.loudness, -70, 0);
}

/// Layers of the original in a network of its depth or more; else the same part of a shallower one.
LayerRange moved(const LayerRange& range, std::int64_t original_depth, std::int64_t depth) {
  if (depth >= range.last) return range;
  const auto first = std::min(depth - 1, range.first * depth / original_depth);
  const auto count = std::max<std::int64_t>(1, (range.last - range.first) * depth / original_depth);
  return {.first = first, .last = std::min(depth, first + count)};
}

}  // namespace

std::string_view to_string(SongTask task) { return name_of(kTasks, task); }

SongTask parse_song_task(std::string_view text) {
  return parse_name(kTasks, "acestep.song", "task", printable(text, 40));
}

bool needs_source(SongTask task) {
  return task != SongTask::Text2Music && task != SongTask::Retake;
}

std::int64_t SongRequest::seed(std::int64_t variation) const { return nth_seed(seeds, variation); }

std::int64_t SongRequest::retake_seed(std::int64_t variation) const {
  return nth_seed(retake_seeds.empty() ? seeds : retake_seeds, variation);
}

SongRequest SongRequest::only(std::int64_t variation) const {
  auto one = *this;
  one.variations = 1;
  one.seeds = {seed(variation)};
  one.retake_seeds = {retake_seed(variation)};
  return one;
}

void validate(const SongRequest& request) {
  check_texts(request);
  check_sampling(request);
  check_count("the number of variations", request.variations, 1, kMostVariations);
  check(!request.seeds.empty(), ErrorKind::Usage, "[acestep.song] no seed; expected one.");
  check_seeds("the number of seeds", request.seeds);
  check_seeds("the number of seeds of retakes", request.retake_seeds);
  check_source(request);
  check_task(request);
  check_output(request.output);
  for (const auto& lora : request.loras) {
    in_range("the weight of an adapter", lora.weight, -10, 10);
    check(!lora.path.empty(), ErrorKind::Usage,
          "[acestep.song] an adapter without a path; expected --lora PATH or PATH:WEIGHT.");
  }
}

SampleOptions sample_options(const SongRequest& request, const NetworkConfigs& networks) {
  SampleOptions options;
  options.solver = request.solver;
  options.steps = request.steps;
  options.chosen_steps = request.chosen_steps;
  options.shift = request.shift;
  options.omega = request.omega;
  options.guidance = request.guidance;
  options.batch_mean = request.compatibility.batch_mean;
  options.near_shift = request.compatibility.near_shift;
  auto& weak = options.weak;
  const NetworkConfigs original;
  weak.text = request.weak_text;
  weak.lyric = request.weak_lyric;
  weak.diffusion = request.weak_diffusion;
  weak.text_layers = moved(weak.text_layers, original.text.layers, networks.text.layers);
  weak.lyric_layers = moved(weak.lyric_layers, original.transformer.lyric.layers,
                            networks.transformer.lyric.layers);
  weak.blocks = moved(weak.blocks, original.transformer.layers, networks.transformer.layers);
  return options;
}

}  // namespace ubique::acestep
