// SPDX-License-Identifier: Apache-2.0
// Prepared songs on disk: written, read, renewed, damaged.
#include "ubique/data/music/music_set.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "tests/base/scratch.h"
#include "ubique/base/files/file.h"
#include "ubique/data/music/music_set_writer.h"
#include "ubique/data/music/sound_distance.h"
#include "ubique/data/music/speaker_file.h"
#include "ubique/io/arrays/npz.h"
#include "ubique/io/tensors/safetensors_writer.h"

using namespace ubique;
using namespace ubique::data;
using test::ScratchFolder;

namespace {

constexpr const char* kDigest = "0123456789abcdef";

PreparedClip clip_named(const std::string& key, std::int64_t frames) {
  return {.key = key,
          .sound = key,
          .latents = kDigest,
          .frames = frames,
          .seconds = 3.25,
          .tags = {"a \"quoted\" tag"},
          .captions = {"b"},
          .lyrics = "la\nla",
          .lyric_ids = {261, 7}};
}

std::vector<float> counted(std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 0.0F);
  return values;
}

/// One clip of two channels, three rows and five frames.
void write_small_set(const std::filesystem::path& folder) {
  const MusicSetWriter writer(folder, {.codec = "c", .vocabulary = "v", .channels = 2, .rows = 3});
  writer.write_latents(kDigest, {5, 3.25}, counted(30), std::vector<float>{1, 2});
  writer.finish({clip_named("one", 5)});
}

std::vector<std::string> held_out(std::vector<PreparedClip> clips, double share) {
  hold_out_clips(clips, share, 42);
  std::vector<std::string> keys;
  for (const auto& clip : clips) {
    if (clip.split == kMusicVal) keys.push_back(clip.key);
  }
  return keys;
}

std::vector<PreparedClip> many_clips(int count) {
  std::vector<PreparedClip> clips;
  for (int i = 0; i < count; ++i) clips.push_back(clip_named("clip" + std::to_string(i), 5));
  return clips;
}

}  // namespace

TEST_CASE("music set: what is written is read back, whole and in part") {
  const ScratchFolder scratch;
  write_small_set(scratch / "data");
  const MusicSet set(scratch / "data");
  REQUIRE(set.clips().size() == 1);
  const auto& clip = set.clips()[0];
  CHECK(clip.tags == std::vector<std::string>{"a \"quoted\" tag"});
  CHECK(clip.lyric_ids == std::vector<std::int32_t>{261, 7});
  CHECK(clip.seconds == 3.25);
  CHECK(set.header().codec == "c");
  CHECK(set.latents(clip, 0, 5) == counted(30));
  const auto part = set.latents(clip, 1, 2);
  CHECK(part == std::vector<float>{1, 2, 6, 7, 11, 12, 16, 17, 21, 22, 26, 27});
  CHECK(set.speaker(clip) == std::vector<float>{1, 2});
  CHECK_FALSE(set.features(clip, "mert"));
  CHECK_FALSE(set.has_features(clip, "mert"));
  CHECK_THROWS_AS((void)set.latents(clip, 4, 2), Error);
}

TEST_CASE("music set: features lie beside it by key, never outside of the folder") {
  const ScratchFolder scratch;
  write_small_set(scratch / "data");
  const auto values = counted(8);
  const std::vector<io::TensorData> tensors = {
      {"mert", DType::F32, {4, 2}, std::as_bytes(std::span(values))}};
  make_folder(scratch / "data" / "features");
  io::write_safetensors(scratch / "data" / "features" / "one.safetensors", tensors);
  io::write_safetensors(scratch / "data" / "evil.safetensors", tensors);
  const MusicSet set(scratch / "data");
  const auto features = set.features(set.clips()[0], "mert");
  REQUIRE(features);
  CHECK(features->frames == 4);
  CHECK(features->values == values);
  auto evil = set.clips()[0];
  evil.key = "../evil";
  CHECK_FALSE(set.features(evil, "mert"));
}

