// SPDX-License-Identifier: Apache-2.0
// Requests for songs: impossible ones are refused before anything is opened; song.json holds all of
// one.
#include "ubique/models/acestep/use/song_request.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "ubique/base/error.h"
#include "ubique/base/text/json.h"
#include "ubique/models/acestep/use/song_json.h"

using namespace ubique;
using acestep::SongRequest, acestep::SongTask;

namespace {

std::string request_refusal(const std::function<void(SongRequest&)>& change) {
  SongRequest request;
  request.tags = "funk";
  change(request);
  try {
    validate(request);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::Usage);
    return error.what();
  }
  return "accepted";
}

void refuses(const std::function<void(SongRequest&)>& change, const std::string& part) {
  const auto message = request_refusal(change);
  CAPTURE(message);
  CHECK(message.find(part) != std::string::npos);
}

void asks(SongRequest& request, SongTask task) {
  request.task = task;
  if (needs_source(task)) request.source = "clip.wav";
}

/// A request with no default value in it.
SongRequest unusual_request() {
  SongRequest request;
  request.task = SongTask::Edit;
  request.tags = "a \"quoted\" tag";
  request.lyrics = "[verse]\nline";
  request.language = "de";
  request.seconds = 12.34567890123;
  request.steps = 7;
  request.solver = nn::FlowSolver::PingPong;
  request.chosen_steps = {2, 5, 9};
  request.guidance = {.kind = nn::GuidanceKind::CfgStar,
                      .scale = 4.1,
                      .interval = 0.7,
                      .decay = 0.3,
                      .least_scale = 2.2,
                      .text_scale = 5.5,
                      .lyric_scale = 1.7};
  request.omega = 3.3;
  request.shift = 6;
  request.weak_text = request.weak_lyric = request.weak_diffusion = false;
  request.seeds = {9007199254740991};
  request.retake_seeds = {5};
  request.source = "clip.wav";
  request.variance = 0.25;
  request.start = 1.5;
  request.end = 2.5;
  request.edit = {.begin = 0.1, .end = 0.9, .averaged = 3};
  request.target_tags = "jazz";
  request.target_lyrics = "other";
  request.strength = 0.4;
  request.loras = {{"style a", 0.5}, {"b", -1}};
  request.compatibility = {.batch_mean = true, .near_shift = true};
  request.output = {.format = "flac", .bits = 24, .fade_in = 0.5, .fade_out = 1, .loudness = -14};
  return request;
}

}  // namespace

