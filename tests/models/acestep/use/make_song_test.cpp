// SPDX-License-Identifier: Apache-2.0
// Whole songs from a folder with fresh weights: every task, batches, stopping, and NaN.
#include "ubique/models/acestep/use/make_song.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include <cmath>

#include "tests/device.h"
#include "tests/models/acestep/small_model.h"
#include "tests/tensors.h"
#include "ubique/io/audio/audio_file.h"
#include "ubique/io/tensors/safetensors_writer.h"
#include "ubique/models/acestep/files/open.h"

using namespace ubique;
using acestep::SongRequest, acestep::SongTask;
using test::distance;

namespace {

SongRequest short_request() {
  SongRequest request;
  request.tags = "funk, 110 bpm";
  request.lyrics = "[verse]\nsing me a song";
  request.seconds = 0.5;
  request.steps = 3;
  request.seeds = {7};
  return request;
}

struct Made {
  std::vector<acestep::MadeSong> songs;
  acestep::SongResult result;
};

/// Songs of one model folder.
struct Studio {
  acestep::Parts open() const { return acestep::open_parts(place, test::kDevice, at::kFloat); }

  Made make(const SongRequest& request, std::int64_t batch = 1,
            acestep::SongHooks hooks = {}) const {
    Made made;
    auto parts = open();
    hooks.finished = [&](const acestep::MadeSong& song) { made.songs.push_back(song); };
    const auto inputs = acestep::read_song_inputs(request, place.folder);
    made.result = acestep::make_song(inputs, parts, {.batch = batch}, hooks);
    for (const auto part : acestep::kParts) CHECK_FALSE(parts.is_loaded(part));
    return made;
  }

