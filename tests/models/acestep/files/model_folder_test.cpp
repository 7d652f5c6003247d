// SPDX-License-Identifier: Apache-2.0
// Model folders: whole ones open, and whatever is missing, cut short or untrue is named.
#include "ubique/models/acestep/files/model_folder.h"

#include <doctest/doctest.h>

#include <functional>

#include "tests/models/acestep/small_model.h"
#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"
#include "ubique/models/acestep/files/open.h"

using namespace ubique;
using acestep::Part;

namespace fs = std::filesystem;

namespace {

void change_config(const fs::path& folder, const std::function<void(Json&)>& change) {
  const auto path = folder / "config.json";
  auto json = parse_json(read_file(path), path.string());
  change(json);
  write_file(path, json_text(json, 2));
}

std::string folder_refusal(const fs::path& folder) {
  try {
    acestep::read_model_folder(folder);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::Input);
    return error.what();
  }
  return "accepted";
}

bool says(const std::string& message, const std::string& part) {
  CAPTURE(message);
  CHECK(message.find(part) != std::string::npos);
  return true;
}

}  // namespace

TEST_CASE("acestep folder: what a new model is written as opens with the same sizes") {
  const test::SmallModel model;
  CHECK(acestep::looks_like_model_folder(model.path()));
  CHECK_FALSE(acestep::looks_like_model_folder(model.scratch()));
  const auto folder = acestep::read_model_folder(model.path());
  const auto wanted = test::smallest_networks();
  CHECK(folder.networks.transformer.layers == wanted.transformer.layers);
  CHECK_FALSE(folder.networks.transformer.projectors);  // only training with features needs them
  CHECK(folder.networks.dcae.decoder.channels == wanted.dcae.decoder.channels);
  CHECK(folder.networks.vocoder.resblock_kernels == wanted.vocoder.resblock_kernels);
  CHECK(folder.lyric_vocabulary == model.path() / "lyric_vocab.json");
  CHECK_THROWS_AS(acestep::write_new_model(model.path(), wanted, 0, at::kFloat), Error);
}

TEST_CASE("acestep folder: a missing part, file or vocabulary is named with its cure") {
  const test::SmallModel model;
  for (const auto part : acestep::kParts) {
    const auto folder = model.part(part), away = model.scratch() / "away";
    fs::rename(folder, away);
    says(folder_refusal(model.path()), std::string(folder_name(part)));
    fs::rename(away, folder);
    fs::rename(folder / weights_name(part), away);
    says(folder_refusal(model.path()), std::string(weights_name(part)));
    fs::rename(away, folder / weights_name(part));
    fs::rename(folder / "config.json", away);
    says(folder_refusal(model.path()), "config.json");
    fs::rename(away, folder / "config.json");
  }
  CHECK(folder_refusal(model.path()) == "accepted");
  fs::remove(model.path() / "lyric_vocab.json");
  const auto folder = acestep::read_model_folder(model.path());
  CHECK(folder.lyric_vocabulary.empty());
  try {
    (void)acestep::require_lyric_vocabulary(folder);
    FAIL("there is no vocabulary");
  } catch (const Error& error) {
    says(error.what(), "models/lyrics_utils/vocab.json");
  }
  fs::remove(model.part(Part::TextEncoder) / "tokenizer.json");
  says(folder_refusal(model.path()), "tokenizer.json");
}

TEST_CASE("acestep folder: weights that are cut short or of other sizes are refused by name") {
  const test::SmallModel model;
  const auto weights = model.part(Part::Vocoder) / weights_name(Part::Vocoder);
  const auto bytes = read_file(weights);
  write_file(weights, bytes.substr(0, bytes.size() - 64));
  says(folder_refusal(model.path()), weights.filename().string());
  write_file(weights, bytes);
  change_config(model.part(Part::Transformer), [](Json& json) { json["num_layers"] = 3; });
  says(folder_refusal(model.path()), "transformer_blocks.2.scale_shift_table is missing");
  change_config(model.part(Part::Transformer), [](Json& json) {
    json["num_layers"] = 1;
    json["ssl_encoder_depths"] = {0, 0};
  });
  says(folder_refusal(model.path()), "belongs to no part");
  change_config(model.part(Part::Transformer), [](Json& json) {
    json["num_layers"] = 2;
    json["mlp_ratio"] = 2.0;
  });
  says(folder_refusal(model.path()), "has shape");
  change_config(model.part(Part::Transformer), [](Json& json) { json["mlp_ratio"] = 2.5; });
  change_config(model.part(Part::Dcae), [](Json& json) { json["latent_channels"] = 16; });
  says(folder_refusal(model.path()), "parts are of different models");
}

TEST_CASE("acestep folder: a config that claims terabytes is refused by the file's header") {
  const test::SmallModel model;
  change_config(model.part(Part::TextEncoder), [](Json& json) { json["d_ff"] = 1 << 20; });
  says(folder_refusal(model.path()), "has shape");
  change_config(model.part(Part::TextEncoder), [](Json& json) { json["d_ff"] = 1 << 30; });
  says(folder_refusal(model.path()), "d_ff");
}

TEST_CASE("acestep folder: parts are loaded when asked for and released") {
  const test::SmallModel model;
  auto parts = acestep::open_parts(acestep::find_model(model.path()), at::kCPU, at::kFloat);
  for (const auto part : acestep::kParts) CHECK_FALSE(parts.is_loaded(part));
  CHECK(parts.dcae().weights().encoder.input.weight.abs().sum().item<double>() > 0);
  CHECK(parts.is_loaded(Part::Dcae));
  CHECK_FALSE(parts.is_loaded(Part::Vocoder));
  CHECK(parts.transformer().weights().projectors.empty());
  parts.release(Part::Dcae);
  CHECK_FALSE(parts.is_loaded(Part::Dcae));
  const auto half = acestep::open_parts(acestep::find_model(model.path()), at::kCPU, at::kHalf);
  CHECK((half.dtype_of(Part::Transformer) == at::kHalf));
  CHECK((half.dtype_of(Part::TextEncoder) == at::kFloat));
  CHECK((half.dtype_of(Part::Vocoder) == at::kFloat));
}