TEST_CASE("acestep request: what cannot be is refused with its name") {
  CHECK(request_refusal([](SongRequest&) {}) == "accepted");
  refuses([](SongRequest& r) { r.tags.clear(); }, "neither tags nor lyrics");
  refuses([](SongRequest& r) { r.tags.assign(20'000, 'x'); }, "tags are too long");
  refuses([](SongRequest& r) { r.lyrics.assign(2 << 20, 'x'); }, "lyrics are too long");
  refuses([](SongRequest& r) { r.language = "tlh"; }, "language");
  for (const double seconds : {0.0, -1.0, 0.05, 36'000.0, double(NAN), double(INFINITY)}) {
    refuses([&](SongRequest& r) { r.seconds = seconds; }, "expected 0.1 to 240");
  }
  refuses([](SongRequest& r) { r.steps = 0; }, "number of steps");
  refuses([](SongRequest& r) { r.steps = 1'000'000; }, "number of steps");
  refuses([](SongRequest& r) { r.guidance.scale = NAN; }, "the guidance");
  refuses([](SongRequest& r) { r.guidance.interval = 1.5; }, "guided share");
  refuses([](SongRequest& r) { r.guidance.decay = -0.1; }, "decay");
  refuses([](SongRequest& r) { r.shift = 0; }, "shift");
  refuses([](SongRequest& r) { r.chosen_steps = {3, 2}; }, "step");
  refuses([](SongRequest& r) { r.chosen_steps = {3, 2'000'000}; }, "step");
  refuses([](SongRequest& r) { r.variations = 0; }, "variations");
  refuses([](SongRequest& r) { r.seeds.clear(); }, "seed");
  refuses([](SongRequest& r) { r.seeds = {-3}; }, "seed");
  refuses([](SongRequest& r) { r.variance = 2; }, "variance");
  refuses([](SongRequest& r) { r.output.format = "aac"; }, "format");
  refuses([](SongRequest& r) { r.output.bits = 8; }, "bits");
  refuses([](SongRequest& r) { r.output.fade_out = -1; }, "fade");
  refuses([](SongRequest& r) { r.output.loudness = 3; }, "loudness");
  refuses([](SongRequest& r) { r.loras = {{"x", 1e9}}; }, "weight of an adapter");
}

TEST_CASE("acestep request: tasks need their clip, a window and a target") {
  for (const auto task :
       {SongTask::Repaint, SongTask::Extend, SongTask::Edit, SongTask::Audio2Audio}) {
    refuses([&](SongRequest& r) { r.task = task; }, "--source");
  }
  refuses([](SongRequest& r) { r.source = "clip.wav"; }, "does not read a clip");
  refuses(
      [](SongRequest& r) {
        asks(r, SongTask::Repaint);
        r.start = 3;
        r.end = 3;
      },
      "window of repaint is empty");
  refuses([](SongRequest& r) { asks(r, SongTask::Extend); }, "extend adds nothing");
  refuses(
      [](SongRequest& r) {
        asks(r, SongTask::Extend);
        r.left = -1;
      },
      "left");
  refuses([](SongRequest& r) { asks(r, SongTask::Edit); }, "an edit towards what");
  refuses(
      [](SongRequest& r) {
        asks(r, SongTask::Edit);
        r.target_tags = "jazz";
        r.edit = {.begin = 0.6, .end = 0.4};
      },
      "edit's last share");
  refuses(
      [](SongRequest& r) {
        asks(r, SongTask::Audio2Audio);
        r.strength = 1;
      },
      "strength");
}

TEST_CASE("acestep request: variations have seeds of their own, counted on from the last given") {
  SongRequest request;
  request.tags = "funk";
  request.variations = 3;
  request.seeds = {7};
  CHECK(request.seed(2) == 9);
  CHECK(request.retake_seed(1) == 8);
  request.seeds = {4, 40};
  CHECK(request.seed(0) == 4);
  CHECK(request.seed(2) == 41);
  const auto third = request.only(2);
  CHECK(third.variations == 1);
  CHECK(third.seed(0) == 41);
  CHECK(third.retake_seed(0) == 41);
}

TEST_CASE("acestep request: weakened layers are the original's, and move in shallow networks") {
  SongRequest request;
  const auto original = acestep::sample_options(request, {}).weak;
  CHECK(original.blocks.first == 15);
  CHECK(original.blocks.last == 20);
  const auto small = acestep::sample_options(request, acestep::tiny_networks()).weak;
  CHECK(small.blocks.first == 2);
  CHECK(small.blocks.last == 3);
  CHECK(small.text_layers.first == 1);
  CHECK(small.text_layers.last == 2);
}

TEST_CASE("acestep song.json: a request comes back as it was, to the last bit") {
  const auto request = unusual_request();
  const auto json = acestep::song_json(request, {.audio_path = "a.flac", .model = "m"});
  const auto text = json_text(json, 2);
  const auto back = acestep::parse_song_json(parse_json(text, "song.json"), "song.json");
  const auto again = acestep::song_json(back, {.audio_path = "a.flac", .model = "m"});
  CHECK(json_text(again, 2) == text);
  CHECK(back.seconds == request.seconds);
  CHECK(back.loras.size() == 2);
  CHECK(back.loras[1].weight == -1);
  auto near = request;
  near.task = SongTask::Audio2Audio;
  const auto near_json = acestep::song_json(near, {});
  CHECK(near_json.at("task") == "text2music");
  CHECK(acestep::parse_song_json(near_json, "x").task == SongTask::Audio2Audio);
  CHECK(acestep::parse_song_json(near_json, "x").source == "clip.wav");
}

TEST_CASE("acestep song.json: the original's own file is read") {
  const auto* text = R"({"format": "wav", "lora_name_or_path": "none", "lora_weight": 1,
    "task": "extend", "prompt": "funk", "lyrics": "[inst]", "audio_duration": 20.5,
    "infer_step": 27, "guidance_scale": 7.0, "scheduler_type": "heun", "cfg_type": "cfg",
    "omega_scale": 10, "guidance_interval": 0.5, "guidance_interval_decay": 0,
    "min_guidance_scale": 3, "use_erg_tag": true, "use_erg_lyric": false,
    "use_erg_diffusion": true, "oss_steps": [], "timecosts": {"preprocess": 1.5},
    "actual_seeds": [11, "12"], "retake_seeds": ["112"], "retake_variance": 0.5,
    "guidance_scale_text": 0, "guidance_scale_lyric": 0, "repaint_start": -4,
    "repaint_end": 30.5, "edit_n_min": 0, "edit_n_max": 1, "edit_n_avg": 1,
    "src_audio_path": "in.wav", "edit_target_prompt": null, "edit_target_lyrics": null,
    "audio2audio_enable": false, "ref_audio_strength": 0.5, "ref_audio_input": null,
    "audio_path": "out.wav"})";
  const auto request = acestep::parse_song_json(parse_json(text, "x"), "x");
  CHECK(request.task == SongTask::Extend);
  CHECK(request.left == 4);
  CHECK(request.right == 10);
  CHECK(request.seeds == std::vector<std::int64_t>{11, 12});
  CHECK(request.variations == 2);
  CHECK(request.retake_seeds == std::vector<std::int64_t>{112});
  CHECK(request.solver == nn::FlowSolver::Heun);
  CHECK_FALSE(request.weak_lyric);
  CHECK(request.source == "in.wav");
  validate(request);
}

TEST_CASE("acestep song.json: mistyped keys and wrong types are named") {
  const auto refusal = [](const char* text) {
    try {
      acestep::parse_song_json(parse_json(text, "x"), "song.json");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::Input);
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  CHECK(refusal(R"({"promt": "x"})").find("Did you mean 'prompt'") != std::string::npos);
  CHECK(refusal(R"({"infer_step": "many"})").find("infer_step") != std::string::npos);
  CHECK(refusal(R"({"actual_seeds": [1.5]})").find("actual_seeds") != std::string::npos);
  CHECK(refusal(R"({"cfg_type": "best"})").find("cfg_type") != std::string::npos);
  CHECK(refusal(R"({"ubique": {"loras": 3}})").find("loras") != std::string::npos);
  CHECK(refusal(R"({"ubique": {"shft": 3}})").find("Did you mean 'shift'") != std::string::npos);
  CHECK(refusal("[]").find("expected an object") != std::string::npos);
}
