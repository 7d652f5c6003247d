// SPDX-License-Identifier: Apache-2.0
// Names and shapes of the released networks, without allocating them; refusals of bad configs.
#include "ubique/models/acestep/net/config/config.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include <functional>
#include <map>

#include "tests/models/acestep/golden.h"
#include "ubique/base/error.h"
#include "ubique/models/acestep/net/codec/dcae.h"
#include "ubique/models/acestep/net/codec/vocoder.h"
#include "ubique/models/acestep/net/umt5.h"

using namespace ubique;

namespace {

using ShapesByName = std::map<std::string, std::vector<std::int64_t>>;

ShapesByName joined(const nn::NamedShapes& a, const nn::NamedShapes& b = {}) {
  ShapesByName shapes(a.begin(), a.end());
  shapes.insert(b.begin(), b.end());
  CHECK(shapes.size() == a.size() + b.size());
  return shapes;
}

/// Compares with a manifest of the released files.
void check_manifest(const std::string& name, const ShapesByName& shapes) {
  CAPTURE(name);
  const auto json = test::read_json(test::acestep_folder() / "manifest" / (name + ".json"));
  ShapesByName expected;
  for (const auto& entry : json.at("tensors")) {
    expected[entry.at("name").get<std::string>()] =
        entry.at("shape").get<std::vector<std::int64_t>>();
  }
  CHECK(shapes == expected);
}

template <typename Config>
Config released(const std::string& name, Config (*parse)(const Json&, const std::string&)) {
  return parse(test::read_json(test::acestep_folder() / "manifest" / (name + ".json")).at("config"),
               name);
}

std::string refusal(const std::function<void()>& parse) {
  try {
    parse();
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::Input);
    return error.what();
  }
  return "accepted";
}

std::string dit_refusal(const Json& json) {
  return refusal([&] { acestep::parse_dit_config(json, "config.json"); });
}
std::string dcae_refusal(const Json& json) {
  return refusal([&] { acestep::parse_dcae_config(json, "config.json"); });
}
std::string vocoder_refusal(const Json& json) {
  return refusal([&] { acestep::parse_vocoder_config(json, "config.json"); });
}
std::string umt5_refusal(const Json& json) {
  return refusal([&] { acestep::parse_umt5_config(json, "config.json"); });
}