TEST_CASE("music set: damage, other versions and missing files are named") {
  const ScratchFolder scratch;
  const auto folder = scratch / "data";
  CHECK_THROWS_WITH_AS(MusicSet{folder}, doctest::Contains("no prepared music"), Error);
  const auto refused = [&](const std::string& from, const std::string& to,
                           const std::string& what) {
    write_small_set(folder);
    auto text = read_file(folder / kMusicIndex);
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
    write_file(folder / kMusicIndex, text);
    CAPTURE(to);
    CHECK_THROWS_WITH_AS(MusicSet{folder}, doctest::Contains(what.c_str()), Error);
  };
  refused("\"schema_version\":1", "\"schema_version\":2", "version 2");
  refused("\"frames\":5", "\"frames\":6", "does not hold the latents");
  refused("\"frames\":5", "\"frames\":-5", "frames cannot be");
  refused("\"frames\":5", "\"frames\":1e300", "'frames' cannot be read; got 1e+300");
  refused(kDigest, "../../../etc/passw", "digest");
  refused("\"split\":\"train\"", "\"split\":\"test\"", "expected train or val");
  refused("261", "-1", "negative");
  refused("\"channels\":2", "\"channels\":20000", "cannot be");
  refused("{\"key\"", "{\"extra\":1,\"key\"", "unknown key");
  write_small_set(folder);
  std::filesystem::remove(folder / "latents" / (std::string(kDigest) + ".safetensors"));
  CHECK_THROWS_AS(MusicSet{folder}, Error);
}

TEST_CASE("music set: latents that no clip has are removed, other people's files are not") {
  const ScratchFolder scratch;
  write_small_set(scratch / "data");
  const auto latents = scratch / "data" / "latents";
  const MusicSetWriter writer(scratch / "data", {.channels = 2, .rows = 3});
  writer.write_latents("fedcba9876543210", {5, 4}, counted(30));
  write_file(latents / "notes.txt", "mine");
  CHECK(writer.find("fedcba9876543210")->seconds == 4);
  CHECK_FALSE(writer.find("0000000000000000"));
  auto clip = clip_named("one", 5);
  clip.latents = "fedcba9876543210";
  writer.finish({clip});
  CHECK_FALSE(std::filesystem::exists(latents / (std::string(kDigest) + ".safetensors")));
  CHECK(std::filesystem::exists(latents / "notes.txt"));
  CHECK(MusicSet(scratch / "data").clips()[0].latents == "fedcba9876543210");
}

TEST_CASE("held-out songs: a share, the same whatever the order, copies together") {
  auto clips = many_clips(100);
  const auto held = held_out(clips, 0.1);
  CHECK(held.size() == 10);
  std::reverse(clips.begin(), clips.end());
  const auto reversed = held_out(clips, 0.1);
  CHECK(std::set<std::string>(held.begin(), held.end()) ==
        std::set<std::string>(reversed.begin(), reversed.end()));
  CHECK(held_out(clips, 0).empty());
  CHECK(held_out(many_clips(4), 0.01).size() == 1);
  CHECK(held_out(many_clips(3), 0.01).empty());
  CHECK(held_out(many_clips(1), 0.9).empty());
  auto copies = many_clips(20);
  for (auto& clip : copies) clip.sound = "one sound";
  CHECK(held_out(copies, 0.5).empty());
}

TEST_CASE("speakers: one tensor of f32 numbers from any of three kinds of file") {
  const ScratchFolder scratch;
  const std::vector<float> values = {1, -2, 3};
  io::HostTensor tensor{.name = "x", .dtype = DType::F32, .shape = {3}, .bytes = {}};
  const auto bytes = std::as_bytes(std::span(values));
  tensor.bytes.assign(bytes.begin(), bytes.end());
  io::write_npy(scratch / "a.npy", tensor);
  CHECK(read_speaker(scratch / "a.npy") == values);
  io::write_safetensors(scratch / "a.safetensors",
                        std::vector<io::TensorData>{{"x", DType::F32, {3}, bytes}});
  CHECK(read_speaker(scratch / "a.safetensors") == values);
  write_file(scratch / "a.pt", "junk");
  CHECK_THROWS_AS(read_speaker(scratch / "a.pt"), Error);
}

TEST_CASE("sound distance: 0 for a copy, and larger the more is changed") {
  io::Audio sound{.rate = 44'100, .channels = 2};
  for (int i = 0; i < 2 * 44'100; ++i) {
    sound.samples.push_back(0.3F * std::sin(0.03F * static_cast<float>(i % 44'100)));
  }
  CHECK(log_mel_distance(sound, sound) == 0);
  CHECK(spectral_distance(sound, sound) == 0);
  const auto scaled = [&](float factor) {
    auto copy = sound;
    for (auto& value : copy.samples) value *= factor;
    return copy;
  };
  CHECK(spectral_distance(sound, scaled(0.9F)) < spectral_distance(sound, scaled(0.5F)));
  CHECK(log_mel_distance(sound, scaled(0.9F)) < log_mel_distance(sound, scaled(0.5F)));
  auto shorter = sound;
  shorter.samples.clear();
  for (int c = 0; c < 2; ++c) {
    const auto from = sound.channel(c);
    shorter.samples.insert(shorter.samples.end(), from.begin(), from.begin() + 40'000);
  }
  CHECK(log_mel_distance(sound, shorter) < 0.01);
}
