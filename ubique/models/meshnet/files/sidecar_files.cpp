// SPDX-License-Identifier: Apache-2.0
// The JSON of BrainChop's and our own web page's sidecar files, with warnings for BrainChop.
#include "ubique/models/meshnet/files/sidecar_files.h"

#include <fmt/format.h>

#include <cmath>

#include "ubique/base/terminal/log.h"
#include "ubique/base/text/json.h"
#include "ubique/models/meshnet/files/import_recipe.h"

namespace ubique::meshnet {
namespace {

// Side of the largest texture on old or small graphics cards, and on the usual ones.
constexpr std::int64_t kSmallTexture = 8192, kLargeTexture = 16384;

/// TensorFlow.js stores one value of a 3D convolution's output per texel.
std::int64_t texels(const MeshNetConfig& config) {
  const auto& shape = config.preprocessing.shape;
  return shape[0] * shape[1] * shape[2] * std::max(config.channels, config.classes);
}

/// BrainChop conforms scans in one way only; its files cannot ask for another.
void warn_of_conforming(const MeshNetConfig& config) {
  const auto own = brainchop_preprocessing(config);
  const auto& how = config.preprocessing;
  if (how.conform == own.conform && how.shape == own.shape && how.spacing == own.spacing) return;
  log::warn(
      "[meshnet.export] BrainChop will not prepare scans as in this network's training; got {} "
      "{}x{}"
      "x{} at {} mm, expected {} {}x{}x{} at {} mm. Its labels there will be poor: train with "
      "--resample-method brainchop for BrainChop, or take --format web, which prepares them so.",
      how.conform, how.shape[0], how.shape[1], how.shape[2], spacing_text(how), own.conform,
      own.shape[0], own.shape[1], own.shape[2], spacing_text(own));
}

void warn_of_textures(const MeshNetConfig& config) {
  if (texels(config) <= kLargeTexture * kLargeTexture) return;
  const auto side = static_cast<std::int64_t>(
      std::cbrt(static_cast<double>(kLargeTexture * kLargeTexture) /
                static_cast<double>(std::max(config.channels, config.classes))));
  log::warn(
      "[meshnet.export] a whole layer is {:.0f} million values, more than a texture of {} x {} "
      "holds; BrainChop must crop heads to {}³ voxels or compute channel by channel "
      "(enableSeqConv, which brainchop.json turns on).",
      static_cast<double>(texels(config)) / 1e6, kLargeTexture, kLargeTexture, side);
}

Json colormap_json(const std::vector<Label>& labels) {
  Json json = {
      {"R", Json::array()}, {"G", Json::array()}, {"B", Json::array()}, {"labels", Json::array()}};
  for (const auto& label : labels) {
    json["R"].push_back(label.colour[0]);
    json["G"].push_back(label.colour[1]);
    json["B"].push_back(label.colour[2]);
    json["labels"].push_back(label.name);
  }
  return json;
}

Json labels_json(const std::vector<Label>& labels) {
  Json json = Json::object();
  for (std::size_t i = 0; i < labels.size(); ++i) json[std::to_string(i)] = labels[i].name;
  return json;
}

/// How BrainChop's preprocessing differs from that of the training.
std::string intensity_note(const MeshNetConfig& config) {
  const auto& how = config.preprocessing;
  if (how.conform == "brainchop") return "Scans are prepared as in the network's training.";
  return fmt::format(
      "The network was trained on scans of {}x{}x{} voxels of {} mm, conformed by {}; "
      "BrainChop "
      "gives it 256x256x256 voxels of 1 mm in 8 bits, the brightest thousandth cut off.",
      how.shape[0], how.shape[1], how.shape[2], spacing_text(how), how.conform);
}

Json brainchop_entry(const MeshNetConfig& config, const std::string& folder_name) {
  const auto folder = "/models/" + folder_name;
  const bool by_channel = texels(config) > kSmallTexture * kSmallTexture;
  return {{"id", 1},  // the next free number of the list that it is added to
          {"type", "Segmentation"},
          {"path", folder + "/model.json"},
          {"modelName", folder_name},
          {"colormapPath", folder + "/colormap.json"},
          {"preModelId", nullptr},
          {"preModelPostProcess", false},
          {"isBatchOverlapEnable", false},
          {"numOverlapBatches", 0},
          {"enableTranspose", true},
          {"enableCrop", true},
          {"cropPadding", config.receptive_field() / 2},
          {"autoThreshold", 0},
          {"enableQuantileNorm", config.preprocessing.normalization == "quantile"},
          {"filterOutWithPreMask", false},
          {"enableSeqConv", by_channel},
          {"textureSize", 0},
          {"warning", by_channel ? Json("Needs much graphics memory.") : Json(nullptr)},
          {"inferenceDelay", 100},
          {"description", fmt::format("{}, {} labels. {}", config.name(), config.classes,
                                      intensity_note(config))}};
}

Json layers_json(const MeshNetConfig& config) {
  Json layers = Json::array();
  for (const auto dilation : config.dilations) {
    layers.push_back(
        {{"channels", config.channels}, {"kernel", config.kernel}, {"dilation", dilation}});
  }
  layers.push_back({{"channels", config.classes}, {"kernel", 1}, {"dilation", 1}});
  return layers;
}

Json page_labels_json(const std::vector<Label>& labels) {
  Json json = Json::array();
  for (const auto& label : labels) {
    json.push_back({{"name", label.name}, {"colour", label.colour}});
  }
  return json;
}

}  // namespace

std::map<std::string, std::string> brainchop_sidecar_files(const MeshNetConfig& config,
                                                           const std::string& folder_name) {
  warn_of_conforming(config);
  warn_of_textures(config);
  const auto labels = all_labels(config.labels, config.classes);
  return {{"colormap.json", colormap_json(labels).dump(1)},
          {"labels.json", labels_json(labels).dump(1)},
          {"brainchop.json", brainchop_entry(config, folder_name).dump(1)}};
}

std::map<std::string, std::string> web_sidecar_files(const MeshNetConfig& config) {
  const auto whole = to_json(config);
  const Json json = {{"format", "ubique.web-model"},
                     {"version", 1},
                     {"family", "meshnet"},
                     {"name", config.name()},
                     {"parameters", parameter_count(config)},
                     {"in_channels", config.in_channels},
                     {"classes", config.classes},
                     {"activation", whole["activation"]},
                     {"norm", config.norm == Norm::Instance ? "instance" : "none"},
                     {"layers", layers_json(config)},
                     {"receptive_field", config.receptive_field()},
                     {"preprocessing", whole["preprocessing"]},
                     {"labels", page_labels_json(all_labels(config.labels, config.classes))}};
  return {{"ubique.json", json.dump(1)}};
}

}  // namespace ubique::meshnet
