// SPDX-License-Identifier: Apache-2.0
// Presets, configuration keys, validation and JSON of an MSI-Net's configuration.
#include "ubique/models/msinet/net/config.h"

#include <algorithm>
#include <cmath>

#include "ubique/base/text/json_fields.h"
#include "ubique/base/text/names.h"
#include "ubique/base/text/text.h"
#include "ubique/data/images/datasets.h"

namespace ubique::msinet {
namespace {

constexpr NameTable<Upsample, 2> kUpsampleNames{
    {{Upsample::Legacy, "legacy"}, {Upsample::HalfPixel, "half_pixel"}}};

struct MeansVariant {
  std::string_view name;
  std::array<double, 3> means;
};
constexpr std::array<MeansVariant, 3> kVariants = {{
    {"msinet", {103.939, 116.779, 123.68}},
    {"torchvision", {255 * 0.485, 255 * 0.456, 255 * 0.406}},
    {"caffe", {123.68, 116.779, 103.939}},
}};

constexpr const char* kFullName = "msinet";
constexpr const char* kSmallName = "msinet-small";

MsiNetConfig small_config() {
  MsiNetConfig config;
  config.encoder = {{{8, 8}, 2, 1}, {{16, 16}, 2, 1}, {{32, 32}, 1, 1}, {{48, 48}, 1, 2}};
  config.aspp_width = 32;
  config.aspp_dilations = {2, 4, 6};
  config.decoder = {16, 8};
  config.size = {64, 80};
  return config;
}

bool same_layers(const MsiNetConfig& a, const MsiNetConfig& b) {
  return a.encoder == b.encoder && a.aspp_width == b.aspp_width &&
         a.aspp_dilations == b.aspp_dilations && a.decoder == b.decoder;
}

void check_range(const char* key, std::int64_t value, std::int64_t most, ErrorKind kind) {
  check(value >= 1 && value <= most, kind,
        "[msinet.config] {} is out of range; got {}, expected 1 to {}.", key, value, most);
}

void check_encoder(const MsiNetConfig& config, ErrorKind kind) {
  std::size_t halving = 0;
  for (std::size_t i = 0; i < config.encoder.size(); ++i) {
    const auto& stage = config.encoder[i];
    check_range("number of widths of an encoder stage",
                static_cast<std::int64_t>(stage.widths.size()), 16, kind);
    for (const auto width : stage.widths) check_range("encoder width", width, 8192, kind);
    check_range("encoder stride", stage.stride, 2, kind);
    check_range("encoder dilation", stage.dilation, 64, kind);
    if (stage.stride == 1) continue;
    check(halving == i, kind,
          "[msinet.config] encoder stage {} halves the size after one that does not; expected "
          "stages of stride 2 first.",
          i + 1);
    ++halving;
  }
  check(halving == config.decoder.size(), kind,
        "[msinet.config] the decoder does not give back the picture's size; got {} widths, each "
        "after doubling, expected {} as the encoder halves.",
        config.decoder.size(), halving);
}

void check_size(const MsiNetConfig& config, ErrorKind kind) {
  for (const auto extent : config.size) {
    check_range("size", extent, 16384, kind);
    check(extent % config.reduction() == 0, kind,
          "[msinet.config] the size does not divide; got {}, expected a multiple of {}.", extent,
          config.reduction());
  }
}

std::array<std::int64_t, 2> read_size(const Config& config, std::array<std::int64_t, 2> size) {
  const auto given = config.find<std::vector<std::int64_t>>("size");
  if (!given) return size;
  check(given->size() == 1 || given->size() == 2, ErrorKind::Usage,
        "[msinet.config] {}: size has {} numbers, expected height and width.", config.where("size"),
        given->size());
  return {given->front(), given->back()};
}

constexpr const char* kErrorTag = "msinet.config";

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
    JsonFields fields(item, kErrorTag, where + ", encoder");
    fields.take("widths", stage.widths);
    fields.take("stride", stage.stride);
    fields.take("dilation", stage.dilation);
    fields.finish();
  }
  return stages;
}

Preprocessing preprocessing_from(const Json& json, const std::string& where) {
  Preprocessing how;
  JsonFields fields(json, kErrorTag, where + ", preprocessing");
  fields.take("variant", how.variant);
  fields.take("means", how.means);
  fields.take("pad", how.pad);
  fields.finish();
  return how;
}

}  // namespace

