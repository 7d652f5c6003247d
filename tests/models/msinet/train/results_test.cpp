// SPDX-License-Identifier: Apache-2.0
// The results folder: written, found, and used to start a training; the loss curve.
#include "ubique/models/msinet/train/results.h"

#include "tests/models/msinet/net/network_samples.h"
#include "tests/models/msinet/train/training_samples.h"
#include "ubique/models/msinet/files/named_weights.h"
#include "ubique/models/msinet/files/weight_files.h"
#include "ubique/models/msinet/train/curve.h"
#include "ubique/models/msinet/train/start.h"

using namespace ubique;
using namespace ubique::msinet;
using namespace ubique::test;
namespace fs = std::filesystem;

namespace {

/// A network whose weights can be told from those of another number.
void put_weights(const fs::path& results, const std::string& which, const std::string& dataset,
                 const std::string& device, std::uint32_t number) {
  const ResultsFolder folder(results, dataset, device);
  make_folder(folder.weights(which).parent_path());
  auto config = widened(preset("msinet-small"), 0.25);
  export_keras(golden_file(config, number), folder.weights(which));
}

bool is_number(const std::optional<MsiNetFile>& file, std::uint32_t number) {
  return file && same_bits(file->tensors, golden_state(file->config, number));
}

/// A request to train on a data set, from a results folder unless a model is given.
engine::Request train_on(const std::string& dataset, const fs::path& results,
                         const std::string& device, const std::string& model = "") {
  engine::Request request;
  request.config.set_flag("dataset", dataset);
  if (!results.empty()) request.config.set_flag("results", results.string());
  request.device = device;
  request.model = model;
  return request;
}

}  // namespace

TEST_CASE("results: backends have the names that weight files have") {
  CHECK(weight_device_name("cuda") == "gpu");
  CHECK(weight_device_name("mps") == "metal");
  CHECK(weight_device_name("cpu") == "cpu");
  CHECK(weight_device_name("sham") == "sham");
}

TEST_CASE("results: the best of all runs is kept, and the history grows over them") {
  const ScratchFolder scratch;
  const ResultsFolder results(scratch / "results", "osie", "metal");
  const auto config = widened(preset("msinet-small"), 0.25);
  CHECK(results.is_lowest(5));
  results.add_epoch(golden_file(config, 1), 2.5, 1.25, true);
  CHECK_FALSE(fs::exists(results.curve()));
  CHECK(results.is_lowest(1.25));
  CHECK_FALSE(results.is_lowest(1.26));
  results.add_epoch(golden_file(config, 2), 2, 1.5, false);
  CHECK(fs::exists(results.curve()));
  CHECK(read_file(scratch / "results/history/train_osie_metal.txt") == "2.500000\n2.000000\n");
  CHECK(read_file(scratch / "results/history/valid_osie_metal.txt") == "1.250000\n1.500000\n");
  CHECK(is_number(load_any(scratch / "results/ckpts/latest/model_osie_metal.weights.h5"), 2));
  CHECK(is_number(load_any(scratch / "results/ckpts/best/model_osie_metal.weights.h5"), 1));
  results.add_epoch(golden_file(config, 3), std::nan(""), std::nullopt, false);
  CHECK(std::isnan(read_history(results.history("train")).back()));
  CHECK(results.is_lowest(1.2));
  write_file(results.history("valid"), "1.0\nhello\n");
  CHECK(contains(error_of([&] { results.is_lowest(1); }), "got 'hello' in line 2"));
}

TEST_CASE("results: a folder is found by data set, whichever of its folders is named") {
  const ScratchFolder scratch;
  const auto results = scratch / "run/results";
  put_weights(results, "best", "salicon", "gpu", 1);
  for (const auto& folder : {scratch / "run", results, results / "ckpts", results / "ckpts/best"}) {
    CAPTURE(folder.string());
    CHECK(holds_named_weights(folder));
    CHECK(looks_like_msinet(folder));
    CHECK(is_number(load_any(folder), 1));
    CHECK(find_best(folder, "salicon", "cpu").filename() == "model_salicon_gpu.weights.h5");
  }
  put_weights(results, "best", "salicon", "cpu", 2);
  CHECK(is_number(load_any(find_best(results, "salicon", "cpu")), 2));
  CHECK(is_number(load_any(find_best(results, "salicon", "metal")), 2));  // the first of the others
  put_weights(results, "best", "mit1003", "cpu", 3);
  CHECK(contains(error_of([&] { find_best(results, "", "cpu"); }), "usage: [msinet.results] "));
  const auto error = error_of([&] { find_best(results, "salicn", "cpu"); });
  CHECK(contains(error, "mit1003, salicon"));
  CHECK(contains(error, "Did you mean 'salicon'?"));
  CHECK_FALSE(holds_named_weights(scratch / "run/results/ckpts/latest"));
  CHECK_FALSE(holds_named_weights(scratch / "nowhere"));
}

