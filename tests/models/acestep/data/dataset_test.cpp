// SPDX-License-Identifier: Apache-2.0
// Samples: the same numbers at every batch size, parts of the condition dropped, like lengths
// together.
#include "ubique/models/acestep/data/dataset.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <set>

#include "tests/models/acestep/songs.h"
#include "ubique/io/tensors/safetensors_writer.h"
#include "ubique/nn/diffusion/flow_schedule.h"

using namespace ubique;
using acestep::SongDataset, acestep::SongDatasetOptions;

namespace {

struct PreparedSongs {
  explicit PreparedSongs(double val_share = 0) {
    const auto songs = model.scratch() / "songs", data = model.scratch() / "data";
    test::write_songs(songs);
    test::prepare_songs(songs, data, model.path(), {.val_share = val_share});
    set = std::make_shared<data::MusicSet>(data);
    const auto folder = acestep::read_model_folder(model.path());
    tokenizer = std::make_shared<const io::Tokenizer>(io::read_tokenizer(folder.tokenizer()));
  }

  SongDataset dataset(SongDatasetOptions options = {}) const {
    options.speaker_size = 16;
    return {set, data::kMusicTrain, tokenizer, options};
  }

  test::SmallModel model;
  std::shared_ptr<const data::MusicSet> set;
  std::shared_ptr<const io::Tokenizer> tokenizer;
};

engine::SampleRandoms randoms(std::int64_t first = 0) {
  return engine::SampleRandoms(Random(5, 2), first);
}

}  // namespace

TEST_CASE("song samples: a sample has the same numbers alone and in any batch") {
  const PreparedSongs songs;
  const auto dataset = songs.dataset();
  const auto whole = dataset.load({0, 3, 5, 1}, randoms());
  for (std::int64_t row = 0; row < 4; ++row) {
    const std::int64_t index = std::vector<std::int64_t>{0, 3, 5, 1}[static_cast<std::size_t>(row)];
    const auto alone = dataset.load({index}, randoms(row));
    const auto frames = alone.tensors.at("latents").size(-1);
    for (const char* name : {"latents", "noise"}) {
      CAPTURE(name);
      CHECK(at::equal(whole.tensors.at(name)[row].slice(-1, 0, frames), alone.tensors.at(name)[0]));
      CHECK(whole.tensors.at(name)[row].slice(-1, frames).abs().sum().item<double>() == 0);
    }
    CHECK(at::equal(whole.tensors.at("sigmas")[row], alone.tensors.at("sigmas")[0]));
    CHECK(whole.tensors.at("frames")[row].sum().item<double>() == static_cast<double>(frames));
  }
}

TEST_CASE("song samples: noise levels are of the grid that training draws from, and spread") {
  const PreparedSongs songs;
  const auto dataset = songs.dataset({.repeat = 40});
  const auto grid = nn::training_sigmas({});
  const std::set<float> levels(grid.begin(), grid.end());
  double mean = 0;
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < dataset.size(); ++i) all.push_back(i);
  const auto sigmas = dataset.load(all, randoms()).tensors.at("sigmas").contiguous();
  for (std::int64_t i = 0; i < sigmas.size(0); ++i) {
    CHECK(levels.contains(sigmas[i].item<float>()));
    mean += sigmas[i].item<double>() / static_cast<double>(sigmas.size(0));
  }
  // u = 0.5 is level 500 of 1000, shifted by 3: 0.75.
  CHECK(mean > 0.68);
  CHECK(mean < 0.78);
}

TEST_CASE("song samples: tags come in every order, parts are dropped as often as asked") {
  const PreparedSongs songs;
  const auto dataset = songs.dataset({.repeat = 100, .drop_text = 0.25, .drop_lyrics = 0.5});
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < dataset.size(); ++i) all.push_back(i);
  const auto batch = dataset.load(all, randoms());
  const auto kept = batch.tensors.at("keep_text").mean().item<double>();
  CHECK(kept > 0.69);
  CHECK(kept < 0.81);
  const auto sung = batch.tensors.at("lyric_mask").sum(1).gt(0).to(at::kDouble).mean();
  CHECK(sung.item<double>() > 0.19);  // half of the half that has lyrics
  CHECK(sung.item<double>() < 0.31);
  std::set<std::string> prompts;
  for (std::int64_t i = 0; i < 600; i += 6) {  // one song
    const auto row = batch.tensors.at("text_ids")[i].contiguous();
    prompts.insert(std::string(reinterpret_cast<const char*>(row.const_data_ptr<std::int64_t>()),
                               static_cast<std::size_t>(row.numel()) * 8));
  }
  CHECK(prompts.size() == 6);  // 3! orders of three tags
}

