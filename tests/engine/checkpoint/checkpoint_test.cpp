// SPDX-License-Identifier: Apache-2.0
// Checkpoints saved, recognised, loaded and replaced.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "checkpoint_samples.h"
#include "ubique/engine/checkpoint/tensor_bytes.h"
#include "ubique/io/tensors/safetensors_reader.h"
#include "ubique/io/tensors/safetensors_writer.h"

using namespace ubique;
using namespace ubique::engine;
using namespace ubique::test;

namespace {

at::Tensor tensor_named(const NamedTensors& tensors, const std::string& name) {
  for (const auto& [found, tensor] : tensors) {
    if (found == name) return tensor;
  }
  FAIL("no tensor " << name);
  return {};
}

Checkpoint after_round_trip(const Checkpoint& checkpoint) {
  const ScratchFolder folder;
  save_checkpoint(folder / "x", checkpoint);
  return load_checkpoint(folder / "x");
}

}  // namespace

TEST_CASE("checkpoint: everything comes back as it was saved") {
  const auto saved = checkpoint_of(120);
  const auto loaded = after_round_trip(saved);
  CHECK(loaded.family == "meshnet");
  CHECK(loaded.config == saved.config);
  CHECK(loaded.provenance == saved.provenance);
  CHECK(loaded.epoch == 12);
  CHECK(loaded.step == 120);
  CHECK((loaded.scores == saved.scores));
  CHECK(loaded.trainer_state == saved.trainer_state);
  CHECK(is_whole(loaded));
}

TEST_CASE("checkpoint: every dtype, scalars, empty tensors and other layouts") {
  Checkpoint saved = checkpoint_of(1);
  const auto values = at::arange(-4, 20, at::kFloat).view({1, 2, 3, 2, 2});
  saved.model.clear();
  for (const auto dtype : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16, at::kLong, at::kInt,
                           at::kShort, at::kChar, at::kBool, at::kFloat8_e4m3fn}) {
    saved.model.emplace_back(c10::toString(dtype), values.to(dtype));
  }
  saved.model.emplace_back("u8", values.abs().to(at::kByte));
  saved.model.emplace_back("complex", at::complex(values, -values));
  saved.model.emplace_back("conjugate", at::complex(values, -values).conj());
  saved.model.emplace_back("scalar", at::scalar_tensor(7, at::kLong));
  saved.model.emplace_back("empty", at::empty({0, 3}));
  saved.model.emplace_back("last", values.contiguous(at::MemoryFormat::ChannelsLast3d));
  saved.model.emplace_back("turned", values.transpose(1, 4));
  saved.model.emplace_back("twice", values);
  saved.model.emplace_back("twice.again", values);
  saved.model.emplace_back("learned", values.clone().requires_grad_());
  const auto loaded = after_round_trip(saved);
  REQUIRE(loaded.model.size() == saved.model.size());
  for (const auto& [name, tensor] : saved.model) {
    CAPTURE(name);
    const auto found = tensor_named(loaded.model, name);
    CHECK((found.scalar_type() == tensor.scalar_type()));
    CHECK((found.sizes() == tensor.sizes()));
    CHECK(found.is_contiguous());
    CHECK(!found.requires_grad());
    CHECK(found.to(at::kComplexDouble).equal(tensor.detach().to(at::kComplexDouble)));
  }
}

TEST_CASE("checkpoint: a sparse tensor is refused and nothing is left") {
  const ScratchFolder folder;
  auto checkpoint = checkpoint_of(1);
  checkpoint.model.emplace_back("sparse", at::eye(3).to_sparse());
  const auto error =
      refusal_of(ErrorKind::Internal, [&] { save_checkpoint(folder / "x", checkpoint); });
  CHECK(contains(error, "dense"));
  CHECK(folder.count() == 0);
}

TEST_CASE("checkpoint: numbers that JSON lacks survive in the states") {
  auto saved = checkpoint_of(1);
  const double infinity = std::numeric_limits<double>::infinity();
  saved.trainer_state = {{"best", -infinity}, {"list", {infinity, std::nan(""), 0.1}}};
  saved.scores = {{"dice", std::nan("")}};
  const auto loaded = after_round_trip(saved);
  CHECK(loaded.trainer_state.at("best").get<double>() == -infinity);
  CHECK(loaded.trainer_state.at("list")[0].get<double>() == infinity);
  CHECK(std::isnan(loaded.trainer_state.at("list")[1].get<double>()));
  CHECK(loaded.trainer_state.at("list")[2].get<double>() == 0.1);
  CHECK(std::isnan(loaded.scores.at(0).second));
}

