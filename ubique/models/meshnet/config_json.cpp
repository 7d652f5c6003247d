// SPDX-License-Identifier: Apache-2.0
// A MeshNet's configuration as a checkpoint's header holds it.
#include <functional>
#include <map>

#include "ubique/base/text.h"
#include "ubique/models/meshnet/config.h"

namespace ubique::meshnet {
namespace {

/// Takes the keys of one object out, one by one; what is left at the end nobody knows.
class JsonFields {
 public:
  JsonFields(const Json& json, std::string where) : where_(std::move(where)) {
    check(json.is_object(), ErrorKind::Input,
          "[meshnet.config] {} is not a configuration; got {}, expected an object.", where_,
          json.type_name());
    for (const auto& [key, value] : json.items()) fields_[key] = value;
  }

  template <typename T>
  void take(const std::string& key, T& value) {
    known_.push_back(key);
    const auto found = fields_.find(key);
    if (found == fields_.end()) return;
    try {
      value = found->second.get<T>();
    } catch (const Json::exception&) {
      fail(ErrorKind::Input, "[meshnet.config] {}: '{}' cannot be read; got {}.", where_, key,
           found->second.dump());
    }
    fields_.erase(found);
  }

  /// A text that `parse` turns into the value; its error becomes one about this file.
  template <typename T>
  void take_name(const std::string& key, T& value,
                 const std::function<T(std::string_view)>& parse) {
    std::string text;
    take(key, text);
    if (text.empty()) return;
    try {
      value = parse(text);
    } catch (const Error& error) {
      fail(ErrorKind::Input, "[meshnet.config] {}: '{}': {}", where_, key, error.what());
    }
  }

  Json take_json(const std::string& key) {
    Json value;
    take(key, value);
    return value;
  }

  void finish() const {
    if (fields_.empty()) return;
    const auto& key = fields_.begin()->first;
    fail(ErrorKind::Input, "[meshnet.config] {}: unknown key '{}'.{}", where_, key,
         hint(key, known_));
  }

  const std::string& where() const { return where_; }

 private:
  std::string where_;
  std::map<std::string, Json> fields_;
  std::vector<std::string> known_;
};

Json preprocessing_json(const Preprocessing& how) {
  return {{"conform", how.conform},           {"shape", how.shape},
          {"spacing", how.spacing},           {"normalization", how.normalization},
          {"low_quantile", how.low_quantile}, {"high_quantile", how.high_quantile}};
}

Preprocessing preprocessing_from(const Json& json, const std::string& where) {
  Preprocessing how;
  if (json.is_null()) return how;
  JsonFields fields(json, where + ", preprocessing");
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
    JsonFields fields(item, where + ", labels");
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
  JsonFields fields(json, where);
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