bool mentions(const std::string& message, const std::string& part) {
  return message.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("acestep: the released networks have exactly the released files' names and shapes") {
  if (test::acestep_folder().empty()) return;
  const auto dit = released("transformer", acestep::parse_dit_config);
  check_manifest("transformer", joined(parameter_shapes(dit), unused_shapes(dit)));
  check_manifest("umt5", joined(parameter_shapes(released("umt5", acestep::parse_umt5_config))));
  check_manifest("dcae", joined(parameter_shapes(released("dcae", acestep::parse_dcae_config))));
  const auto vocoder = released("vocoder", acestep::parse_vocoder_config);
  check_manifest("vocoder", joined(file_shapes(vocoder), unused_shapes(vocoder)));
}

TEST_CASE("acestep: sizes of the released networks") {
  acestep::DitConfig dit;
  const auto live = nn::count_values(parameter_shapes(dit));
  CHECK(live + nn::count_values(unused_shapes(dit)) == 3305659264);
  dit.projectors = false;
  CHECK(nn::count_values(parameter_shapes(dit)) + nn::count_values(unused_shapes(dit)) ==
        3305659264);
  CHECK(nn::count_values(parameter_shapes(dit)) == 2588427392);
  CHECK(nn::count_values(parameter_shapes(acestep::Umt5Config())) == 281861376);
  CHECK(nn::count_values(parameter_shapes(acestep::DcaeConfig())) == 156812426);
  CHECK(nn::count_values(file_shapes(acestep::VocoderConfig())) == 103005138);
}

TEST_CASE("acestep: a released network is built without memory for its weights") {
  const acestep::Dit dit({}, at::TensorOptions(at::kMeta));
  CHECK(dit.named_parameters().size() == parameter_shapes(dit.config()).size());
  CHECK(dit.linear_layers().size() == 24 * 8 + 6 * 7 + 1 + 7 + 6);
}

TEST_CASE("acestep: transformers that cannot be are refused with the key") {
  CHECK(dit_refusal(Json::object()) == "accepted");
  CHECK(mentions(dit_refusal(Json::array()), "expected an object"));
  CHECK(mentions(dit_refusal({{"num_layers", -1}}), "num_layers is -1"));
  CHECK(mentions(dit_refusal({{"num_layers", 1 << 20}}), "at most 1024"));
  CHECK(mentions(dit_refusal({{"num_layers", 1e300}}), "num_layers is"));
  CHECK(mentions(dit_refusal({{"num_layers", "24"}}), "num_layers is \"24\""));
  CHECK(mentions(dit_refusal({{"attention_head_dim", 127}}), "even"));
  CHECK(mentions(dit_refusal({{"patch_size", {8, 1}}}), "patch_size is [8,1]"));
  CHECK(mentions(dit_refusal({{"patch_size", {16, 2}}}), "one frame"));
  CHECK(mentions(dit_refusal({{"lyric_hidden_size", 512}}), "lyric_hidden_size is 512"));
  CHECK(mentions(dit_refusal({{"lyric_encoder_heads", 7}}), "7 lyric heads"));
  CHECK(mentions(dit_refusal({{"ssl_encoder_depths", {8, 24}}}), "ssl_encoder_depths"));
  CHECK(mentions(dit_refusal({{"ssl_names", {"mert"}}}), "1, 2 and 2"));
  CHECK(mentions(dit_refusal({{"mlp_ratio", 0}}), "mlp_ratio is 0"));
  CHECK(mentions(dit_refusal({{"mlp_ratio", 1e-9}}), "at least one value"));
}

TEST_CASE("acestep: other networks that cannot be are refused with the key") {
  CHECK(umt5_refusal(Json::object()) == "accepted");
  CHECK(mentions(umt5_refusal({{"feed_forward_proj", "relu"}}), "expected \"gated-gelu\""));
  CHECK(mentions(umt5_refusal({{"relative_attention_num_buckets", 30}}), "multiple of 4"));
  CHECK(mentions(umt5_refusal({{"relative_attention_max_distance", 8}}), "more than a quarter"));
  CHECK(dcae_refusal(Json::object()) == "accepted");
  CHECK(mentions(dcae_refusal({{"downsample_block_type", "pixel_unshuffle"}}), "\"Conv\""));
  CHECK(mentions(dcae_refusal({{"encoder_block_types", {"Swin"}}}), "EfficientViTBlock"));
  CHECK(mentions(dcae_refusal({{"encoder_block_out_channels", {128, 256}}}), "2, 4, 4 and 4"));
  CHECK(mentions(dcae_refusal({{"decoder_block_out_channels", {128, 256, 512, 1020}}}), "1020"));
  CHECK(mentions(dcae_refusal({{"attention_head_dim", 48}}), "48 and 1024"));
  CHECK(vocoder_refusal(Json::object()) == "accepted");
  CHECK(mentions(vocoder_refusal({{"use_template", true}}), "use_template is true"));
  CHECK(mentions(vocoder_refusal({{"kernel_sizes", {7, 9}}}), "one odd size"));
  CHECK(mentions(vocoder_refusal({{"hop_length", 256}}), "hop_length 256"));
  CHECK(mentions(vocoder_refusal({{"upsample_rates", {4, 4}}}), "2 and 7"));
  CHECK(mentions(vocoder_refusal({{"upsample_kernel_sizes", {9, 8, 4, 4, 4, 4, 4}}}),
                 "upsample_kernel_sizes"));
  CHECK(mentions(vocoder_refusal({{"upsample_initial_channel", 64}}), "halved 7 times"));
  CHECK(mentions(vocoder_refusal({{"num_mels", 500}}), "num_mels is 500"));
  CHECK(mentions(vocoder_refusal({{"upsample_channels", {4, 4}}}), "7 and 2"));
}