TEST_CASE("checkpoint: the trainer's state is optional when saving and loading") {
  const ScratchFolder folder;
  auto checkpoint = checkpoint_of(3);
  save_checkpoint(folder / "whole", checkpoint);
  const auto model_only = load_checkpoint(folder / "whole", /*with_trainer=*/false);
  CHECK(model_only.model.size() == 2);
  CHECK(model_only.trainer.empty());
  CHECK(model_only.trainer_state.is_null());
  checkpoint.trainer.clear();
  checkpoint.trainer_state = nullptr;
  save_checkpoint(folder / "small", checkpoint);
  CHECK(names_in(folder / "small") ==
        std::vector<std::string>{"checkpoint.json", "model.safetensors"});
  CHECK(load_checkpoint(folder / "small").trainer_state.is_null());
}

TEST_CASE("checkpoint: the model file describes itself in its header") {
  const ScratchFolder folder;
  save_checkpoint(folder / "x", checkpoint_of(120));
  const io::SafetensorsFile file(folder / "x/model.safetensors");
  const auto& metadata = file.metadata();
  CHECK(metadata.at("format") == "pt");
  CHECK(metadata.at("family") == "meshnet");
  CHECK(metadata.at("version").starts_with("ubique "));
  CHECK(metadata.at("step") == "120");
  CHECK(metadata.at("epoch") == "12");
  CHECK(metadata.at("config") == R"({"channels":5,"dilations":[1,2,4]})");
  CHECK(parse_json(metadata.at("scores"), "scores").at("avd") == 3.25);
  REQUIRE(file.find("model.0.weight") != nullptr);
  CHECK(file.find("model.0.weight")->shape == io::Shape{2, 3, 3, 3, 3});
}

TEST_CASE("checkpoint: a model file outside a folder is loaded too") {
  const ScratchFolder folder;
  save_checkpoint(folder / "x", checkpoint_of(7));
  std::filesystem::copy_file(folder / "x/model.safetensors", folder / "mine.safetensors");
  CHECK(is_checkpoint(folder / "mine.safetensors"));
  const auto alone = load_checkpoint(folder / "mine.safetensors");
  CHECK(alone.step == 7);
  CHECK(alone.model.size() == 2);
  CHECK(alone.trainer.empty());
  CHECK(is_whole(load_checkpoint(folder / "x/model.safetensors")));  // in its place: with trainer
}

TEST_CASE("checkpoint: a safetensors file of another program is no checkpoint") {
  const ScratchFolder folder;
  const auto tensor = at::ones({2});
  const io::TensorData data{"w", DType::F32, {2}, bytes_of(tensor)};
  std::filesystem::create_directory(folder / "hub");
  io::write_safetensors(folder / "hub/model.safetensors", std::span(&data, 1), {{"format", "pt"}});
  CHECK(!is_checkpoint(folder / "hub"));
  CHECK(!is_checkpoint(folder / "hub/model.safetensors"));
  CHECK(!is_checkpoint(folder / "nothing"));
  const auto refused = [&](const std::string& name) {
    return refusal_of(ErrorKind::Input, [&] { load_checkpoint(folder / name); });
  };
  CHECK(contains(refused("hub"), "no checkpoint.json"));
  CHECK(contains(refused("hub/model.safetensors"), "not a checkpoint of ours"));
  CHECK(contains(refused("nothing"), "no checkpoint"));
  SUBCASE("and is not replaced by one") {
    const auto error =
        refusal_of(ErrorKind::Input, [&] { save_checkpoint(folder / "hub", checkpoint_of(1)); });
    CHECK(contains(error, "not a checkpoint"));
    CHECK(names_in(folder / "hub") == std::vector<std::string>{"model.safetensors"});
  }
}

TEST_CASE("checkpoint: a folder is replaced as a whole, and only `last` keeps its predecessor") {
  const ScratchFolder folder;
  for (const std::int64_t step : {1, 2, 3}) {
    save_checkpoint(folder / "best", checkpoint_of(step));
    save_checkpoint(folder / "last", checkpoint_of(step));
  }
  CHECK(load_checkpoint(folder / "best").step == 3);
  CHECK(load_checkpoint(folder / "last/").step == 3);
  CHECK(load_checkpoint(folder / ".last.previous").step == 2);
  CHECK(names_in(folder.path()) == std::vector<std::string>{".last.previous", "best", "last"});
}

TEST_CASE("checkpoint: the manifest of a newer program is refused by its version") {
  const ScratchFolder folder;
  save_checkpoint(folder / "x", checkpoint_of(1));
  auto text = read_file(folder / "x/checkpoint.json");
  text.replace(text.find("\"schema_version\": 1"), 19, "\"schema_version\": 9");
  damage_file(folder / "x/checkpoint.json", text);
  const auto error = refusal_of(ErrorKind::Input, [&] { load_checkpoint(folder / "x"); });
  CHECK(contains(error, "newer program"));
}
