// SPDX-License-Identifier: Apache-2.0
// A new model in the original's form, and its vocabularies.
#include "ubique/models/acestep/files/write_model.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"
#include "ubique/data/lyrics/lyric_tokenizer.h"
#include "ubique/data/music/synth.h"
#include "ubique/io/text/tokenizer.h"
#include "ubique/models/acestep/files/parts.h"
#include "ubique/models/acestep/files/vocabularies.h"
#include "ubique/models/acestep/net/init.h"

using namespace ubique;

TEST_CASE("a new model is a folder that opens, and the same for one seed") {
  const test::ScratchFolder scratch;
  const auto path = scratch.path() / "new";
  acestep::write_new_model(path, acestep::tiny_networks(), 7, at::kFloat);
  acestep::write_new_model(scratch.path() / "again", acestep::tiny_networks(), 7, at::kFloat);
  acestep::Parts parts(acestep::read_model_folder(path), at::kCPU, at::kFloat);
  acestep::Parts again(acestep::read_model_folder(scratch.path() / "again"), at::kCPU, at::kFloat);
  CHECK(at::equal(parts.transformer().weights().patch.weight,
                  again.transformer().weights().patch.weight));
  acestep::Vocoder fresh(parts.folder().networks.vocoder);
  acestep::initialize(fresh, Random(7).fork(static_cast<std::uint64_t>(acestep::Part::Vocoder)));
  // Through weight norm and back.
  const auto error = (fresh.weights().input.weight - parts.vocoder().weights().input.weight).abs();
  CHECK(error.max().item<double>() < 1e-6);
  CHECK(parts.dcae().config().latent_channels == 8);
  CHECK_FALSE(require_lyric_vocabulary(parts.folder()).empty());
  CHECK_THROWS_AS(acestep::write_new_model(path, acestep::tiny_networks(), 7, at::kFloat), Error);
}

TEST_CASE("the small text vocabulary has a token for each word of the tags, and letters") {
  const auto tokenizer = io::parse_tokenizer_json(acestep::text_vocabulary().dump(), "tags");
  const auto ids = tokenizer.encode("c# minor, saw, 120 bpm, left");
  std::vector<std::string> tokens;
  for (const auto id : ids) tokens.push_back(tokenizer.spelling(id));
  CHECK(tokens ==
        std::vector<std::string>{"▁c#", "▁minor", ",", "▁saw", ",", "▁120", "▁bpm", ",", "▁left"});
  const auto framed = tokenizer.encode("saw", io::EncodeOptions{.frame = true});
  CHECK(framed.back() == 1);
  CHECK(tokenizer.spelling(1) == "</s>");
  for (const auto id : tokenizer.encode("drum'n'bass, 174 bpm")) CHECK(id != 2);  // nothing unknown
}

TEST_CASE("the small lyric vocabulary reads every melody and any English line") {
  const test::ScratchFolder scratch;
  const auto path = scratch.path() / "lyric_vocab.json";
  write_file(path, acestep::lyric_vocabulary().dump());
  const data::LyricTokenizer tokenizer(path);
  const auto ids = tokenizer.encode("[verse]\ndo re mi fa so la ti");
  const auto spelled = [&](std::int32_t id) { return tokenizer.vocabulary().spelling(id); };
  int notes = 0;
  for (const auto id : ids) {
    CHECK(spelled(id) != "[UNK]");
    for (int degree = 0; degree < 7; ++degree) {
      notes += static_cast<int>(spelled(id) == data::syllable(degree));
    }
  }
  CHECK(notes == 7);
  for (const auto id : tokenizer.encode("Hello, it's 7 o'clock!")) CHECK(spelled(id) != "[UNK]");
}
