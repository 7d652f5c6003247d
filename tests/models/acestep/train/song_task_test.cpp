// SPDX-License-Identifier: Apache-2.0
// Training through the engine: it learns, resumes exactly, lets people hear it, and survives what
// goes wrong beside it.
#include "ubique/models/acestep/train/task.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/models/acestep/songs.h"
#include "tests/tensors.h"
#include "tests/training.h"
#include "ubique/engine/checkpoint/checkpoint.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/models/acestep/train/original_keys.h"

using namespace ubique;
namespace fs = std::filesystem;
using Flags = std::map<std::string, std::string>;

namespace {

struct TrainingPlace {
  TrainingPlace() {
    test::write_songs(model.scratch() / "songs");
    test::prepare_songs(model.scratch() / "songs", data(), model.path());
  }
  fs::path data() const { return model.scratch() / "data"; }
  fs::path run(const std::string& name) const { return model.scratch() / name; }

  std::unique_ptr<engine::Task> task(Flags flags) const {
    engine::Request request;
    request.model = flags.contains("model") ? flags.at("model") : model.path().string();
    flags.erase("model");
    flags.try_emplace("data", data().string());
    flags.try_emplace("preview", "false");
    for (const auto& [key, value] : flags) request.config.set_flag(key, value);
    return acestep::make_acestep_task(request);
  }

  engine::TrainResult train(const std::string& name, const Flags& flags, bool resume = false,
                            bool report = false) const {
    const auto job = task(flags);
    auto options = test::training_options(run(name), "acestep");
    options.resume = resume;
    options.report = report;
    return engine::train(*job, test::training_plan("acestep", 2), options);
  }

