// SPDX-License-Identifier: Apache-2.0
// Models from a checkpoint's header, and networks from a model folder, for training.
#include <fmt/ranges.h>

#include <map>

#include "ubique/base/error.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/printable.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/engine/checkpoint/tensor_bytes.h"
#include "ubique/io/tensors/safetensors_reader.h"
#include "ubique/models/acestep/files/open.h"
#include "ubique/models/acestep/files/weights.h"

namespace ubique::acestep {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHeader = "the checkpoint's header";

std::string text_in(const Json& config, const char* key) {
  const auto found = config.find(key);
  return found != config.end() && found->is_string() ? found->get<std::string>() : "";
}

bool is_set_in(const Json& config, const char* key) {
  const auto found = config.find(key);
  return found != config.end() && found->is_boolean() && found->get<bool>();
}

/// Why the shapes that are there are not those that are wanted: the first tensor.
std::string first_difference(const nn::NamedShapes& have, const nn::NamedShapes& want) {
  const std::map<std::string, std::vector<std::int64_t>> known(have.begin(), have.end());
  for (const auto& [name, shape] : want) {
    const auto found = known.find(name);
    if (found == known.end()) return fmt::format("it lacks {}", name);
    if (found->second != shape) {
      return fmt::format("{} has shape ({}), expected ({})", name, fmt::join(found->second, ", "),
                         fmt::join(shape, ", "));
    }
  }
  return "it has more tensors";
}

/// The model of an adapter's checkpoint: its base is read from where the header says.
std::unique_ptr<AcestepModel> build_adapted(const Json& config, const DitConfig& settings,
                                            const engine::NamedTensors& weights) {
  const auto base = text_in(config, "base");
  check(
      !base.empty() && looks_like_model_folder(base), ErrorKind::Input,
      "[acestep.open] the checkpoint holds an adapter alone, and the model that it was trained on "
      "is not in '{}'; expected that folder there.",
      printable(base));
  const auto options = parse_adapter_options(config.at("adapter"), kHeader);
  engine::check_shapes(weights, adapter_shapes(settings, options), kHeader);
  auto model = read_transformer(base, {.as_stored = true, .projectors = settings.projectors});
  const auto have = parameter_shapes(model->dit().config()), want = parameter_shapes(settings);
  check(have == want, ErrorKind::Input,
        "[acestep.open] the model in {} has another transformer than the adapter was trained on: "
        "{}. Expected the folder that it began with.",
        base, first_difference(have, want));
  model->add_adapter(options);
  return model;
}

/// Parameters of a transformer and a text encoder that were trained together.
nn::NamedShapes joined_shapes(const DitConfig& transformer, const Umt5Config& text) {
  auto shapes = parameter_shapes(transformer);
  for (auto [name, shape] : parameter_shapes(text)) {
    shapes.emplace_back(kTextPrefix + name, std::move(shape));
  }
  return shapes;
}

c10::ScalarType stored_dtype(const fs::path& weights) {
  const io::SafetensorsFile file(weights);
  if (file.tensors().empty()) return at::kFloat;
  const auto dtype = engine::scalar_type_of(file.tensors().front().dtype);
  return dtype == at::kHalf || dtype == at::kBFloat16 ? dtype : at::kFloat;
}

}  // namespace

std::unique_ptr<AcestepModel> build_model(const Json& config, const engine::NamedTensors& weights) {
  const auto found = config.find("model");
  check(found != config.end() && found->is_object(), ErrorKind::Input,
        "[acestep.open] {} has no model; expected the transformer's configuration.", kHeader);
  auto settings = parse_dit_config(*found, kHeader);
  settings.projectors = is_set_in(*found, "projectors");
  if (config.contains("adapter")) return build_adapted(config, settings, weights);
  settings.projectors = engine::find_tensor(weights, "projectors.0.0.weight").defined();
  const auto folder = fs::path(text_in(config, "base"));
  if (!config.contains("text")) {
    engine::check_shapes(weights, parameter_shapes(settings), kHeader);
    return std::make_unique<AcestepModel>(std::make_shared<Dit>(settings), folder);
  }
  const auto text = parse_umt5_config(config.at("text"), kHeader);
  engine::check_shapes(weights, joined_shapes(settings, text), kHeader);
  auto model = std::make_unique<AcestepModel>(std::make_shared<Dit>(settings), folder);
  model->set_text_encoder(std::make_shared<Umt5>(text), /*trained=*/true);
  return model;
}

std::unique_ptr<AcestepModel> read_transformer(const fs::path& path, const TransformerUse& use) {
  const auto folder = read_model_folder(path);
  auto config = folder.networks.transformer;
  config.projectors = config.projectors && use.projectors;
  const auto dtype = use.as_stored ? stored_dtype(folder.weights(Part::Transformer)) : at::kFloat;
  auto network = std::make_shared<Dit>(config, at::TensorOptions(dtype));
  read_weights(*network, folder.weights(Part::Transformer), names_of(unused_shapes(config)));
  auto model = std::make_unique<AcestepModel>(std::move(network), fs::absolute(path));
  model->set_origin(path);
  model->set_initialized();
  return model;
}

std::shared_ptr<Umt5> read_text_encoder(const ModelFolder& folder) {
  auto network = std::make_shared<Umt5>(folder.networks.text);
  read_weights(*network, folder.weights(Part::TextEncoder),
               names_of(unused_shapes(folder.networks, Part::TextEncoder)));
  return network;
}

}  // namespace ubique::acestep
