// SPDX-License-Identifier: Apache-2.0
// A MeshNet's configuration as a checkpoint's header holds it.
#include "ubique/base/json_fields.h"
#include "ubique/models/meshnet/config.h"

namespace ubique::meshnet {
namespace {

constexpr const char* kConfigPlace = "meshnet.config";

Json preprocessing_json(const Preprocessing& how) {
  return {{"conform", how.conform},           {"shape", how.shape},
          {"spacing", how.spacing},           {"normalization", how.normalization},
          {"low_quantile", how.low_quantile}, {"high_quantile", how.high_quantile}};
}

Preprocessing preprocessing_from(const Json& json, const std::string& where) {
  Preprocessing how;
  if (json.is_null()) return how;
  JsonFields fields(json, kConfigPlace, where + ", preprocessing");
  fields.take("conform", how.conform);
  fields.take("shape", how.shape);
  fields.take("spacing", how.spacing);
  fields.take("normalization", how.normalization);
  fields.take("low_quantile", how.low_quantile);
  fields.take("high_quantile", how.high_quantile);
  fields.finish();
  return how;
}

std::vector<Label> labels_from(const Json& json, const std::string& where) {
  std::vector<Label> labels;
  if (json.is_null()) return labels;
  for (const auto& item : json) {
    Label label;
    JsonFields fields(item, kConfigPlace, where + ", labels");
    fields.take("name", label.name);
    fields.take("colour", label.colour);
    fields.finish();
    labels.push_back(std::move(label));
  }
  return labels;
}

}  // namespace

Json to_json(const MeshNetConfig& config) {
  Json labels = Json::array();
  for (const auto& label : config.labels) {
    labels.push_back({{"name", label.name}, {"colour", label.colour}});
  }
  return {{"in_channels", config.in_channels},
          {"channels", config.channels},
          {"classes", config.classes},
          {"dilations", config.dilations},
          {"kernel", config.kernel},
          {"activation", kernels::to_string(config.activation)},
          {"norm", kernels::to_string(config.norm)},
          {"bias", config.bias},
          {"dropout", config.dropout},
          {"init", to_string(config.init)},
          {"preprocessing", preprocessing_json(config.preprocessing)},
          {"labels", labels}};
}

MeshNetConfig from_json(const Json& json, const std::string& where) {
  MeshNetConfig config;
  JsonFields fields(json, kConfigPlace, where);
  fields.take("in_channels", config.in_channels);
  fields.take("channels", config.channels);
  fields.take("classes", config.classes);
  fields.take("dilations", config.dilations);
  fields.take("kernel", config.kernel);
  fields.take_name<Activation>("activation", config.activation, kernels::parse_activation);
  fields.take_name<Norm>("norm", config.norm, kernels::parse_norm);
  fields.take("bias", config.bias);
  fields.take("dropout", config.dropout);
  fields.take_name<Init>("init", config.init, parse_init);
  config.preprocessing = preprocessing_from(fields.take_json("preprocessing"), where);
  config.labels = labels_from(fields.take_json("labels"), where);
  fields.finish();
  validate(config, ErrorKind::Input);
  return config;
}

}  // namespace ubique::meshnet
