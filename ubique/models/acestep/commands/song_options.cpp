// SPDX-License-Identifier: Apache-2.0
// Keys of a request, each over what was said before.
#include "ubique/models/acestep/commands/song_options.h"

#include "ubique/base/files/file.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"
#include "ubique/models/acestep/files/presets.h"
#include "ubique/models/acestep/use/song_json.h"

namespace ubique::acestep {
namespace {

constexpr std::int64_t kLargestLyricsFile = 4 << 20;

template <typename T>
void take(const Config& config, const char* key, T& value) {
  value = config.get(key, value);
}

void take_text(const Config& config, SongRequest& request) {
  take(config, "tags", request.tags);
  take(config, "language", request.language);
  const bool instrumental = config.get("instrumental", false);
  const auto lyrics = config.find<std::string>("lyrics");
  const auto file = config.find<std::string>("lyrics_file");
  check(static_cast<int>(instrumental) + static_cast<int>(lyrics.has_value()) +
                static_cast<int>(file.has_value()) <=
            1,
        ErrorKind::Usage,
        "[acestep.song] --lyrics, --lyrics-file and --instrumental say different things; expected "
        "one of them.");
  if (lyrics) request.lyrics = *lyrics;
  if (file) request.lyrics = read_file(*file, kLargestLyricsFile);
  if (instrumental) {
    request.lyrics = "[inst]";
    request.tags += request.tags.empty() ? "instrumental" : ", instrumental";
  }
  const auto avoided = config.get("negative_prompt", std::string());
  if (!avoided.empty()) {
    request.tags += (request.tags.empty() ? "avoid: " : ", avoid: ") + avoided;
  }
  take(config, "target_tags", request.target_tags);
  take(config, "target_lyrics", request.target_lyrics);
}

void take_sampling(const Config& config, SongRequest& request) {
  auto& guidance = request.guidance;
  take(config, "steps", request.steps);
  take(config, "guidance", guidance.scale);
  if (const auto name = config.find<std::string>("solver")) {
    request.solver = nn::parse_flow_solver(*name);
  }
  if (const auto name = config.find<std::string>("guidance_kind")) {
    guidance.kind = nn::parse_guidance_kind(*name);
  }
  take(config, "guidance_interval", guidance.interval);
  take(config, "guidance_decay", guidance.decay);
  take(config, "guidance_least", guidance.least_scale);
  take(config, "guidance_tags", guidance.text_scale);
  take(config, "guidance_lyrics", guidance.lyric_scale);
  take(config, "omega", request.omega);
  take(config, "shift", request.shift);
  take(config, "erg_tags", request.weak_text);
  take(config, "erg_lyrics", request.weak_lyric);
  take(config, "erg_diffusion", request.weak_diffusion);
  take(config, "oss_steps", request.chosen_steps);
}

void take_task(const Config& config, SongRequest& request) {
  if (const auto name = config.find<std::string>("task")) request.task = parse_song_task(*name);
  take(config, "seconds", request.seconds);
  take(config, "source", request.source);
  take(config, "variance", request.variance);
  take(config, "start", request.start);
  take(config, "end", request.end);
  take(config, "left", request.left);
  take(config, "right", request.right);
  take(config, "edit_from", request.edit.begin);
  take(config, "edit_to", request.edit.end);
  take(config, "edit_noises", request.edit.averaged);
  take(config, "strength", request.strength);
  take(config, "seed", request.seeds);
  take(config, "retake_seed", request.retake_seeds);
  take(config, "variations", request.variations);
}

void take_adapters(const Config& config, SongRequest& request) {
  if (const auto names = config.find<std::vector<std::string>>("lora")) {
    request.loras.clear();
    for (const auto& name : *names) request.loras.push_back(parse_lora(name));
  }
  for (const auto& name : config.get("compat", std::vector<std::string>{})) {
    check(name == "batch-mean" || name == "near-shift", ErrorKind::Usage,
          "[acestep.song] unknown --compat; got '{}', expected batch-mean or near-shift.",
          printable(name, 60));
    auto& switched =
        name == "batch-mean" ? request.compatibility.batch_mean : request.compatibility.near_shift;
    switched = true;
  }
}

void take_output(const Config& config, SongRequest& request) {
  auto& output = request.output;
  take(config, "format", output.format);
  take(config, "bits", output.bits);
  take(config, "fade_in", output.fade_in);
  take(config, "fade_out", output.fade_out);
  if (const auto loudness = config.find<double>("loudness")) output.loudness = loudness;
}

void take_all(const Config& config, SongRequest& request) {
  take_text(config, request);
  take_sampling(config, request);
  take_task(config, request);
  take_adapters(config, request);
  take_output(config, request);
}

/// The preset's keys; a mistyped one is named.
void take_preset(const Config& config, SongRequest& request) {
  const auto own = config.get("presets", std::string());
  const auto id = config.get("preset", std::string());
  if (id.empty()) return;
  const auto preset = Config::from_file(find_preset(id, own).path);
  preset.ignore("label");
  take_all(preset, request);
  preset.finish();
}

std::vector<engine::Option> text_options() {
  return engine::in_group(
      "Song",
      {{"--tags,--prompt,--genre-prompt", "tags", "TEXT", "what it sounds like: 'funk, 110 bpm'"},
       {"--lyrics", "lyrics", "TEXT", "lines, with [verse], [chorus], [inst] ..."},
       {"--lyrics-file", "lyrics_file", "FILE", "the same from a file"},
       {"--instrumental", "instrumental", "", "no singing: lyrics [inst]"},
       {"--language", "language", "CODE", "of the lyrics: en, de, ...; else guessed by line"},
       {"--negative-prompt", "negative_prompt", "TEXT", "adds 'avoid: TEXT' to the tags"},
       {"--seconds,--duration", "seconds", "X", "length, up to 240 (60)"},
       {"--seed,--seeds", "seed", "N", "the same seed, the same song; a list for variations (0)"},
       {"--variations", "variations", "N", "songs from consecutive seeds (1)"},
       {"--preset", "preset", "ID", "tags and settings by name; see --list-presets"},
       {"--presets", "presets", "FOLDER", "with presets of your own"},
       {"--list-presets", "list_presets", "", "shows them and makes no song"},
       {"--from", "from", "FILE", "song.json of an earlier song, ours or ACE-Step's"}});
}

std::vector<engine::Option> task_options() {
  return engine::in_group(
      "Task",
      {{"--task", "task", "NAME", "text2music, retake, repaint, extend, edit, audio2audio"},
       {"--source", "source", "FILE", "the clip that the last four begin with"},
       {"--variance", "variance", "X", "how new a retake or repaint is, 0 to 1 (0.5)"},
       {"--retake-seed", "retake_seed", "N", "of what is new in them (as --seed)"},
       {"--start", "start", "X", "repaint from this second (0)"},
       {"--end", "end", "X", "repaint to this second; -1: the end (-1)"},
       {"--left", "left", "X", "extend by these seconds before"},
       {"--right", "right", "X", "extend by these seconds after"},
       {"--target-tags", "target_tags", "TEXT", "edit towards these tags"},
       {"--target-lyrics", "target_lyrics", "TEXT", "edit towards these lyrics"},
       {"--edit-from", "edit_from", "X", "first share of the steps that edits (0)"},
       {"--edit-to", "edit_to", "X", "last one; then the target is sampled (1)"},
       {"--edit-noises", "edit_noises", "N", "noises averaged in a step (1)"},
       {"--strength", "strength", "X", "of the source in audio2audio, 0 to below 1 (0.5)"}});
}

std::vector<engine::Option> sampling_options() {
  return engine::in_group(
      "Sampling",
      {{"--steps,--infer-step", "steps", "N", "of diffusion (60)"},
       {"--solver", "solver", "NAME", "euler, heun or pingpong"},
       {"--guidance,--guidance-scale", "guidance", "X", "how closely to follow the tags (15)"},
       {"--guidance-kind", "guidance_kind", "NAME", "apg, cfg or cfg_star"},
       {"--guidance-interval", "guidance_interval", "X", "guided middle share of steps (0.5)"},
       {"--guidance-decay", "guidance_decay", "X", "how far guidance falls in it, 0 to 1 (0)"},
       {"--guidance-least", "guidance_least", "X", "towards this (3)"},
       {"--guidance-tags", "guidance_tags", "X", "with --guidance-lyrics, both above 1: apart"},
       {"--guidance-lyrics", "guidance_lyrics", "X", ""},
       {"--omega", "omega", "X", "stretches each step about its mean (10)"},
       {"--shift", "shift", "X", "of noise levels; AceForge samples with 6 (3)"},
       {"--oss-steps", "oss_steps", "LIST", "these steps of a schedule, from 1"},
       {"--erg-tags,!--no-erg-tags", "erg_tags", "", "guide away from weakened tags (on)"},
       {"--erg-lyrics,!--no-erg-lyrics", "erg_lyrics", "", "the same of lyrics (on)"},
       {"--erg-diffusion,!--no-erg-diffusion", "erg_diffusion", "", "the same of blocks (on)"},
       {"--compat", "compat", "LIST",
        "ACE-Step's own numbers: batch-mean (omega), near-shift (audio2audio)"}});
}

std::vector<engine::Option> output_options() {
  return engine::in_group(
      "Sound",
      {{"--format", "format", "NAME", "wav, flac, ogg or mp3, if -o does not say (wav)"},
       {"--bits", "bits", "N", "of wav and flac: 16, 24 or 32 (16)"},
       {"--fade-in", "fade_in", "X", "seconds (0)"},
       {"--fade-out", "fade_out", "X", "seconds (0)"},
       {"--loudness", "loudness", "LUFS", "scale to this, e.g. -14; peaks stay below -1 dB"},
       {"--picture", "picture", "", "a PNG with spectrogram and wave"},
       {"--out-dir", "out_dir", "FOLDER", "the same as -o FOLDER"},
       {"--basename", "basename", "NAME", "of files in a folder (song)"}});
}

}  // namespace

LoraChoice parse_lora(const std::string& text) {
  const auto colon = text.rfind(':');
  if (colon == std::string::npos) return {.path = text};
  const auto weight = parse_number(text.substr(colon + 1));
  check(weight.has_value(), ErrorKind::Usage,
        "[acestep.song] the weight of an adapter is no number; got '{}', expected PATH:WEIGHT such "
        "as style:0.8.",
        printable(text));
  return {.path = text.substr(0, colon), .weight = *weight};
}

std::vector<engine::Option> song_options() {
  return engine::all_options(
      {text_options(), task_options(), sampling_options(), output_options(),
       engine::in_group(engine::kModelGroup, {{"--lora", "lora", "PATH[:WEIGHT]",
                                               "adapter of a style; several with commas"}})});
}

SongRequest read_song_request(const Config& config, const SongRequest& defaults) {
  auto request = defaults;
  const auto from = config.get("from", std::string());
  if (!from.empty()) request = read_song_json(from);
  take_preset(config, request);
  take_all(config, request);
  validate(request);
  return request;
}

}  // namespace ubique::acestep