TEST_CASE("song samples: an update holds songs of like length, an epoch each song as often") {
  const PreparedSongs songs;
  const auto dataset = songs.dataset({.repeat = 8});
  const auto order = dataset.order(0, 4, Random(1));
  REQUIRE(order.size() == 48);
  CHECK(std::set<std::int64_t>(order.begin(), order.end()).size() == 48);
  CHECK(order != dataset.order(1, 4, Random(2)));
  std::int64_t padding = 0, frames = 0;
  for (std::size_t at = 0; at < order.size(); at += 4) {
    const auto batch = dataset.load({order.begin() + static_cast<std::ptrdiff_t>(at),
                                     order.begin() + static_cast<std::ptrdiff_t>(at) + 4},
                                    randoms());
    const auto all = 4 * batch.tensors.at("latents").size(-1);
    const bool padded = batch.tensors.contains("frames");
    const auto used = padded ? batch.tensors.at("frames").sum().item<std::int64_t>() : all;
    padding += all - used;
    frames += all;
  }
  CHECK(padding * 50 < frames);
  CHECK(dataset.largest(2).size() == 2);
  CHECK(dataset.largest(1).at(0) == 5);  // the longest song
}

TEST_CASE("song samples: tags and lyrics come in multiples, with their padding behind") {
  const PreparedSongs songs;
  const auto padded = songs.dataset({.token_multiple = 32}).load({0}, randoms());
  const auto exact = songs.dataset({.token_multiple = 1}).load({0}, randoms());
  CHECK_FALSE(exact.tensors.contains("order"));
  for (const char* name : {"text", "lyric"}) {
    CAPTURE(name);
    const auto ids = padded.tensors.at(fmt::format("{}_ids", name));
    const auto mask = padded.tensors.at(fmt::format("{}_mask", name));
    const auto own = exact.tensors.at(fmt::format("{}_ids", name));
    CHECK(ids.size(1) % 32 == 0);
    CHECK(at::equal(ids.slice(1, 0, own.size(1)), own));
    CHECK(mask.slice(1, own.size(1)).sum().item<double>() == 0);
  }
  const auto order = padded.tensors.at("order");
  const auto read = at::cat({at::ones({1, 1}, at::kLong), padded.tensors.at("text_mask"),
                             padded.tensors.at("lyric_mask")},
                            1)
                        .gather(1, order);
  CHECK(at::equal(std::get<0>(read.sort(1, true)), read));
}

TEST_CASE("song samples: crops are stretches of the song at any place") {
  const PreparedSongs songs;
  const auto dataset = songs.dataset({.repeat = 30, .crop_frames = 8});
  const auto& clip = dataset.clips()[5];
  const auto all = at::tensor(songs.set->latents(clip, 0, clip.frames)).view({8, 16, clip.frames});
  std::set<std::int64_t> places;
  for (std::int64_t i = 5; i < dataset.size(); i += 6) {
    const auto batch = dataset.load({i}, randoms(i));
    const auto& crop = batch.tensors.at("latents");
    REQUIRE(crop.size(-1) == 8);
    for (std::int64_t at = 0; at + 8 <= clip.frames; ++at) {
      if (at::equal(all.slice(-1, at, at + 8), crop[0])) places.insert(at);
    }
  }
  CHECK(places.size() > 8);
  CHECK(dataset.longest_frames() == 8);
}

TEST_CASE("song samples: validation noise depends on the song alone") {
  const PreparedSongs songs;
  const auto one = songs.dataset().fixed_batch(2, {0.1, 0.9});
  const auto two = songs.dataset({.repeat = 9, .shift = 1}).fixed_batch(2, {0.9});
  CHECK(at::equal(one.tensors.at("noise")[0], two.tensors.at("noise")[0]));
  CHECK(at::equal(one.tensors.at("noise")[0], one.tensors.at("noise")[1]));
  CHECK(one.tensors.at("keep_text").sum().item<double>() == 2);
}

TEST_CASE("song samples: features of audio encoders are cut with the song") {
  const PreparedSongs songs;
  const auto& clip = songs.set->clips()[0];
  const auto path = songs.set->folder() / "features" / (clip.key + ".safetensors");
  make_folder(path.parent_path());
  std::vector<float> values(static_cast<std::size_t>(2 * clip.frames * 4));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i / 4);
  const std::vector<io::TensorData> tensors = {
      {"mert", DType::F32, {2 * clip.frames, 4}, std::as_bytes(std::span(values))}};
  io::write_safetensors(path, tensors);
  const auto dataset = songs.dataset({.crop_frames = 10, .encoders = {{"mert", 4}, {"none", 3}}});
  CHECK(dataset.clips_with_features() == std::vector<std::int64_t>{1, 0});
  const auto batch = dataset.load({0, 1}, randoms());
  CHECK_FALSE(batch.tensors.contains("ssl.none"));
  const auto lengths = batch.tensors.at("ssl_frames.mert");
  CHECK(lengths[0].item<std::int64_t>() == 20);
  CHECK(lengths[1].item<std::int64_t>() == 0);
  const auto first = batch.tensors.at("ssl.mert")[0][0][0].item<double>();
  CHECK(batch.tensors.at("ssl.mert")[0][19][0].item<double>() == first + 19);
  const auto wrong = songs.dataset({.encoders = {{"mert", 5}}});
  CHECK_THROWS_WITH_AS(wrong.load({0}, randoms()), doctest::Contains("expected 5"), Error);
}
