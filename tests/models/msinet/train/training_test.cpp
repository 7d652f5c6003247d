// SPDX-License-Identifier: Apache-2.0
// Training end to end: result files, exact resume, watched scores, bad data.
#include "tests/models/msinet/net/network_samples.h"
#include "training_samples.h"
#include "ubique/engine/checkpoint/checkpoint.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/io/images/png.h"
#include "ubique/models/msinet/data/open_data.h"
#include "ubique/models/msinet/files/named_weights.h"
#include "ubique/models/msinet/files/weight_files.h"
#include "ubique/models/msinet/train/results.h"

using namespace ubique;
using namespace ubique::msinet;
using namespace ubique::test;
namespace fs = std::filesystem;

namespace {

std::string refused(const engine::Request& request) {
  return error_of([&] { make_task(request); });
}

std::string seed_device() { return weight_device_name(device_name()); }

}  // namespace

TEST_CASE("training: weights, history and curve are left under the original's names") {
  const ScratchFolder scratch;
  const auto data = put_scenes(scratch / "ads");
  const auto result = small_run(small_request(data), small_options(scratch / "run"));
  CHECK(result.scores.size() == 5);
  CHECK(result.scores.back().first == "nss");
  const ResultsFolder results(scratch / "run/results", "ads", seed_device());
  for (const char* which : {"latest", "best"}) {
    const auto file = load_any(results.weights(which));
    CHECK(file.config.dataset == "ads");
    CHECK(file.config.device == seed_device());
    const auto checkpoint = engine::load_checkpoint(
        scratch / "run/checkpoints" / (which == std::string("best") ? "best" : "last"), false);
    REQUIRE(file.tensors.size() == checkpoint.model.size());
    for (const auto& [name, tensor] : file.tensors) {
      CHECK(tensor.equal(engine::find_tensor(checkpoint.model, name)));
    }
  }
  CHECK(read_history(results.history("train")).size() == 3);
  const auto valid = read_history(results.history("valid"));
  REQUIRE(valid.size() == 3);
  CHECK(valid.back() == doctest::Approx(result.scores.front().second).epsilon(1e-5));
  CHECK(read_file(results.history("train")).find('.') != std::string::npos);
  CHECK(io::read_png(results.curve()).width > 100);
}

TEST_CASE("training: stop and resume, within an epoch or between two, is bit-exact") {
  const ScratchFolder scratch;
  const auto data = put_scenes(scratch / "scenes");
  const SmallFlags flags = {{"flip", "true"}};
  const auto whole = small_run(small_request(data, flags), small_options(scratch / "whole"));
  const auto expected = step_losses(scratch / "whole");
  REQUIRE(expected.size() == 9);
  for (const std::int64_t stop : {2, 3, 7}) {
    CAPTURE(stop);
    const auto folder = scratch / fmt::format("stop{}", stop);
    auto options = small_options(folder);
    std::int64_t steps = 0;
    options.stop_requested = [&] { return ++steps == stop; };
    CHECK(small_run(small_request(data, flags), options).interrupted);
    options.stop_requested = nullptr;
    options.resume = true;
    const auto result = small_run(small_request(data, flags), options);
    CHECK(result.scores == whole.scores);
    CHECK(step_losses(folder) == expected);
    const ResultsFolder one(scratch / "whole/results", "scenes", seed_device());
    const ResultsFolder other(folder / "results", "scenes", seed_device());
    CHECK(read_file(one.weights("latest")) == read_file(other.weights("latest")));
    CHECK(read_file(one.history("valid")) == read_file(other.history("valid")));
  }
}

TEST_CASE("training: a score is watched in its own direction, and patience ends a run") {
  const ScratchFolder scratch;
  const auto data = put_scenes(scratch / "scenes");
  for (const auto& [watch, higher] :
       {std::pair{"loss", false}, {"kld", false}, {"cc", true}, {"sim", true}, {"nss", true}}) {
    const auto task = make_task(small_request(data, {{"watch", watch}}));
    CHECK(task->recipe().watch == watch);
    CHECK(task->recipe().watch_higher == higher);
  }
  CHECK(contains(refused(small_request(data, {{"watch", "ccc"}})), "Did you mean 'cc'?"));
  // With a rate of 0 nothing gets better: the first epoch stays the best one.
  const auto stopped = small_run(
      small_request(data, {{"watch", "cc"}, {"patience", "2"}, {"lr", "0"}, {"epochs", "9"}}),
      small_options(scratch / "run"));
  CHECK(stopped.stopped_early);
  CHECK(stopped.epochs == 3);
  CHECK(stopped.best_epoch == 0);
  fs::remove_all(data / "fixations");
  CHECK(contains(refused(small_request(data, {{"watch", "nss"}})), "NSS needs fixations"));
}