  test::SmallModel model;
};

const Flags kQuick = {{"epochs", "4"}, {"validate_every", "2"}, {"lora_rank", "2"}};

Flags with(Flags flags, const Flags& more) {
  for (const auto& [key, value] : more) flags[key] = value;
  return flags;
}

double score_of(const engine::Scores& scores, const std::string& name) {
  for (const auto& [key, value] : scores) {
    if (key == name) return value;
  }
  FAIL("no score " << name);
  return 0;
}

std::string error_of(const TrainingPlace& place, const Flags& flags) {
  try {
    (void)place.task(flags);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("song training: an adapter and the whole transformer learn held-out songs") {
  const TrainingPlace place;
  for (const Flags& kind :
       {Flags{{"lora_rank", "8"}, {"lr", "1e-2"}}, Flags{{"full", "true"}, {"lr", "3e-3"}},
        Flags{{"full", "true"}, {"train_text", "true"}, {"lr", "3e-3"}}}) {
    const auto name = kind.begin()->first + std::to_string(kind.size());
    const auto before = score_of(place.task(kind)->validate(), "loss");
    const auto result = place.train(name, with(kind, {{"epochs", "12"}, {"validate_every", "6"}}));
    const auto after = score_of(result.scores, "loss");
    CAPTURE(name);
    CAPTURE(before);
    CAPTURE(after);
    CHECK(after < 0.9 * before);
    for (const char* level : {"sigma_0.1", "sigma_0.9"}) CHECK(score_of(result.scores, level) > 0);
  }
}

TEST_CASE("song training: checkpoints of adapters hold the adapter, of joint training both") {
  const TrainingPlace place;
  place.train("lora", with(kQuick, {{"epochs", "1"}}));
  const auto lora = engine::load_checkpoint(place.run("lora") / "checkpoints" / "last");
  for (const auto& [name, tensor] : lora.model) CHECK(says(name, ".lora_"));
  CHECK(lora.config.at("base") == fs::absolute(place.model.path()).string());
  place.train("joint", {{"full", "true"}, {"train_text", "true"}, {"epochs", "1"}});
  const auto joint = engine::load_checkpoint(place.run("joint") / "checkpoints" / "last");
  CHECK(engine::find_tensor(joint.model, "text_encoder.shared.weight").defined());
  CHECK(engine::find_tensor(joint.model, "genre_embedder.weight").defined());
  auto parts = acestep::open_parts(acestep::find_model(place.run("joint")), c10::Device(c10::kCPU),
                                   at::kFloat);
  const auto trained = engine::find_tensor(joint.model, "text_encoder.shared.weight");
  CHECK(parts.is_loaded(acestep::Part::TextEncoder));
  const auto folder = acestep::read_text_encoder(acestep::read_model_folder(place.model.path()));
  CHECK(test::distance(folder->named_parameters()["shared.weight"], trained) > 0);
}

TEST_CASE("song training: stopped and resumed, it is the run that was never stopped") {
  const TrainingPlace place;
  place.train("whole", kQuick);
  place.train("parts", with(kQuick, {{"max_steps", "5"}, {"schedule_steps", "12"}}));
  place.train("parts", with(kQuick, {{"schedule_steps", "12"}}), /*resume=*/true);
  place.train("same", with(kQuick, {{"schedule_steps", "12"}}));
  const auto weights = [&](const char* name) {
    return engine::load_checkpoint(place.run(name) / "checkpoints" / "last").model;
  };
  const auto a = weights("parts"), b = weights("same");
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(at::equal(a[i].second, b[i].second));
}

TEST_CASE("song training: a preview is in the run's folder and in its report") {
  const TrainingPlace place;
  place.train("heard",
              with(kQuick, {{"preview", "true"},
                            {"preview_seconds", "0.5"},
                            {"preview_steps", "2"},
                            {"epochs", "2"}}),
              false, /*report=*/true);
  const auto folder = place.run("heard") / "previews";
  REQUIRE(fs::exists(folder));
  const auto file = fs::directory_iterator(folder)->path();
  CHECK(io::read_audio(file).seconds() > 0.4);
  const auto page = read_file(place.run("heard") / "report.html");
  CHECK(says(page, "<audio controls"));
  CHECK(says(page, "after epoch 2: a minor, saw"));
  CHECK(says(page, "data:image/png;base64,"));
}

TEST_CASE("song training: a preview longer than the samples leaves training as it was") {
  const TrainingPlace place;
  const Flags crops = with(kQuick, {{"crop_seconds", "0.5"}, {"validate_every", "1"}});
  place.train("silent", crops);
  place.train("heard",
              with(crops, {{"preview", "true"}, {"preview_seconds", "2"}, {"preview_steps", "1"}}));
  const auto a = engine::load_checkpoint(place.run("silent") / "checkpoints" / "last").model;
  const auto b = engine::load_checkpoint(place.run("heard") / "checkpoints" / "last").model;
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(at::equal(a[i].second, b[i].second));
  CHECK(fs::exists(place.run("heard") / "previews"));
}

TEST_CASE("song training: a preview that fails does not end the training") {
  const TrainingPlace place;
  const auto job = place.task(with(kQuick, {{"preview", "true"}, {"preview_seconds", "0.5"}}));
  fs::remove_all(place.model.part(acestep::Part::Vocoder));
  const auto result = engine::train(*job, test::training_plan("acestep", 2),
                                    test::training_options(place.run("deaf"), "acestep"));
  CHECK(result.epochs == 4);
  CHECK_FALSE(fs::exists(place.run("deaf") / "previews"));
}

TEST_CASE("song training: a frozen base in fewer bits is trained over") {
  const TrainingPlace place;
  for (const char* form : {"int8", "nf4"}) {
    const auto result = place.train(form, with(kQuick, {{"base_weights", form}, {"lr", "1e-2"}}));
    CHECK(std::isfinite(result.train_loss));
    CHECK(result.skipped_steps == 0);
  }
}

TEST_CASE("song training: an adapter goes on from a file, an adapter's run from its base") {
  const TrainingPlace place;
  place.train("first", kQuick);
  const auto first = engine::load_checkpoint(place.run("first") / "checkpoints" / "last");
  const auto job = place.task({{"adapter", place.run("first").string()}});
  auto& model = dynamic_cast<acestep::AcestepModel&>(job->model());
  const auto best = engine::load_checkpoint(place.run("first") / "checkpoints" / "best");
  for (const auto& [name, tensor] : engine::state_dict(model.network())) {
    CHECK(test::distance(tensor.detach(), engine::find_tensor(best.model, name)) == 0);
  }
  CHECK(says(error_of(place, {{"model", place.run("first").string()}}), "is an adapter's run"));
}

TEST_CASE("song training: losses that are not finite end it with the batch kept") {
  const TrainingPlace place;
  CHECK_THROWS_WITH_AS(place.train("wild", {{"full", "true"},
                                            {"lr", "1000"},
                                            {"clip_norm", "0"},
                                            {"epochs", "60"},
                                            {"warmup_steps", "0"},
                                            {"max_bad_steps", "3"}}),
                       doctest::Contains("not finite"), Error);
}

TEST_CASE("song training: data of another autoencoder or vocabulary is refused") {
  const TrainingPlace place;
  const test::SmallModel other(test::smallest_networks(), 99);
  CHECK(says(error_of(place, {{"model", other.path().string()}}), "another autoencoder"));
  CHECK(says(error_of(place, {{"data", place.model.scratch().string()}}), "no prepared music"));
}

TEST_CASE("song training: contradicting and impossible settings are named") {
  const TrainingPlace place;
  const auto refused = [&](const Flags& flags) { return error_of(place, flags); };
  CHECK(says(refused({{"full", "true"}, {"lora_rank", "4"}}), "one of them"));
  CHECK(says(refused({{"fresh", "true"}}), "are for --full"));
  CHECK(says(refused({{"full", "true"}, {"base_weights", "nf4"}}), "got --full"));
  CHECK(says(refused({{"base_weights", "int3"}}), "unknown --base-weights"));
  CHECK(says(refused({{"lora_targets", "to_q, qkv"}}), "'qkv' matches no layer"));
  CHECK(says(refused({{"drop_text", "1.5"}}), "drop_text is out of range"));
  CHECK(says(refused({{"crop_seconds", "-1"}}), "crop_seconds is out of range"));
  CHECK(says(refused({{"repeat", "0"}}), "repeat is out of range"));
  CHECK(says(refused({{"lora_rank", "0"}}), "rank is out of range"));
  CHECK(says(refused({{"learning_rte", "1"}}), "unknown"));
}

TEST_CASE("song training: the original's arguments work, are refused, or are named") {
  const auto adopted = [](const std::string& yaml) {
    auto config = Config::from_text(yaml, "lora.yaml");
    acestep::adopt_original_keys(config);
    return config;
  };
  const auto config = adopted(
      "learning_rate: 3e-4\nevery_n_train_steps: 50\ngradient_clip_val: 0.7\nssl_coeff: 0\n"
      "repeat_count: 20\ndataset_path: songs\nexp_name: mine\nnum_nodes: 1\n");
  CHECK(config.get("lr", 0.0) == 3e-4);
  CHECK(config.get<std::int64_t>("checkpoint_every", 0) == 50);
  CHECK(config.get("clip_norm", 0.0) == 0.7);
  CHECK(config.get("ssl_coefficient", 1.0) == 0);
  CHECK(config.get<std::int64_t>("repeat", 1) == 20);
  CHECK(config.get("data", std::string()) == "songs");
  CHECK_THROWS_WITH_AS(adopted("devices: 4\n"), doctest::Contains("one process"), Error);
  CHECK_THROWS_WITH_AS(adopted("gradient_clip_algorithm: value\n"),
                       doctest::Contains("expected norm"), Error);
  CHECK_THROWS_WITH_AS(adopted("ckpt_path: a.ckpt\n"), doctest::Contains("--adapter"), Error);
}
