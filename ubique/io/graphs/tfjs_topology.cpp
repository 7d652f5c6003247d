// SPDX-License-Identifier: Apache-2.0
// Parses modelTopology in the forms of Python and JavaScript.
#include "ubique/io/graphs/tfjs_topology.h"

#include <set>
#include <utility>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"
#include "ubique/io/graphs/tfjs_weights.h"

namespace ubique::io {
namespace {

void refuse_graph_model(const Json& document, const std::string& file) {
  check(document.is_object(), ErrorKind::Input,
        "[io.tfjs] {} is not a TensorFlow.js model; got {}, expected an object.", file,
        document.type_name());
  const auto topology = document.find("modelTopology");
  const bool nodes =
      topology != document.end() && topology->is_object() && topology->contains("node");
  const auto format =
      document.value("format", Json("layers-model"));  // the first versions had none
  check(format != "graph-model" && !nodes, ErrorKind::Input,
        "[io.tfjs] {} is a graph model, which BrainChop cannot load either; expected a layers "
        "model. Export the network as a layers model, or convert the Keras file with "
        "tensorflowjs_converter --input_format=keras --output_format=tfjs_layers_model.",
        file);
  check(format == "layers-model", ErrorKind::Input,
        "[io.tfjs] {} is not a TensorFlow.js model; got {} as its format, expected layers-model.",
        file, printable(format.dump(-1, ' ', true), 40));
}

/// inbound_nodes is [[[layer, node, tensor, {}], ...]]: one call with its inputs, or none.
std::vector<std::string> layer_inputs(const Json& layer, const std::string& where) {
  std::vector<std::string> inputs;
  const auto& calls = tfjs_list(layer, "inbound_nodes", where);
  check(calls.size() <= 1, ErrorKind::Input,
        "[io.tfjs] {} is used {} times; expected layers that are used once.", where, calls.size());
  if (calls.empty()) return inputs;
  const auto odd = [&] {
    fail(ErrorKind::Input,
         "[io.tfjs] {} has inbound_nodes that are not written as Keras 2 does; expected "
         "[[[name, 0, 0, {{}}]]].",
         where);
  };
  if (!calls.front().is_array()) odd();
  for (const auto& input : calls.front()) {
    if (!input.is_array() || input.empty() || !input.front().is_string()) odd();
    inputs.push_back(input.front().get<std::string>());
  }
  return inputs;
}

TfjsLayer read_layer(const Json& json, const std::string& where) {
  TfjsLayer layer;
  layer.class_name = tfjs_text(json, "class_name", where);
  layer.config = tfjs_member(json, "config", Json::value_t::object, where);
  layer.name = tfjs_text(json.contains("name") ? json : layer.config, "name", where);
  return layer;
}

}  // namespace

std::vector<TfjsLayer> tfjs_layers(const Json& document, const std::string& file) {
  refuse_graph_model(document, file);
  const auto& topology = tfjs_member(document, "modelTopology", Json::value_t::object, file);
  // Python's converter puts the model one level deeper than JavaScript's own save() does.
  const auto& model = topology.contains("model_config") ? topology["model_config"] : topology;
  const bool sequential = tfjs_text(model, "class_name", file) == "Sequential";
  const auto config = model.find("config");
  const bool bare = config != model.end() && config->is_array();
  const auto& list =
      bare ? *config
           : tfjs_list(tfjs_member(model, "config", Json::value_t::object, file), "layers", file);
  std::vector<TfjsLayer> layers;
  std::set<std::string> names;
  for (const auto& json : list) {
    const auto where = fmt::format("{}: layer {}", file, layers.size());
    auto layer = read_layer(json, where);
    const auto named = fmt::format("{}: layer '{}'", file, printable(layer.name));
    if (!sequential) layer.inputs = layer_inputs(json, named);
    if (sequential && !layers.empty()) layer.inputs = {layers.back().name};
    for (const auto& input : layer.inputs) {
      check(names.contains(input), ErrorKind::Input,
            "[io.tfjs] {} takes '{}'; expected a layer that comes before it.", named,
            printable(input));
    }
    check(names.insert(layer.name).second, ErrorKind::Input,
          "[io.tfjs] {} is there twice; expected each name once.", named);
    layers.push_back(std::move(layer));
  }
  check(!layers.empty(), ErrorKind::Input, "[io.tfjs] {} has no layers.", file);
  return layers;
}

}  // namespace ubique::io
