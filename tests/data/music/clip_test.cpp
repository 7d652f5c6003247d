// SPDX-License-Identifier: Apache-2.0
// Songs as folders and as rows, and what they are described by.
#include "ubique/data/music/clip.h"

#include <doctest/doctest.h>

#include <map>
#include <set>

#include "tests/base/scratch.h"
#include "ubique/base/files/file.h"
#include "ubique/data/music/prompt.h"

using namespace ubique;
using namespace ubique::data;
using test::ScratchFolder;
using Words = std::vector<std::string>;

namespace {

void touch(const std::filesystem::path& path, const std::string& text = "x") {
  make_folder(path.parent_path());
  write_file(path, text);
}

}  // namespace

TEST_CASE("music clips: a folder's songs with tags, lyrics and captions beside them") {
  const ScratchFolder scratch;
  const auto folder = scratch.path();
  touch(folder / "b.mp3");
  touch(folder / "b_prompt.txt", " funk, slap bass ,110 bpm\n");
  touch(folder / "b_lyrics.txt", "[verse]\nhey\n");
  touch(folder / "b.txt", "A funky tune.");
  touch(folder / "deep" / "a.FLAC");
  touch(folder / ".hidden" / "c.wav");
  touch(folder / "cover.jpg");
  const auto found = read_music_clips(folder);
  REQUIRE(found.clips.size() == 2);
  CHECK(found.clips[0].key == "b");
  CHECK(found.clips[0].tags == Words{"funk", "slap bass", "110 bpm"});
  CHECK(found.clips[0].lyrics == "[verse]\nhey");
  CHECK(found.clips[0].captions == Words{"A funky tune."});
  CHECK(found.clips[1].key == "deep/a");
  CHECK(found.clips[1].tags.empty());
}

TEST_CASE("music clips: rows have the original's columns; broken ones are skipped by their line") {
  const ScratchFolder scratch;
  const auto path = scratch / "rows.jsonl";
  write_file(path,
             "{\"keys\": \"one\", \"filename\": \"one.mp3\", \"tags\": [\"pop\", \" \"], "
             "\"norm_lyrics\": \"la\", \"speaker_emb_path\": \"\", \"recaption\": {\"simplified\": "
             "\"a song\", \"analysis\": {\"genre\": \"pop\"}}}\n"
             "\n"
             "{\"filename\": \"two.wav\", \"tags\": \"a, b\"}\n"
             "not json\n"
             "{\"tags\": [\"no file\"]}\n"
             "{\"filename\": \"x.wav\", \"tags\": 3}\n"
             "{\"keys\": \"one\", \"filename\": \"again.mp3\"}\n");
  const auto found = read_music_clips(path);
  REQUIRE(found.clips.size() == 2);
  CHECK(found.clips[0].tags == Words{"pop"});
  CHECK(found.clips[0].captions == Words{"a song"});
  CHECK(found.clips[0].audio == scratch / "one.mp3");
  CHECK(found.clips[0].speaker.empty());
  CHECK(found.clips[1].key == "two");
  CHECK(found.clips[1].tags == Words{"a", "b"});
  REQUIRE(found.skipped.size() == 4);
  CHECK(found.skipped[0].name.ends_with("line 4"));
  CHECK(found.skipped[1].why.find("no filename") != std::string::npos);
}

TEST_CASE("music clips: a path without songs is an error") {
  const ScratchFolder scratch;
  CHECK_THROWS_WITH_AS(read_music_clips(scratch / "missing"), doctest::Contains("does not exist"),
                       Error);
  CHECK_THROWS_WITH_AS(read_music_clips(scratch.path()), doctest::Contains("no sound files"),
                       Error);
}

TEST_CASE("prompts: tags in order, else a caption, else music; cut to 256 characters") {
  CHECK(plain_prompt({"a", "b"}, {"c"}) == "a, b");
  CHECK(plain_prompt({}, {"c", "d"}) == "c");
  CHECK(plain_prompt({}, {}) == "music");
  std::string umlauts;
  for (int i = 0; i < 300; ++i) umlauts += "ü";
  CHECK(plain_prompt({umlauts}, {}).size() == 512);
  CHECK(drawn_prompt({umlauts}, {}, Random(1)).size() == 512);
}

TEST_CASE("prompts: every order of tags and every caption is drawn, each as often") {
  std::map<std::string, int> counts;
  for (std::uint64_t i = 0; i < 6000; ++i) {
    ++counts[drawn_prompt({"a", "b", "c"}, {"x", "y"}, Random(3).fork(i))];
  }
  REQUIRE(counts.size() == 8);
  for (const char* caption : {"x", "y"}) {
    CHECK(counts[caption] > 1850);
    CHECK(counts[caption] < 2150);
  }
  for (const char* tags : {"a, b, c", "c, b, a", "b, c, a"}) {
    CHECK(counts[tags] > 260);
    CHECK(counts[tags] < 410);
  }
  CHECK(drawn_prompt({}, {}, Random(1)) == "music");
  CHECK(drawn_prompt({}, {"only"}, Random(1)) == "only");
}

TEST_CASE("prompts: a request to write a song brings no lyrics") {
  CHECK(asks_for_lyrics("please write a sad song that genre is blues"));
  CHECK_FALSE(asks_for_lyrics("a sad song that genre is blues"));
  CHECK_FALSE(asks_for_lyrics("blues, sad"));
}