TEST_CASE("training: the original's recipe has TensorFlow's Adam; AdamW is an option") {
  const auto recipe = original_recipe();
  CHECK(recipe.optimizer.name == "adam_tf1");
  CHECK(recipe.optimizer.lr == 1e-5);
  CHECK(recipe.optimizer.eps == 1e-8);
  CHECK(recipe.epochs == 10);
  const ScratchFolder scratch;
  const auto data = put_scenes(scratch / "scenes");
  const SmallFlags adamw = {{"optimizer", "adamw"}, {"weight_decay", "0.01"}, {"epochs", "1"}};
  CHECK(small_run(small_request(data, adamw), small_options(scratch / "run")).steps == 3);
}

TEST_CASE("training: one stage per data set, in order") {
  Config config;
  config.set_flag("dataset", "salicon, fixationadd1000");
  const auto stages = dataset_stages(config);
  REQUIRE(stages.size() == 2);
  CHECK(stages[1].name == "fixationadd1000");
  CHECK(stages[1].settings.front().second == "fixationadd1000");
  config.set_flag("dataset", "salicon");
  CHECK(dataset_stages(config).empty());
  config.set_flag("dataset", "a,b,a");
  CHECK(contains(error_of([&] { dataset_stages(config); }),
                 "usage: [msinet.train] a data set comes"));
  config.set_flag("dataset", "a,../b");
  CHECK(contains(error_of([&] { dataset_stages(config); }), "expected a name"));
}

TEST_CASE("training: unusable data is refused by name") {
  const ScratchFolder scratch;
  const auto data = put_scenes(scratch / "scenes");
  CHECK(contains(refused(small_request(scratch / "nowhere", {{"dataset", "salicn"}})),
                 "Did you mean 'salicon'?"));
  CHECK(contains(refused(small_request(scratch / "nowhere", {{"dataset", "salicon"}})),
                 "expected the folders stimuli and saliency"));
  CHECK(contains(refused(small_request(data, {{"blur", "furier"}})), "Did you mean 'fourier'?"));
  CHECK(contains(refused(small_request(data, {{"sigma", "-1"}})), "got --sigma -1"));

  const auto picture = data / "stimuli/train/scene_000002.png";
  fs::resize_file(picture, 300);
  const auto error =
      error_of([&] { small_run(small_request(data), small_options(scratch / "run")); });
  CHECK(contains(error, "input: [io.png]"));
  CHECK(contains(error, "scene_000002.png"));
  CHECK(contains(error, "of the training set"));
}

TEST_CASE("training: empty fixations are an error that names the picture") {
  const ScratchFolder scratch;
  const auto data = put_scenes(scratch / "scenes");
  fs::remove_all(data / "maps");
  write_file(data / "fixations/train/scene_000001.csv", "x,y\n");
  const auto error = error_of([&] {
    small_run(small_request(data, {{"sigma", "2"}}), small_options(scratch / "run"));
  });
  CHECK(contains(error, "input: [data.fixations]"));
  CHECK(contains(error, "scene_000001.png has no fixation inside"));
}

TEST_CASE("training: maps are made of fixations where a blur is asked for") {
  const ScratchFolder scratch;
  const auto data = put_scenes(scratch / "scenes");
  const auto fourier = small_request(data, {{"blur", "fourier"}});
  const auto opened = open_data(fourier.config, {16, 16}, 1);
  CHECK(opened.blur.cycles == 8);
  CHECK(opened.train[0].map.empty());
  CHECK(open_data(small_request(data).config, {16, 16}, 1).train[0].map.has_filename());
  fs::remove_all(data / "fixations");
  CHECK(contains(refused(small_request(data, {{"blur", "gaussian"}})),
                 "--blur makes maps of fixations; got none for"));
}
