// SPDX-License-Identifier: Apache-2.0
// Configurations: the published network and the small one as two values of one thing.
#include "ubique/models/msinet/net/config.h"

#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "ubique/base/text/json.h"
#include "ubique/models/msinet/net/network.h"

using namespace ubique;
using namespace ubique::msinet;
using test::contains;
using test::refusal_of;

namespace {

MsiNetConfig configured(const std::string& yaml) {
  const auto config = Config::from_text(yaml, "test.yaml");
  auto result = read_config(config);
  config.finish();
  return result;
}

}  // namespace

TEST_CASE("config: the published network and the small one have the parameters that they should") {
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

TEST_CASE("config: keys of a person become a network") {
  const auto full = configured("dataset: cat2000\nupsample: half_pixel\npreprocess: torchvision\n");
  CHECK((full.size == std::array<std::int64_t, 2>{216, 384}));
  CHECK(full.upsample == Upsample::HalfPixel);
  CHECK(full.preprocessing.means[0] == doctest::Approx(123.675));
  const auto half = configured("width: 0.5\nsize: [64, 96]\n");
  CHECK(half.encoder[4].widths == std::vector<std::int64_t>{256, 256, 256});
  CHECK(half.name() == "msinet-32");
  CHECK((half.size == std::array<std::int64_t, 2>{64, 96}));
  CHECK(configured("dataset: mine\n").dataset == "mine");
}

TEST_CASE("config: JSON gives back the same, and refuses what it does not know") {
  auto config = widened(preset("msinet-small"), 2);
  config.upsample = Upsample::HalfPixel;
  config.preprocessing = preprocessing_variant("caffe");
  config.dataset = "osie";
  config.device = "metal";
  CHECK((from_json(to_json(config), "here") == config));
  auto json = to_json(config);
  json["upsampel"] = "legacy";
  CHECK(contains(refusal_of(ErrorKind::Input, [&] { from_json(json, "file"); }),
                 "Did you mean 'upsample'"));
  json = to_json(config);
  json["encoder"][0]["stride"] = 1;
  CHECK(contains(refusal_of(ErrorKind::Input, [&] { from_json(json, "file"); }), "stride 2 first"));
}

TEST_CASE("config: values that cannot be are refused by name") {
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

TEST_CASE("needs: multiplications are the published ones, and a step's tensors are counted") {
  const auto needs = needs_of(preset("msinet"), {240, 320});
  CHECK(needs.parameter_count() == 24934209);
  CHECK(needs.flops_run / 2e9 == doctest::Approx(45.5).epsilon(0.005));
  CHECK(needs_of(preset("msinet"), {120, 160}).flops_run / 2e9 ==
        doctest::Approx(11.4).epsilon(0.005));
  CHECK(needs.activations.saved > 3 * 64 * 240 * 320);
  CHECK(needs.activations.largest == 64 * 240 * 320);
  CHECK(needs.can_train());
  plan::check_needs(needs);
}
