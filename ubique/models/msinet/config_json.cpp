// SPDX-License-Identifier: Apache-2.0
// An MSI-Net's configuration as a checkpoint's header holds it.
#include "ubique/base/json_fields.h"
#include "ubique/models/msinet/config.h"

namespace ubique::msinet {
namespace {

constexpr const char* kConfigPlace = "msinet.config";

Json encoder_json(const std::vector<EncoderStage>& stages) {
  Json json = Json::array();
  for (const auto& stage : stages) {
    json.push_back(
        {{"widths", stage.widths}, {"stride", stage.stride}, {"dilation", stage.dilation}});
  }
  return json;
}

std::vector<EncoderStage> encoder_from(const Json& json, const std::string& where) {
  check(json.is_array(), ErrorKind::Input,
        "[msinet.config] {}: 'encoder' cannot be read; got {}, expected a list of stages.", where,
        json.dump());
  std::vector<EncoderStage> stages;
  for (const auto& item : json) {
    auto& stage = stages.emplace_back();
    JsonFields fields(item, kConfigPlace, where + ", encoder");
    fields.take("widths", stage.widths);
    fields.take("stride", stage.stride);
    fields.take("dilation", stage.dilation);
    fields.finish();
  }
  return stages;
}

Preprocessing preprocessing_from(const Json& json, const std::string& where) {
  Preprocessing how;
  JsonFields fields(json, kConfigPlace, where + ", preprocessing");
  fields.take("variant", how.variant);
  fields.take("means", how.means);
  fields.take("pad", how.pad);
  fields.finish();
  return how;
}

}  // namespace

Json to_json(const MsiNetConfig& config) {
  const auto& how = config.preprocessing;
  return {{"encoder", encoder_json(config.encoder)},
          {"aspp_width", config.aspp_width},
          {"aspp_dilations", config.aspp_dilations},
          {"decoder", config.decoder},
          {"upsample", to_string(config.upsample)},
          {"preprocessing", {{"variant", how.variant}, {"means", how.means}, {"pad", how.pad}}},
          {"size", config.size},
          {"dataset", config.dataset},
          {"device", config.device}};
}

MsiNetConfig from_json(const Json& json, const std::string& where) {
  MsiNetConfig config;
  JsonFields fields(json, kConfigPlace, where);
  const auto encoder = fields.take_json("encoder");
  if (!encoder.is_null()) config.encoder = encoder_from(encoder, where);
  fields.take("aspp_width", config.aspp_width);
  fields.take("aspp_dilations", config.aspp_dilations);
  fields.take("decoder", config.decoder);
  fields.take_name<Upsample>("upsample", config.upsample, parse_upsample);
  const auto how = fields.take_json("preprocessing");
  if (!how.is_null()) config.preprocessing = preprocessing_from(how, where);
  fields.take("size", config.size);
  fields.take("dataset", config.dataset);
  fields.take("device", config.device);
  fields.finish();
  validate(config, ErrorKind::Input);
  return config;
}

}  // namespace ubique::msinet