TEST_CASE("start: the latest of this set and device, else of another device, else SALICON's best") {
  const ScratchFolder scratch;
  const auto results = scratch / "results";
  const auto message = error_of([&] { start_file(train_on("osie", results, "cuda")); });
  CHECK(contains(message, "input: [msinet.train] nothing to fine-tune for osie"));
  CHECK(contains(message, "model_salicon_gpu.weights.h5"));
  CHECK(contains(message, "Train on SALICON first"));
  CHECK_FALSE(start_file(train_on("salicon", results, "cuda")).has_value());  // fresh, or VGG16
  CHECK_FALSE(start_file(train_on("mine", results, "cuda")).has_value());
  put_weights(results, "best", "salicon", "cpu", 1);
  put_weights(results, "latest", "salicon", "cpu", 2);
  CHECK(is_number(start_file(train_on("osie", results, "cuda")), 1));
  CHECK(is_number(start_file(train_on("salicon", results, "cuda")), 2));
  put_weights(results, "best", "salicon", "gpu", 3);
  CHECK(is_number(start_file(train_on("osie", results, "cuda")), 3));
  put_weights(results, "latest", "osie", "gpu", 4);
  CHECK(is_number(start_file(train_on("osie", results, "cuda")), 4));
}

TEST_CASE("start: a model that is given comes before anything in the results") {
  const ScratchFolder scratch;
  const auto results = scratch / "results";
  put_weights(results, "latest", "osie", "cpu", 1);
  put_weights(results, "best", "salicon", "cpu", 2);
  put_weights(scratch / "other", "best", "salicon", "cpu", 3);
  const auto given = (scratch / "other").string();
  CHECK(is_number(start_file(train_on("osie", results, "cpu", given)), 3));
  CHECK_FALSE(start_file(train_on("osie", {}, "cpu")).has_value());
}

TEST_CASE("start: files are called by the data set or by the folder of the pictures") {
  Config config;
  config.set_flag("data", "/some/where/my photos/");
  CHECK(dataset_label(config) == "my-photos");
  config.set_flag("dataset", "osie");
  CHECK(dataset_label(config) == "osie");
  CHECK(dataset_label(Config()) == "pictures");
  Config stimuli;
  stimuli.set_flag("stimuli", "set.2/stimuli");
  CHECK(dataset_label(stimuli) == "set-2");
}

TEST_CASE("curve: both lines are drawn, in two colours, lower losses lower") {
  const std::vector<double> train = {3, 2, 1}, valid = {2.5, 2.4, 2.3};
  const auto picture = curve_picture(train, valid);
  const auto lowest = [&](const std::vector<std::uint8_t>& colour) {  // row of such a pixel
    int row = -1;
    for (std::size_t i = 0; i < picture.pixels.size(); i += 3) {
      const auto from = picture.pixels.begin() + static_cast<std::ptrdiff_t>(i);
      if (std::equal(colour.begin(), colour.end(), from)) row = int(i / 3) / picture.width;
    }
    return row;
  };
  const int valid_row = lowest({255, 127, 14});
  CHECK(valid_row > 0);
  CHECK(lowest({31, 119, 180}) > valid_row);
  const auto one = curve_picture(train, {}), flat = curve_picture(std::vector{1.0, 1.0}, {});
  CHECK(one.pixels != picture.pixels);
  CHECK(flat.pixels.size() == picture.pixels.size());
  const std::vector<double> lost = {std::nan(""), std::nan("")};
  CHECK(curve_picture(lost, lost).pixels.size() == picture.pixels.size());
}