  /// A clip of half a second.
  std::string clip() const {
    const auto path = (model.scratch() / "clip.wav").string();
    io::Audio audio{.rate = 48'000, .channels = 2};
    for (int i = 0; i < 2 * 24'000; ++i) {
      audio.samples.push_back(0.4F * std::sin(0.05F * static_cast<float>(i % 24'000)));
    }
    io::write_audio(path, audio);
    return path;
  }

  test::SmallModel model;
  acestep::ModelPlace place = acestep::find_model(model.path());
};

}  // namespace

TEST_CASE("acestep song: half a second is five frames of sound; the same seed is the same song") {
  const Studio studio;
  const auto first = studio.make(short_request()), again = studio.make(short_request());
  REQUIRE(first.songs.size() == 1);
  const auto& audio = first.songs[0].audio;
  CHECK(audio.rate == 48'000);
  CHECK(audio.channels == 2);
  CHECK(audio.frames() == (5 * 4096 * 160 + 146) / 147);
  CHECK(audio.samples == again.songs[0].audio.samples);
  auto other = short_request();
  other.seeds = {8};
  CHECK(distance(studio.make(other).songs[0].latents, first.songs[0].latents) > 0.1);
  other = short_request();
  other.tags = "waltz";
  CHECK(distance(studio.make(other).songs[0].latents, first.songs[0].latents) > 1e-4);
}

TEST_CASE("acestep song: four variations in one batch are the songs that each makes alone") {
  const Studio studio;
  for (const auto solver : {nn::FlowSolver::Euler, nn::FlowSolver::PingPong}) {
    auto request = short_request();
    request.solver = solver;
    request.variations = 4;
    request.seeds = {7, 20};
    const auto together = studio.make(request, 4), pairs = studio.make(request, 3);
    REQUIRE(together.songs.size() == 4);
    REQUIRE(pairs.songs.size() == 4);
    for (std::int64_t i = 0; i < 4; ++i) {
      const auto alone = studio.make(request.only(i));
      const auto& song = together.songs[static_cast<std::size_t>(i)];
      CHECK(song.variation == i);
      CHECK(distance(song.latents, alone.songs[0].latents) < 1e-4);
      CHECK(distance(pairs.songs[static_cast<std::size_t>(i)].latents, alone.songs[0].latents) <
            1e-4);
    }
    CHECK(distance(together.songs[1].latents, together.songs[2].latents) > 0.1);
  }
}

TEST_CASE("acestep song: noise depends on seed, use and number, and a longer song begins alike") {
  const auto noise = [](std::int64_t seed, acestep::NoiseUse use, std::int64_t number,
                        std::int64_t frames) {
    return acestep::song_noise(seed, use, number, 8, 16, frames);
  };
  const auto start = noise(3, acestep::NoiseUse::Start, 0, 6);
  CHECK(start.sizes() == at::IntArrayRef({8, 16, 6}));
  CHECK(distance(start, noise(3, acestep::NoiseUse::Start, 0, 9).slice(-1, 0, 6)) == 0);
  CHECK(distance(start, noise(4, acestep::NoiseUse::Start, 0, 6)) > 1);
  CHECK(distance(start, noise(3, acestep::NoiseUse::Retake, 0, 6)) > 1);
  CHECK(distance(start, noise(3, acestep::NoiseUse::Start, 1, 6)) > 1);
}

TEST_CASE("acestep song: a retake without variance is the song, with it another") {
  const Studio studio;
  const auto song = studio.make(short_request()).songs[0].latents;
  auto request = short_request();
  request.task = SongTask::Retake;
  request.retake_seeds = {99};
  request.variance = 0;
  CHECK(distance(studio.make(request).songs[0].latents, song) == 0);
  request.variance = 0.2;
  const auto near = distance(studio.make(request).songs[0].latents, song);
  request.variance = 0.9;
  const auto far = distance(studio.make(request).songs[0].latents, song);
  CHECK(near > 0.01);
  CHECK(far > near);
}

TEST_CASE("acestep song: repaint and extend keep the clip outside of what is new") {
  const Studio studio;
  auto request = short_request();
  request.source = studio.clip();
  request.task = SongTask::Repaint;
  request.start = 0.2;
  request.end = 0.4;
  const auto repainted = studio.make(request).songs[0].latents;  // (8, 16, 6)
  REQUIRE(repainted.size(-1) == 6);
  request.start = 0.3;
  request.end = -1;
  const auto later = studio.make(request).songs[0].latents;
  CHECK(distance(repainted.slice(-1, 0, 2), later.slice(-1, 0, 2)) < 1e-6);
  CHECK(distance(repainted.slice(-1, 2, 4), later.slice(-1, 2, 4)) > 0.1);
  request.task = SongTask::Extend;
  request.left = 0.1;
  request.right = 0.3;
  const auto extended = studio.make(request).songs[0].latents;
  REQUIRE(extended.size(-1) == 6 + 1 + 3);
  CHECK(distance(extended.slice(-1, 1, 3), later.slice(-1, 0, 2)) < 1e-6);
  CHECK(extended.isfinite().all().item<bool>());
}

TEST_CASE("acestep song: edits and songs near a clip are as long as the clip") {
  const Studio studio;
  auto request = short_request();
  request.source = studio.clip();
  request.task = SongTask::Edit;
  request.target_tags = "waltz";
  request.edit = {.begin = 0, .end = 0.7, .averaged = 2};
  CHECK(studio.make(request, 2).songs[0].latents.size(-1) == 6);
  request.task = SongTask::Audio2Audio;
  request.target_tags.clear();
  request.steps = 10;
  request.strength = 0.95;
  const auto close = studio.make(request).songs[0].latents;
  request.strength = 0.1;
  const auto loose = studio.make(request).songs[0].latents;
  CHECK(close.size(-1) == 6);
  CHECK(distance(close, loose) > 0.1);
}

TEST_CASE("acestep song: a song that is read again has as many frames as it had") {
  for (const std::int64_t frames : {1, 5, 10, 107}) {
    // What make_song() gives: 4096 samples a frame at 44.1 kHz, as 48 kHz.
    io::Audio song{.rate = 48'000, .channels = 2};
    song.samples.resize(static_cast<std::size_t>(2 * ((frames * 4096 * 160 + 146) / 147)), 0.1F);
    CHECK(acestep::prepared_source(song).frames() == frames * 4096);
  }
  io::Audio mono{.rate = 44'100, .channels = 1};
  mono.samples.resize(4096 + 3);
  CHECK(acestep::prepared_source(mono).frames() == 2 * 4096);
  CHECK(acestep::prepared_source(mono).channels == 2);
}

TEST_CASE("acestep song: windows outside of the clip and unreadable clips are refused") {
  const Studio studio;
  const auto refusal = [&](const SongRequest& request, ErrorKind kind) {
    return test::refusal_of(kind, [&] { acestep::read_song_inputs(request, studio.place.folder); });
  };
  auto request = short_request();
  request.source = studio.clip();
  request.task = SongTask::Repaint;
  request.start = 0.2;
  request.end = 9;
  CHECK(test::contains(refusal(request, ErrorKind::Usage), "not inside of the clip"));
  request.end = 0.21;
  CHECK(test::contains(refusal(request, ErrorKind::Usage), "shorter than a frame"));
  request.task = SongTask::Extend;
  request.right = 5;
  CHECK(test::contains(refusal(request, ErrorKind::Usage), "in several steps"));
  request.source = "nowhere.wav";
  CHECK(test::contains(refusal(request, ErrorKind::Input), "nowhere.wav"));
  request = short_request();
  request.lyrics.clear();
  for (int i = 0; i < 10'000; ++i) request.lyrics += "line of a very long song\n";
  CHECK(test::contains(refusal(request, ErrorKind::Input), "lyrics"));
}

TEST_CASE("acestep song: stopping between steps keeps the songs that are finished") {
  const Studio studio;
  auto request = short_request();
  request.variations = 3;
  std::int64_t last = 0;
  acestep::SongHooks hooks;
  hooks.progress = [&](const acestep::SongProgress& now) {
    if (now.stage == acestep::SongStage::Diffusion) last = now.done;
  };
  hooks.stop = [&] { return last >= 4; };
  const auto made = studio.make(request, 1, hooks);
  CHECK(made.result.stopped);
  CHECK(made.result.finished == 1);
  CHECK(made.songs.size() == 1);
  CHECK(distance(made.songs[0].latents, studio.make(short_request()).songs[0].latents) == 0);
}

TEST_CASE("acestep song: an adapter changes a song by its weight, and leaves nothing behind") {
  const Studio studio;
  const auto file = (studio.model.scratch() / "pytorch_lora_weights.safetensors").string();
  const auto a = test::random_tensor({4, 32}, 1), b = test::random_tensor({32, 4}, 2);
  const std::string layer = "transformer_blocks.0.cross_attn.to_q.lora_";
  io::write_safetensors(file, std::vector<io::TensorData>{
                                  {layer + "A.weight", DType::F32, {4, 32}, engine::bytes_of(a)},
                                  {layer + "B.weight", DType::F32, {32, 4}, engine::bytes_of(b)}});
  const auto plain = studio.make(short_request()).songs[0].latents;
  auto parts = studio.open();
  const auto made = [&](const std::vector<acestep::LoraChoice>& loras) {
    auto request = short_request();
    request.loras = loras;
    at::Tensor latents;
    acestep::SongHooks hooks;
    hooks.finished = [&](const acestep::MadeSong& song) { latents = song.latents; };
    const auto inputs = acestep::read_song_inputs(request, studio.place.folder);
    acestep::make_song(inputs, parts, {.release_parts = false}, hooks);
    return latents;
  };
  CHECK(distance(made({{file, 0}}), plain) == 0);
  const auto full = made({{file, 1}});
  CHECK(distance(full, plain) > 1e-3);
  CHECK(distance(made({{file, 0.5}, {file, 0.5}}), full) < 1e-4);
  CHECK(distance(made({}), plain) == 0);
  CHECK(parts.is_loaded(acestep::Part::Transformer));
}

TEST_CASE("acestep song: a stop while decoding ends after the song in hand") {
  const Studio studio;
  auto request = short_request();
  request.variations = 3;
  bool decoding = false;
  acestep::SongHooks hooks;
  hooks.progress = [&](const acestep::SongProgress& now) {
    decoding = now.stage == acestep::SongStage::Decoding;
  };
  hooks.stop = [&] { return decoding; };
  const auto made = studio.make(request, 3, hooks);
  CHECK(made.result.stopped);
  CHECK(made.songs.size() == 1);
}

TEST_CASE("acestep song: NaN ends it with the stage and the step, not with noise") {
  const Studio studio;
  auto parts = studio.open();
  const auto inputs = acestep::read_song_inputs(short_request(), studio.place.folder);
  acestep::SongHooks hooks;
  hooks.noise = [](const acestep::NoiseRequest& asked) {
    return at::full({asked.items, 8, 16, asked.frames}, NAN);
  };
  try {
    acestep::make_song(inputs, parts, {}, hooks);
    FAIL("it made a song of NaN");
  } catch (const acestep::NotFinite& failure) {
    CHECK(failure.stage() == acestep::SongStage::Diffusion);
    CHECK(failure.step() == 1);
    CHECK(test::contains(failure.what(), "--dtype f32"));
  }
}

TEST_CASE("acestep song: progress counts the steps of all variations up to the end") {
  const Studio studio;
  auto request = short_request();
  request.variations = 2;
  std::vector<std::int64_t> done;
  acestep::SongHooks hooks;
  hooks.progress = [&](const acestep::SongProgress& now) {
    if (now.stage != acestep::SongStage::Diffusion) return;
    done.push_back(now.done);
    CHECK(now.total == 6);
    CHECK(now.seconds_left >= 0);
  };
  studio.make(request, 1, hooks);
  CHECK(done == std::vector<std::int64_t>{1, 2, 3, 4, 5, 6});
}