std::string_view to_string(Upsample mode) { return name_of(kUpsampleNames, mode); }

Upsample parse_upsample(std::string_view text) {
  return parse_name(kUpsampleNames, "msinet.config", "upsampling", text);
}

Preprocessing preprocessing_variant(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& variant : kVariants) {
    if (name == variant.name) return {std::string(name), variant.means};
    names.emplace_back(variant.name);
  }
  fail(ErrorKind::Usage, "[msinet.config] unknown preprocessing; got '{}', expected one of {}.{}",
       name, join(names, ", "), hint(name, names));
}

std::string MsiNetConfig::name() const {
  if (same_layers(*this, MsiNetConfig())) return kFullName;
  if (same_layers(*this, small_config())) return kSmallName;
  return fmt::format("{}-{}", kFullName, encoder.front().widths.front());
}

MsiNetConfig preset(std::string_view name) {
  auto spelled = lowercase(name);
  std::replace(spelled.begin(), spelled.end(), '_', '-');
  if (spelled == kFullName) return {};
  if (spelled == kSmallName) return small_config();
  fail(ErrorKind::Usage, "[msinet.config] unknown preset; got '{}', expected {} or {}.{}", name,
       kFullName, kSmallName, hint(spelled, {kFullName, kSmallName}));
}

MsiNetConfig widened(MsiNetConfig config, double factor) {
  check(std::isfinite(factor) && factor > 0 && factor <= 16, ErrorKind::Usage,
        "[msinet.config] width is out of range; got {}, expected a factor above 0, up to 16.",
        factor);
  const auto widen = [&](std::int64_t& width) {
    width = std::max<std::int64_t>(1, std::llround(static_cast<double>(width) * factor));
  };
  for (auto& stage : config.encoder) std::for_each(stage.widths.begin(), stage.widths.end(), widen);
  widen(config.aspp_width);
  std::for_each(config.decoder.begin(), config.decoder.end(), widen);
  return config;
}

std::optional<std::array<std::int64_t, 2>> dataset_size(std::string_view dataset) {
  for (const auto& known : data::saliency_sets()) {
    if (known.name == dataset)
      return std::array<std::int64_t, 2>{known.frame.height, known.frame.width};
  }
  return std::nullopt;
}

MsiNetConfig read_config(const Config& config) {
  auto result = preset(config.get<std::string>("preset", kFullName));
  result = widened(std::move(result), config.get("width", 1.0));
  result.upsample = parse_upsample(config.get<std::string>("upsample", "legacy"));
  result.preprocessing =
      preprocessing_variant(config.get<std::string>("preprocess", result.preprocessing.variant));
  result.dataset = config.get<std::string>("dataset", "");
  result.size = read_size(config, dataset_size(result.dataset).value_or(result.size));
  validate(result);
  return result;
}

void validate(const MsiNetConfig& config, ErrorKind kind) {
  check_range("number of encoder stages", static_cast<std::int64_t>(config.encoder.size()), 16,
              kind);
  check_range("number of decoder widths", static_cast<std::int64_t>(config.decoder.size()), 6,
              kind);
  check_encoder(config, kind);
  check_range("aspp_width", config.aspp_width, 8192, kind);
  check_range("number of aspp_dilations", static_cast<std::int64_t>(config.aspp_dilations.size()),
              16, kind);
  for (const auto dilation : config.aspp_dilations) {
    check_range("aspp_dilations", dilation, 256, kind);
  }
  for (const auto width : config.decoder) check_range("decoder width", width, 8192, kind);
  check_size(config, kind);
  const auto& how = config.preprocessing;
  check(std::all_of(how.means.begin(), how.means.end(),
                    [](double mean) { return std::abs(mean) <= 255; }) &&
            how.pad >= 0 && how.pad <= 255,
        kind, "[msinet.config] means and pad are values of pixels; expected 0 to 255.");
}

std::int64_t parameter_count(const MsiNetConfig& config) {
  std::int64_t count = 0;
  for (const auto& layer : layers_of(config)) {
    count += layer.out * (layer.kernel * layer.kernel * layer.in + 1);
  }
  return count;
}

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
  JsonFields fields(json, kErrorTag, where);
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
