// SPDX-License-Identifier: Apache-2.0
// Songs become latents and tokens: what is kept, what is made again, what is refused and why.
#include "ubique/models/acestep/data/prepare.h"

#include <doctest/doctest.h>

#include "tests/models/acestep/songs.h"
#include "ubique/models/acestep/data/sound_latents.h"

using namespace ubique;
namespace fs = std::filesystem;

namespace {

std::string why_skipped(const acestep::PrepareResult& result, const std::string& key) {
  for (const auto& clip : result.skipped) {
    if (fs::path(clip.name).stem() == key) return clip.why;
  }
  return {};
}

}  // namespace

TEST_CASE("prepare: every song has whole latents, tokens of its lyrics, and a side of the split") {
  const test::SmallModel model;
  const auto songs = model.scratch() / "songs", data = model.scratch() / "data";
  test::write_songs(songs);
  const auto result = test::prepare_songs(songs, data, model.path());
  CHECK(result.clips.size() == 6);
  CHECK(result.encoded == 6);
  const data::MusicSet set(data);
  REQUIRE(set.clips().size() == 6);
  CHECK(set.clips_of(data::kMusicVal).size() == 1);
  for (const auto& clip : set.clips()) {
    CAPTURE(clip.key);
    const auto samples = std::ceil(clip.seconds * 44'100 - 1e-6);
    CHECK(clip.frames == static_cast<std::int64_t>(std::ceil(samples / 4096)));
    CHECK(set.latents(clip, 0, clip.frames).size() ==
          static_cast<std::size_t>(8 * 16 * clip.frames));
    CHECK(clip.lyric_ids.empty() == clip.lyrics.empty());
    CHECK(clip.tags.size() == 3);
  }
}

TEST_CASE("prepare: nothing is encoded twice, a changed song is encoded anew, old latents go") {
  const test::SmallModel model;
  const auto songs = model.scratch() / "songs", data = model.scratch() / "data";
  test::write_songs(songs);
  test::prepare_songs(songs, data, model.path());
  const auto before = read_file(data / data::kMusicIndex);
  CHECK(test::prepare_songs(songs, data, model.path()).encoded == 0);
  CHECK(read_file(data / data::kMusicIndex) == before);
  test::write_song(songs, "song1", test::tone(3.2, 333), "c major");
  CHECK(test::prepare_songs(songs, data, model.path()).encoded == 1);
  const auto files = std::distance(fs::directory_iterator(data / "latents"), {});
  CHECK(files == 6);
  // A damaged file is made again.
  const data::MusicSet set(data);
  const auto victim = data / "latents" / (set.clips()[2].latents + ".safetensors");
  fs::resize_file(victim, 100);
  CHECK_THROWS_AS(data::MusicSet{data}, Error);
  CHECK(test::prepare_songs(songs, data, model.path()).encoded == 1);
  CHECK(data::MusicSet(data).clips().size() == 6);
}

TEST_CASE("prepare: other rates, mono and short clips are taken as they are meant") {
  const test::SmallModel model;
  const auto songs = model.scratch() / "songs", data = model.scratch() / "data";
  test::write_song(songs, "mono", test::tone(4, 300, 22'050, 1), "low");
  test::write_song(songs, "short", test::tone(0.5, 300, 48'000), "short");
  io::write_audio(songs / "deep.wav", test::tone(3.5, 250, 96'000),
                  {.samples = io::SampleFormat::Int24});
  const auto result = test::prepare_songs(songs, data, model.path(), {.val_share = 0});
  REQUIRE(result.clips.size() == 3);
  CHECK(result.skipped.empty());
  for (const auto& clip : result.clips) {
    CAPTURE(clip.key);
    const auto seconds = std::max(3.0, clip.seconds);  // padded with silence
    CHECK(clip.frames == static_cast<std::int64_t>(std::ceil(seconds * 44'100 / 4096 - 1e-9)));
  }
}

TEST_CASE("prepare: a song longer than the limit is cut, and counted") {
  const test::SmallModel model;
  const auto songs = model.scratch() / "songs", data = model.scratch() / "data";
  test::write_song(songs, "long", test::tone(5, 300), "long");
  const auto result =
      test::prepare_songs(songs, data, model.path(), {.most_seconds = 4, .val_share = 0});
  CHECK(result.cut == 1);
  CHECK(result.clips.at(0).frames == 44);  // ceil(4 * 44100 / 4096)
}

TEST_CASE("prepare: what cannot be used is named with the reason, the rest is prepared") {
  const test::SmallModel model;
  const auto songs = model.scratch() / "songs", data = model.scratch() / "data";
  test::write_songs(songs);
  write_file(songs / "broken.mp3", "this is no sound");
  auto silent = test::tone(3, 100);
  std::fill(silent.samples.begin(), silent.samples.end(), 0.0F);
  test::write_song(songs, "silent", silent, "quiet");
  test::write_song(songs, "foreign", test::tone(3, 100), "pop", "こんにちは");
  test::write_song(songs, "latin1", test::tone(3, 110), "caf\xe9");
  test::write_song(songs, "twice", test::tone(3, 120), "a");
  io::write_audio(songs / "twice.flac", test::tone(3, 120));
  const auto result = test::prepare_songs(songs, data, model.path());
  CHECK(result.clips.size() == 7);  // six and one of the twins
  CHECK(result.skipped.size() == 5);
  CHECK_FALSE(why_skipped(result, "broken").empty());
  CHECK(why_skipped(result, "silent").find("silent") != std::string::npos);
  CHECK(why_skipped(result, "foreign").find("romanised") != std::string::npos);
  CHECK(why_skipped(result, "latin1").find("UTF-8") != std::string::npos);
  CHECK(why_skipped(result, "twice").find("same name") != std::string::npos);
}

TEST_CASE("prepare: a folder of which nothing can be used is an error with the first reason") {
  const test::SmallModel model;
  const auto songs = model.scratch() / "songs", data = model.scratch() / "data";
  make_folder(songs);
  write_file(songs / "broken.wav", "RIFF");
  CHECK_THROWS_WITH_AS(test::prepare_songs(songs, data, model.path()),
                       doctest::Contains("no clip is left"), Error);
  CHECK_FALSE(data::is_music_set(data));
}
