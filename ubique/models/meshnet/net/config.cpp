// SPDX-License-Identifier: Apache-2.0
// Presets, validation, and the configuration read from settings and to and from JSON.
#include "ubique/models/meshnet/net/config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "ubique/base/text/json_fields.h"
#include "ubique/base/text/text.h"

namespace ubique::meshnet {

namespace {

constexpr std::array<std::pair<Init, std::string_view>, 2> kInitNames = {
    {{Init::Xavier, "xavier"}, {Init::KaimingFanOut, "kaiming_fan_out"}}};
constexpr std::array<std::int64_t, 3> kPresetChannels = {5, 16, 26};

void check_network(const MeshNetConfig& config, ErrorKind kind) {
  const auto within = [&](const char* key, std::int64_t value, std::int64_t least,
                          std::int64_t most) {
    check(value >= least && value <= most, kind,
          "[meshnet.config] {} is out of range; got {}, expected {} to {}.", key, value, least,
          most);
  };
  within("in_channels", config.in_channels, 1, 16);
  within("channels", config.channels, 1, 4096);
  within("classes", config.classes, 2, 255);
  within("number of dilations", static_cast<std::int64_t>(config.dilations.size()), 1, 256);
  for (const auto dilation : config.dilations) within("dilations", dilation, 1, 256);
  within("kernel", config.kernel, 1, 15);
  check(config.kernel % 2 == 1, kind,
        "[meshnet.config] the kernel must have a middle; got {}, expected an odd number.",
        config.kernel);
  check(config.activation != Activation::None, kind,
        "[meshnet.config] a network without activation is one convolution; got none, expected "
        "relu, elu, gelu or gelu_tanh.");
  check(config.dropout >= 0 && config.dropout < 1, kind,
        "[meshnet.config] dropout is out of range; got {}, expected 0 to less than 1.",
        config.dropout);
}

void check_preprocessing(const Preprocessing& how, ErrorKind kind) {
  for (const auto extent : how.shape) {
    check(extent >= 1 && extent <= 4096, kind,
          "[meshnet.config] shape is out of range; got {}, expected 1 to 4096 voxels.", extent);
  }
  for (const auto length : how.spacing) {
    check(std::isfinite(length) && length > 0, kind,
          "[meshnet.config] spacing must be positive; got {} mm.", length);
  }
  check(how.low_quantile >= 0 && how.low_quantile < how.high_quantile && how.high_quantile <= 1,
        kind,
        "[meshnet.config] quantiles are shares in ascending order; got {} and {}, expected e.g. "
        "0.05 and 0.95.",
        how.low_quantile, how.high_quantile);
}

/// A list of three, or of one that stands for all of them.
template <typename T>
void read_axes(const Config& config, const char* key, std::array<T, 3>& axes) {
  const auto list = config.find<std::vector<T>>(key);
  if (!list) return;
  check(list->size() == 1 || list->size() == 3, ErrorKind::Usage,
        "[meshnet.config] {}: {} has {} numbers, expected one or three.", config.where(key), key,
        list->size());
  axes = {list->front(), list->size() == 3 ? (*list)[1] : list->front(), list->back()};
}

bool is_isotropic(const Preprocessing& how) {
  return how.spacing[0] == how.spacing[1] && how.spacing[1] == how.spacing[2];
}

Preprocessing read_preprocessing(const Config& config, Preprocessing how) {
  how.conform = config.get<std::string>("resample_method", how.conform);
  read_axes(config, "shape", how.shape);
  read_axes(config, "spacing", how.spacing);
  how.normalization = config.get<std::string>("normalization", how.normalization);
  how.low_quantile = config.get<double>("low_quantile", how.low_quantile);
  how.high_quantile = config.get<double>("high_quantile", how.high_quantile);
  return how;
}

}  // namespace

std::string_view to_string(Init init) {
  return init == Init::Xavier ? kInitNames[0].second : kInitNames[1].second;
}

Init parse_init(std::string_view text) {
  std::vector<std::string> names;
  for (const auto& [value, name] : kInitNames) {
    if (text == name) return value;
    names.emplace_back(name);
  }
  fail(ErrorKind::Usage, "[meshnet.config] unknown init; got '{}', expected {}.{}", text,
       join(names, " or "), hint(text, names));
}

std::int64_t MeshNetConfig::receptive_field() const {
  const auto reach = std::accumulate(dilations.begin(), dilations.end(), std::int64_t{0});
  return 1 + (kernel - 1) * reach;
}

std::string spacing_text(const Preprocessing& preprocessing) {
  const auto& spacing = preprocessing.spacing;
  if (is_isotropic(preprocessing)) return fmt::format("{:g}", spacing[0]);
  return fmt::format("{:g}x{:g}x{:g}", spacing[0], spacing[1], spacing[2]);
}

std::string MeshNetConfig::name() const { return fmt::format("meshnet-{}", channels); }

MeshNetConfig preset(std::string_view name) {
  auto spelled = lowercase(name);
  std::replace(spelled.begin(), spelled.end(), '_', '-');
  MeshNetConfig config;
  std::vector<std::string> names;
  for (const auto channels : kPresetChannels) {
    config.channels = channels;
    if (spelled == config.name()) return config;
    names.push_back(config.name());
  }
  fail(ErrorKind::Usage, "[meshnet.config] unknown preset; got '{}', expected one of {}.{}", name,
       join(names, ", "), hint(spelled, names));
}

MeshNetConfig read_config(const Config& config) {
  MeshNetConfig result = preset(config.get<std::string>("preset", "meshnet-26"));
  result.in_channels = config.get("in_channels", result.in_channels);
  result.channels = config.get("channels", result.channels);
  result.classes = config.get("classes", result.classes);
  result.dilations = config.get("dilations", result.dilations);
  result.kernel = config.get("kernel", result.kernel);
  result.activation = kernels::parse_activation(config.get<std::string>("activation", "relu"));
  result.norm = kernels::parse_norm(config.get<std::string>("norm", "batch"));
  result.bias = config.get("bias", result.bias);
  result.dropout = config.get("dropout", result.dropout);
  result.init = parse_init(config.get<std::string>("init", "xavier"));
  result.preprocessing = read_preprocessing(config, result.preprocessing);
  for (const auto& name : config.get("labels", std::vector<std::string>{})) {
    const auto label = static_cast<std::int64_t>(result.labels.size());
    result.labels.push_back({name, palette_colour(label)});
  }
  validate(result);
  return result;
}

void validate(const MeshNetConfig& config, ErrorKind kind) {
  check_network(config, kind);
  check_preprocessing(config.preprocessing, kind);
  check(config.labels.empty() || std::cmp_equal(config.labels.size(), config.classes), kind,
        "[meshnet.config] {} labels for {} classes; expected one for each, or none.",
        config.labels.size(), config.classes);
}

std::int64_t parameter_count(const MeshNetConfig& config) {
  const auto c = config.channels;
  const auto taps = config.kernel * config.kernel * config.kernel;
  const auto inner = static_cast<std::int64_t>(config.layers()) - 1;
  const auto per_channel = (config.bias ? 1 : 0) + (config.norm == Norm::Batch ? 2 : 0);
  return taps * c * (config.in_channels + inner * c) + (inner + 1) * per_channel * c +
         (c + 1) * config.classes;
}

namespace {

constexpr const char* kConfigTag = "meshnet.config";

/// One number where the axes agree, which older versions read too.
Json spacing_json(const Preprocessing& how) {
  return is_isotropic(how) ? Json(how.spacing[0]) : Json(how.spacing);
}

std::array<double, 3> spacing_from(const Json& json, const std::string& where) {
  if (json.is_null()) return Preprocessing().spacing;
  const bool three = json.is_array() && json.size() == 3 &&
                     std::ranges::all_of(json, [](const Json& item) { return item.is_number(); });
  check(json.is_number() || three, ErrorKind::Input,
        "[meshnet.config] {}: 'spacing' cannot be read; got {}, expected one number or three.",
        where, json_text(json));
  if (three) return json.get<std::array<double, 3>>();
  const auto every = json.get<double>();
  return {every, every, every};
}

Json preprocessing_json(const Preprocessing& how) {
  return {{"conform", how.conform},           {"shape", how.shape},
          {"spacing", spacing_json(how)},     {"normalization", how.normalization},
          {"low_quantile", how.low_quantile}, {"high_quantile", how.high_quantile}};
}

Preprocessing preprocessing_from(const Json& json, const std::string& where) {
  Preprocessing how;
  if (json.is_null()) return how;
  JsonFields fields(json, kConfigTag, where + ", preprocessing");
  fields.take("conform", how.conform);
  fields.take("shape", how.shape);
  how.spacing = spacing_from(fields.take_json("spacing"), where + ", preprocessing");
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
    JsonFields fields(item, kConfigTag, where + ", labels");
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
  JsonFields fields(json, kConfigTag, where);
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
