// SPDX-License-Identifier: Apache-2.0
// The table of shipped networks, and the JSON files and metadata that describe a network.
#include "ubique/models/meshnet/files/import_recipe.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/models/meshnet/files/axes.h"
#include "ubique/models/meshnet/files/export.h"

namespace ubique::meshnet {
namespace {

namespace fs = std::filesystem;

/// Networks that BrainChop ships; channels and classes together identify one.
struct ShippedNetwork {
  std::int64_t channels, classes;
  std::vector<std::int64_t> dilations;
  Activation activation;
  bool quantiles;
};

const std::vector<std::int64_t> kSymmetric = {1, 2, 4, 8, 16, 8, 4, 2, 1};
constexpr std::int64_t kMostJson = 16 << 20;

const std::vector<ShippedNetwork>& shipped_networks() {
  static const std::vector<ShippedNetwork> list = {
      {5, 3, kSymmetric, Activation::Relu, false},                   // model5_gw_ae
      {11, 3, {1, 2, 4, 8, 4, 2, 2, 1}, Activation::Relu, false},    // model11_gw_ae
      {20, 3, kSymmetric, Activation::Elu, true},                    // model20chan3cls
      {21, 18, kSymmetric, Activation::Elu, false},                  // model18cls
      {30, 18, kSymmetric, Activation::Elu, false},                  // model30chan18cls
      {30, 50, kSymmetric, Activation::Elu, true},                   // model30chan50cls
      {21, 104, {1, 2, 2, 4, 4, 8, 8, 16}, Activation::Relu, false}  // model21_104class
  };
  return list;
}

const ShippedNetwork* find_shipped(const MeshNetConfig& config) {
  const auto& list = shipped_networks();
  const auto found = std::find_if(list.begin(), list.end(), [&](const ShippedNetwork& network) {
    return network.channels == config.channels && network.classes == config.classes;
  });
  return found == list.end() ? nullptr : &*found;
}

std::vector<std::int64_t> mindgrab_dilations() {
  std::vector<std::int64_t> dilations;
  for (int round = 0; round < 5; ++round) {
    for (const std::int64_t dilation : {16, 8, 4, 2, 1}) dilations.push_back(dilation);
  }
  return dilations;
}

/// Nine layers: arc-meshchop or BrainChop; seven: the first MeshNet paper; 25: mindgrab.
std::vector<std::int64_t> usual_dilations(std::size_t layers, const std::string& naming) {
  if (layers == 9) return naming == "arc-meshchop" ? MeshNetConfig().dilations : kSymmetric;
  if (layers == 7) return {1, 1, 1, 2, 4, 8, 1};
  if (layers == 25) return mindgrab_dilations();
  return {};
}

bool flag_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_boolean() && found->get<bool>();
}

std::optional<Json> read_recipe_json(const fs::path& path) {
  if (!fs::is_regular_file(path)) return std::nullopt;
  auto json = parse_json(read_file(path, kMostJson), path.string());
  if (is_tfjs_document(json) || is_enmesh_document(json)) return json;
  return std::nullopt;
}

/// A dilation may be written 2 or [2, 2, 2].
std::int64_t one_dilation(const Json& value, const std::string& where) {
  const auto& number = value.is_array() && !value.empty() ? value.front() : value;
  const bool alike = !value.is_array() || std::all_of(value.begin(), value.end(),
                                                      [&](const Json& v) { return v == number; });
  check(number.is_number_integer() && alike, ErrorKind::Input,
        "[meshnet.import] {}: a dilation cannot be used; got {}, expected one whole number for all "
        "axes.",
        where, value.dump());
  return number.get<std::int64_t>();
}

}  // namespace

bool is_tfjs_document(const Json& json) {
  return json.is_object() && json.contains("modelTopology");
}

bool is_enmesh_document(const Json& json) {
  if (!json.is_object()) return false;
  const auto layers = json.find("layers");
  return layers != json.end() && layers->is_array() && !layers->empty() &&
         layers->front().is_object() && layers->front().contains("dilation");
}

LayerRecipe enmesh_recipe(const Json& json, Norm norm, const std::string& where) {
  LayerRecipe recipe;
  const auto& layers = json.at("layers");
  for (const auto& layer : layers) {
    check(layer.is_object() && layer.contains("dilation"), ErrorKind::Input,
          "[meshnet.import] {}: a layer has no dilation; got {}.", where, layer.dump());
    recipe.dilations.push_back(one_dilation(layer.at("dilation"), where));
  }
  recipe.dilations.pop_back();  // the classifier's
  recipe.activation = Activation::Relu;
  if (flag_of(json, "elu")) recipe.activation = Activation::Elu;
  if (flag_of(json, "gelu")) {
    recipe.activation = norm == Norm::Instance ? Activation::Gelu : Activation::Elu;
  }
  const auto dropout = json.find("dropout_p");
  if (dropout != json.end() && dropout->is_number()) recipe.dropout = dropout->get<double>();
  return recipe;
}

