// SPDX-License-Identifier: Apache-2.0
// Configurations: presets, keys, JSON, invalid values; the needs that follow from them.
#include "ubique/models/msinet/net/config.h"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/base/scratch.h"
#include "ubique/base/text/json.h"
#include "ubique/models/msinet/net/network.h"

using namespace ubique;
using namespace ubique::msinet;
using test::contains;
using test::refusal_of;

namespace {

using Size = std::array<std::int64_t, 2>;

MsiNetConfig configured(const std::string& yaml) {
  const auto config = Config::from_text(yaml, "test.yaml");
  auto result = read_config(config);
  config.finish();
  return result;
}

/// Qualified, and with a std::string: otherwise overload resolution may prefer from_json(json,
/// array) of nlohmann, which newer versions make visible to argument-dependent lookup.
MsiNetConfig config_of(const Json& json) { return msinet::from_json(json, std::string("file")); }

}  // namespace

TEST_CASE("config: parameter counts of the published network and the small one") {
  CHECK(parameter_count(preset("msinet")) == 24934209);
  CHECK(parameter_count(preset("msinet_small")) == 153097);
  CHECK(layers_of(preset("msinet")).size() == 23);
  CHECK(layers_of(preset("msinet-small")).size() == 17);
  CHECK(preset("msinet").name() == "msinet");
  CHECK(preset("msinet-small").name() == "msinet-small");
  CHECK(preset("msinet").reduction() == 8);
  CHECK(preset("msinet-small").reduction() == 4);
}

TEST_CASE("config: layers have the published names, widths and dilations") {
  const auto layers = layers_of(preset("msinet"));
  CHECK(layers[0].scope("/") == "conv1/conv1_1");
  CHECK(layers[12].scope("/") == "conv5/conv5_3");
  CHECK(layers[12].dilation == 2);
  CHECK(layers[12].divisor == 8);
  CHECK(layers[13].in == 1280);
  CHECK(layers[16].scope("_") == "aspp_conv1_4");
  CHECK(layers[16].dilation == 12);
  CHECK(layers[17].divisor == 0);
  CHECK(layers[18].scope("/") == "aspp/conv2");
  CHECK(layers[18].in == 1280);
  CHECK(layers[22].scope(".") == "decoder.conv4");
  CHECK(layers[22].out == 1);
  CHECK(layers[22].divisor == 1);
}

TEST_CASE("config: keys select size, upsampling, preprocessing and widths") {
  const auto full = configured("dataset: cat2000\nupsample: half_pixel\npreprocess: torchvision\n");
  CHECK((full.size == Size{216, 384}));
  CHECK(full.upsample == Upsample::HalfPixel);
  CHECK(full.preprocessing.means[0] == doctest::Approx(123.675));
  const auto half = configured("width: 0.5\nsize: [64, 96]\n");
  CHECK((half.encoder[4].widths == std::vector<std::int64_t>{256, 256, 256}));
  CHECK(half.name() == "msinet-32");
  CHECK((half.size == Size{64, 96}));
  CHECK(configured("dataset: mine\n").dataset == "mine");
}

TEST_CASE("config: JSON round trip, and unknown keys refused") {
  auto config = widened(preset("msinet-small"), 2);
  config.upsample = Upsample::HalfPixel;
  config.preprocessing = preprocessing_variant("caffe");
  config.dataset = "osie";
  config.device = "metal";
  Json json = msinet::to_json(config);
  const bool same = config_of(json) == config;
  CHECK(same);
  json["upsampel"] = "legacy";
  CHECK(
      contains(refusal_of(ErrorKind::Input, [&] { config_of(json); }), "Did you mean 'upsample'"));
  json = msinet::to_json(config);
  json["encoder"][0]["stride"] = 1;
  CHECK(contains(refusal_of(ErrorKind::Input, [&] { config_of(json); }), "stride 2 first"));
}

TEST_CASE("config: invalid values are refused by name") {
  const auto refused = [](const std::string& yaml) {
    return refusal_of(ErrorKind::Usage, [&] { configured(yaml); });
  };
  CHECK(contains(refused("preset: msinet-smal\n"), "Did you mean 'msinet-small'"));
  CHECK(contains(refused("upsample: bilinear\n"), "half_pixel"));
  CHECK(contains(refused("preprocess: torchvison\n"), "Did you mean 'torchvision'"));
  CHECK(contains(refused("size: [100, 320]\n"), "multiple of 8"));
  CHECK(contains(refused("size: [1, 2, 3]\n"), "height and width"));
  CHECK(contains(refused("width: -1\n"), "factor"));
  CHECK(contains(refused("width: 1000\n"), "factor"));
}

TEST_CASE("needs: multiplications are the published ones, and saved tensors are counted") {
  const auto needs = needs_of(preset("msinet"), Size{240, 320});
  CHECK(needs.parameter_count() == 24934209);
  CHECK(needs.flops_run / 2e9 == doctest::Approx(45.5).epsilon(0.005));
  const auto quarter = needs_of(preset("msinet"), Size{120, 160});
  CHECK(quarter.flops_run / 2e9 == doctest::Approx(11.4).epsilon(0.005));
  CHECK(needs.activations.saved > 3 * 64 * 240 * 320);
  CHECK(needs.activations.largest == 64 * 240 * 320);
  CHECK(needs.can_train());
  plan::check_needs(needs);
}
