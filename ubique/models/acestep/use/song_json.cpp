// SPDX-License-Identifier: Apache-2.0
// Keys of song.json, written and read.
#include "ubique/models/acestep/use/song_json.h"

#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/json_fields.h"
#include "ubique/base/text/text.h"

namespace ubique::acestep {
namespace {

constexpr std::int64_t kLargestSongJson = 8 << 20;
constexpr const char* kOurs = "ubique";
constexpr const char* kTag = "acestep.song";

/// What the original's extend task calls the window: left of the clip, and behind its end.
double window_start(const SongRequest& request) {
  return request.task == SongTask::Extend ? -request.left : request.start;
}

double window_end(const SongRequest& request) {
  return request.task == SongTask::Extend ? request.seconds + request.right : request.end;
}

Json our_fields(const SongRequest& request, const SongRecord& record) {
  Json loras = Json::array();
  for (const auto& lora : request.loras) {
    loras.push_back({{"path", lora.path}, {"weight", lora.weight}});
  }
  const auto& output = request.output;
  return {{"version", 1},
          {"model", record.model},
          {"device", record.device},
          {"dtype", record.dtype},
          {"language", request.language},
          {"shift", request.shift},
          {"loras", loras},
          {"extend_left", request.left},
          {"extend_right", request.right},
          {"batch_mean", request.compatibility.batch_mean},
          {"near_shift", request.compatibility.near_shift},
          {"bits", output.bits},
          {"fade_in", output.fade_in},
          {"fade_out", output.fade_out},
          {"loudness", output.loudness ? Json(*output.loudness) : Json(nullptr)}};
}

/// Numbers, or texts of numbers; null and "" are none.
std::vector<std::int64_t> take_integers(JsonFields& fields, const std::string& key,
                                        const std::string& where) {
  const auto json = fields.take_json(key);
  std::vector<std::int64_t> values;
  const auto add = [&](const Json& item) {
    if (item.is_number_integer()) return values.push_back(item.get<std::int64_t>());
    const auto number = item.is_string() ? parse_number(item.get<std::string>()) : std::nullopt;
    const bool whole = number && *number >= 0 && *number < 9e15 &&
                       *number == static_cast<double>(static_cast<std::int64_t>(*number));
    check(whole, ErrorKind::Input, "[{}] {}: '{}' holds {}, expected whole numbers.", kTag, where,
          key, json_text(item));
    values.push_back(static_cast<std::int64_t>(*number));
  };
  if (json.is_array()) {
    for (const auto& item : json) add(item);
  } else if (json.is_string()) {
    for (const auto& part : split(json.get<std::string>(), ',')) add(part);
  } else if (!json.is_null()) {
    add(json);
  }
  return values;
}

/// Null leaves the value alone, as in the original's files.
template <typename T>
void take_if(JsonFields& fields, const std::string& key, T& value, const std::string& where) {
  const auto json = fields.take_json(key);
  if (json.is_null()) return;
  try {
    value = json.get<T>();
  } catch (const Json::exception&) {
    fail(ErrorKind::Input, "[{}] {}: '{}' cannot be read; got {}.", kTag, where, key,
         json_text(json));
  }
}

void take_ours(const Json& json, const std::string& where, SongRequest& request) {
  if (json.is_null()) return;
  JsonFields fields(json, kTag, where + ": ubique");
  for (const auto* key : {"version", "model", "device", "dtype", "failed"}) fields.take_json(key);
  take_if(fields, "language", request.language, where);
  take_if(fields, "shift", request.shift, where);
  take_if(fields, "extend_left", request.left, where);
  take_if(fields, "extend_right", request.right, where);
  take_if(fields, "batch_mean", request.compatibility.batch_mean, where);
  take_if(fields, "near_shift", request.compatibility.near_shift, where);
  auto& output = request.output;
  take_if(fields, "bits", output.bits, where);
  take_if(fields, "fade_in", output.fade_in, where);
  take_if(fields, "fade_out", output.fade_out, where);
  if (const auto loudness = fields.take_json("loudness"); loudness.is_number()) {
    output.loudness = loudness.get<double>();
  }
  const auto loras = fields.take_json("loras");
  check(loras.is_null() || loras.is_array(), ErrorKind::Input,
        "[{}] {}: 'loras' is {}, expected a list.", kTag, where, json_text(loras));
  if (loras.is_array()) request.loras.clear();
  for (const auto& item : loras) {
    JsonFields lora(item, kTag, where + ": loras");
    LoraChoice choice;
    take_if(lora, "path", choice.path, where);
    take_if(lora, "weight", choice.weight, where);
    lora.finish();
    request.loras.push_back(choice);
  }
  fields.finish();
}

void take_sampling(JsonFields& fields, const std::string& where, SongRequest& request) {
  auto& guidance = request.guidance;
  take_if(fields, "infer_step", request.steps, where);
  take_if(fields, "guidance_scale", guidance.scale, where);
  fields.take_name<nn::FlowSolver>("scheduler_type", request.solver, nn::parse_flow_solver);
  fields.take_name<nn::GuidanceKind>("cfg_type", guidance.kind, nn::parse_guidance_kind);
  take_if(fields, "omega_scale", request.omega, where);
  take_if(fields, "guidance_interval", guidance.interval, where);
  take_if(fields, "guidance_interval_decay", guidance.decay, where);
  take_if(fields, "min_guidance_scale", guidance.least_scale, where);
  take_if(fields, "guidance_scale_text", guidance.text_scale, where);
  take_if(fields, "guidance_scale_lyric", guidance.lyric_scale, where);
  take_if(fields, "use_erg_tag", request.weak_text, where);
  take_if(fields, "use_erg_lyric", request.weak_lyric, where);
  take_if(fields, "use_erg_diffusion", request.weak_diffusion, where);
  request.chosen_steps = take_integers(fields, "oss_steps", where);
  const auto seeds = take_integers(fields, "actual_seeds", where);
  if (!seeds.empty()) {
    request.seeds = seeds;
    request.variations = static_cast<std::int64_t>(seeds.size());
  }
  request.retake_seeds = take_integers(fields, "retake_seeds", where);
}

void take_tasks(JsonFields& fields, const std::string& where, SongRequest& request) {
  fields.take_name<SongTask>("task", request.task, parse_song_task);
  take_if(fields, "retake_variance", request.variance, where);
  double start = 0, end = -1;
  take_if(fields, "repaint_start", start, where);
  take_if(fields, "repaint_end", end, where);
  if (request.task == SongTask::Extend) {
    request.left = std::max(0.0, -start);
    request.right = std::max(0.0, end - request.seconds);
  } else {
    request.start = start;
    request.end = end;
  }
  take_if(fields, "edit_n_min", request.edit.begin, where);
  take_if(fields, "edit_n_max", request.edit.end, where);
  take_if(fields, "edit_n_avg", request.edit.averaged, where);
  take_if(fields, "edit_target_prompt", request.target_tags, where);
  take_if(fields, "edit_target_lyrics", request.target_lyrics, where);
  take_if(fields, "src_audio_path", request.source, where);
  std::string reference;
  bool near = false;
  take_if(fields, "audio2audio_enable", near, where);
  take_if(fields, "ref_audio_strength", request.strength, where);
  take_if(fields, "ref_audio_input", reference, where);
  if (near) {
    request.task = SongTask::Audio2Audio;
    request.source = reference;
  }
  if (!needs_source(request.task)) request.source.clear();
}

}  // namespace

Json song_json(const SongRequest& request, const SongRecord& record) {
  const auto& guidance = request.guidance;
  const bool near = request.task == SongTask::Audio2Audio;
  const auto path_or_null = [](bool used, const std::string& path) {
    return used ? Json(path) : Json(nullptr);
  };
  return {{"format", request.output.format},
          {"lora_name_or_path", request.loras.empty() ? "none" : request.loras.front().path},
          {"lora_weight", request.loras.empty() ? 1.0 : request.loras.front().weight},
          {"task", near ? "text2music" : to_string(request.task)},
          {"prompt", request.tags},
          {"lyrics", request.lyrics},
          {"audio_duration", request.seconds},
          {"infer_step", request.steps},
          {"guidance_scale", guidance.scale},
          {"scheduler_type", nn::to_string(request.solver)},
          {"cfg_type", nn::to_string(guidance.kind)},
          {"omega_scale", request.omega},
          {"guidance_interval", guidance.interval},
          {"guidance_interval_decay", guidance.decay},
          {"min_guidance_scale", guidance.least_scale},
          {"use_erg_tag", request.weak_text},
          {"use_erg_lyric", request.weak_lyric},
          {"use_erg_diffusion", request.weak_diffusion},
          {"oss_steps", request.chosen_steps},
          {"timecosts",
           {{"preprocess", record.times.text},
            {"diffusion", record.times.diffusion},
            {"latent2audio", record.times.decoding}}},
          {"actual_seeds", request.seeds},
          {"retake_seeds", request.retake_seeds},
          {"retake_variance", request.variance},
          {"guidance_scale_text", guidance.text_scale},
          {"guidance_scale_lyric", guidance.lyric_scale},
          {"repaint_start", window_start(request)},
          {"repaint_end", window_end(request)},
          {"edit_n_min", request.edit.begin},
          {"edit_n_max", request.edit.end},
          {"edit_n_avg", request.edit.averaged},
          {"src_audio_path", path_or_null(needs_source(request.task) && !near, request.source)},
          {"edit_target_prompt", request.target_tags},
          {"edit_target_lyrics", request.target_lyrics},
          {"audio2audio_enable", near},
          {"ref_audio_strength", request.strength},
          {"ref_audio_input", path_or_null(near, request.source)},
          {"audio_path", record.audio_path},
          {kOurs, our_fields(request, record)}};
}

SongRequest parse_song_json(const Json& json, const std::string& where) {
  JsonFields fields(json, kTag, where);
  SongRequest request;
  for (const auto* key : {"timecosts", "audio_path"}) fields.take_json(key);
  take_if(fields, "format", request.output.format, where);
  take_if(fields, "prompt", request.tags, where);
  take_if(fields, "lyrics", request.lyrics, where);
  take_if(fields, "audio_duration", request.seconds, where);
  LoraChoice lora{.path = "none"};
  take_if(fields, "lora_name_or_path", lora.path, where);
  take_if(fields, "lora_weight", lora.weight, where);
  if (lora.path != "none" && !lora.path.empty()) request.loras = {lora};
  take_sampling(fields, where, request);
  take_tasks(fields, where, request);
  take_ours(fields.take_json(kOurs), where, request);
  fields.finish();
  return request;
}

SongRequest read_song_json(const std::filesystem::path& path) {
  return parse_song_json(parse_json(read_file(path, kLargestSongJson), path.string()),
                         path.string());
}

SongRequest default_request(const std::filesystem::path& model_folder) {
  const auto path = model_folder / "song.json";
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) ? read_song_json(path) : SongRequest();
}

}  // namespace ubique::acestep
