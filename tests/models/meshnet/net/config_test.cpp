// SPDX-License-Identifier: Apache-2.0
// Presets, settings, JSON and validation of the configuration.
#include "ubique/models/meshnet/net/config.h"

#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "ubique/base/text/json.h"

using namespace ubique;
using namespace ubique::meshnet;
using namespace ubique::test;

namespace {

MeshNetConfig read(const std::string& yaml) {
  auto config = Config::from_text(yaml, "test.yaml");
  config.set_environment({});
  const auto result = read_config(config);
  config.finish();
  return result;
}

}  // namespace

TEST_CASE("config: presets with dash and underscore") {
  CHECK(preset("meshnet-5").channels == 5);
  CHECK(preset("MeshNet_16").channels == 16);
  CHECK(preset("meshnet-26") == MeshNetConfig());
  CHECK(contains(refusal_of(ErrorKind::Usage, [] { preset("meshnet-27"); }), "meshnet-26"));
}

TEST_CASE("config: every key is read, and the receptive field follows") {
  const auto config = read(
      "preset: meshnet-5\nclasses: 3\ndilations: [1, 2, 1]\nactivation: elu\nnorm: instance\n"
      "bias: false\ndropout: 0.1\ninit: kaiming_fan_out\nresample_method: brainchop\n"
      "shape: [48, 40, 32]\nspacing: 2\nnormalization: quantile\nlow_quantile: 0.02\n"
      "high_quantile: 0.98\nlabels: [background, grey, white]\n");
  CHECK(config.channels == 5);
  CHECK(config.classes == 3);
  CHECK(config.receptive_field() == 9);
  CHECK(config.activation == Activation::Elu);
  CHECK(config.norm == Norm::Instance);
  CHECK_FALSE(config.bias);
  CHECK(config.init == Init::KaimingFanOut);
  CHECK(config.preprocessing.shape == std::array<std::int64_t, 3>{48, 40, 32});
  CHECK(config.preprocessing.normalization == "quantile");
  CHECK(config.labels.at(2).name == "white");
  CHECK(MeshNetConfig().receptive_field() == 123);
  CHECK(read("shape: 32\n").preprocessing.shape == std::array<std::int64_t, 3>{32, 32, 32});
  CHECK(read("shape: [64]\n").preprocessing.shape == std::array<std::int64_t, 3>{64, 64, 64});
}

TEST_CASE("config: spacing is one number or one for each axis, and so it is stored") {
  using Spacing = std::array<double, 3>;
  CHECK(read("spacing: 2\n").preprocessing.spacing == Spacing{2, 2, 2});
  CHECK(read("spacing: [2]\n").preprocessing.spacing == Spacing{2, 2, 2});
  auto config = read("spacing: [0.9, 1.1, 1.0]\n");
  CHECK(config.preprocessing.spacing == Spacing{0.9, 1.1, 1});
  CHECK(spacing_text(config.preprocessing) == "0.9x1.1x1");
  CHECK(meshnet::from_json(to_json(config), "x") == config);
  CHECK(to_json(config)["preprocessing"]["spacing"] == Json({0.9, 1.1, 1.0}));

  config = read("spacing: 1.5\n");  // as older versions write and read it
  CHECK(to_json(config)["preprocessing"]["spacing"] == Json(1.5));
  CHECK(spacing_text(config.preprocessing) == "1.5");
  const auto stored = [](const Json& spacing) {
    return meshnet::from_json({{"preprocessing", {{"spacing", spacing}}}}, "x");
  };
  CHECK(stored(3).preprocessing.spacing == Spacing{3, 3, 3});
  CHECK(stored(Json({1, 2, 3})).preprocessing.spacing == Spacing{1, 2, 3});
  for (const auto& wrong : {Json({1, 2}), Json("1"), Json({1, 2, "3"}), Json({1, 2, 0})}) {
    INFO(wrong.dump());
    CHECK(contains(refusal_of(ErrorKind::Input, [&] { stored(wrong); }), "spacing"));
  }
}

TEST_CASE("config: JSON gives back the same configuration") {
  auto config = read("channels: 7\nactivation: gelu_tanh\nnorm: none\nspacing: 1.5\n");
  config.labels = {{"background", {0, 0, 0}}, {"lesion", {255, 10, 0}}};
  CHECK(meshnet::from_json(to_json(config), "x") == config);
  CHECK(meshnet::from_json(parse_json(to_json(config).dump(), "x"), "x") == config);
  CHECK(meshnet::from_json(Json::object(), "x") == MeshNetConfig());
}

TEST_CASE("config: invalid values are refused by key") {
  for (const auto& [yaml, key] : std::vector<std::pair<std::string, std::string>>{
           {"channels: 0", "channels"},
           {"classes: 1", "classes"},
           {"classes: 256", "classes"},
           {"dilations: []", "dilations"},
           {"dilations: [1, 0]", "dilations"},
           {"kernel: 2", "kernel"},
           {"activation: none", "activation"},
           {"activation: rleu", "relu"},
           {"norm: layer", "norm"},
           {"init: zeros", "init"},
           {"dropout: 1", "dropout"},
           {"shape: [1, 2]", "shape"},
           {"shape: [0]", "shape"},
           {"spacing: -1", "spacing"},
           {"spacing: [1, 1]", "spacing"},
           {"spacing: [1, 1, 0]", "spacing"},
           {"low_quantile: 0.9\nhigh_quantile: 0.1", "quantiles"},
           {"labels: [one]", "labels"}}) {
    INFO(yaml);
    CHECK(contains(refusal_of(ErrorKind::Usage, [&, &text = yaml] { read(text); }), key));
  }
}

TEST_CASE("config: JSON with unknown keys or wrong kinds is an input error") {
  CHECK(contains(refusal_of(ErrorKind::Input,
                            [] {
                              meshnet::from_json({{"chanels", 3}}, "x");
                            }),
                 "Did you mean 'channels'?"));
  CHECK(contains(refusal_of(ErrorKind::Input,
                            [] {
                              meshnet::from_json({{"channels", "many"}}, "x");
                            }),
                 "'channels' cannot be read"));
  CHECK(contains(refusal_of(ErrorKind::Input,
                            [] {
                              meshnet::from_json({{"norm", "batsch"}}, "x");
                            }),
                 "unknown norm"));
  CHECK(contains(refusal_of(ErrorKind::Input,
                            [] {
                              meshnet::from_json({{"channels", 0}}, "x");
                            }),
                 "out of range"));
  CHECK(contains(refusal_of(ErrorKind::Input, [] { meshnet::from_json(Json::array(), "x"); }),
                 "expected an object"));
}