std::optional<Json> recipe_beside(const fs::path& weights) {
  for (const auto& name :
       {weights.stem().string() + ".json", std::string("model.json"), std::string("config.json")}) {
    if (auto json = read_recipe_json(weights.parent_path() / name)) return json;
  }
  return std::nullopt;
}

LayerRecipe known_recipe(const MeshNetConfig& config, const std::string& naming, std::size_t layers,
                         const std::string& file) {
  const auto* shipped = naming == "arc-meshchop" ? nullptr : find_shipped(config);
  if (shipped != nullptr && shipped->dilations.size() == layers) {
    return {shipped->dilations, shipped->activation, 0};
  }
  const auto dilations = usual_dilations(layers, naming);
  check(!dilations.empty(), ErrorKind::Input,
        "[meshnet.import] {}: the weights do not say their dilations, and nothing is known about a "
        "network of {} layers, {} channels and {} classes. Put its model.json or enMesh "
        "configuration beside the file.",
        file, layers, config.channels, config.classes);
  return {dilations, config.norm == Norm::Instance ? Activation::Gelu : Activation::Relu, 0};
}

Preprocessing brainchop_preprocessing(const MeshNetConfig& config) {
  Preprocessing how;
  how.conform = "brainchop";
  const auto* shipped = find_shipped(config);
  if (shipped != nullptr && shipped->quantiles) how.normalization = "quantile";
  return how;
}

namespace {

/// They change nothing that the network computes; a list of another length is passed over.
void adopt_batch_counts(MeshNetFile& file, const std::map<std::string, std::string>& metadata,
                        const std::string& where) {
  const auto found = metadata.find(kBatchesKey);
  if (found == metadata.end()) return;
  const auto counts = parse_json(found->second, where + " (its metadata)");
  if (!counts.is_array() || counts.size() != file.config.layers()) return;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto counter =
        engine::find_tensor(file.tensors, fmt::format("network.{}.bn.num_batches_tracked", i));
    if (counter.defined() && counts[i].is_number_integer()) {
      counter.fill_(counts[i].get<std::int64_t>());
    }
  }
}

}  // namespace

void adopt_metadata(MeshNetFile& file, const std::map<std::string, std::string>& metadata,
                    const std::string& where) {
  const auto found = metadata.find(kConfigKey);
  if (found == metadata.end()) return;
  auto config = from_json(parse_json(found->second, where + " (its metadata)"), where);
  const auto& own = file.config;
  check(
      config.channels == own.channels && config.classes == own.classes &&
          config.in_channels == own.in_channels && config.kernel == own.kernel &&
          config.dilations == own.dilations && config.activation == own.activation &&
          config.norm == own.norm,
      ErrorKind::Input,
      "[meshnet.import] {}: its metadata describe another network than its weights; got {} and {}. "
      "Was it changed after the export?",
      where, config.name(), own.name());
  config.bias = own.bias;
  file.config = std::move(config);
  adopt_batch_counts(file, metadata, where);
  const auto axes = metadata.find(kAxesKey);
  if (axes != metadata.end() && axes->second == kBrowserAxes) {
    file = turn_kernels(file, from_browser_axes);
  }
}

std::vector<Label> read_colormap(const fs::path& folder, std::int64_t classes) {
  const auto path = folder / "colormap.json";
  if (!fs::is_regular_file(path)) return {};
  const auto json = parse_json(read_file(path, kMostJson), path.string());
  std::vector<Label> labels;
  try {
    const auto names = json.at("labels").get<std::vector<std::string>>();
    if (!std::cmp_equal(names.size(), classes)) return {};  // another network's colour map
    constexpr std::array<const char*, 3> kAxes = {"R", "G", "B"};
    for (std::size_t i = 0; i < names.size(); ++i) {
      Label label{names[i], {}};
      for (std::size_t c = 0; c < 3; ++c) {
        label.colour[c] = json.at(kAxes[c]).at(i).get<std::uint8_t>();
      }
      labels.push_back(std::move(label));
    }
  } catch (const Json::exception&) {
    fail(ErrorKind::Input,
         "[meshnet.import] {} is no colour map; expected lists R, G, B and labels of one length.",
         path.string());
  }
  return labels;
}

}  // namespace ubique::meshnet
