// SPDX-License-Identifier: Apache-2.0
// Builds the operator graph, its options, and the sample that an export is checked with.
#include "ubique/models/msinet/files/graph.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "ubique/base/text/names.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/engine/checkpoint/tensor_bytes.h"
#include "ubique/models/msinet/files/import_keras.h"

namespace ubique::msinet {
namespace {

constexpr NameTable<bool, 2> kHeads{{{true, "map"}, {false, "raw"}}};
constexpr double kGraphRangeEpsilon = 1e-7;

/// Appends steps; the input of a step is the previous one unless given.
class GraphBuilder {
 public:
  GraphBuilder(const MsiNetFile& file, engine::Graph& graph)
      : file_(file), graph_(graph), last_(graph.input) {}

  void add(const std::string& name, engine::GraphOp op, std::vector<std::string> inputs = {}) {
    if (inputs.empty()) inputs = {last_};
    graph_.steps.push_back({name, std::move(op), std::move(inputs)});
    last_ = name;
  }

  void add_conv(const LayerSpec& layer, bool relu, const std::string& input = {}) {
    const auto name = layer.scope("_"), own = layer.scope(".");
    engine::GraphConv conv{tensor(own + ".weight"), tensor(own + ".bias"), layer.dilation};
    add(name, std::move(conv), input.empty() ? std::vector<std::string>() : std::vector{input});
    if (relu) add(name + "_relu", engine::GraphActivation{kernels::Activation::Relu});
  }

  const std::string& last() const { return last_; }

 private:
  io::HostTensor tensor(const std::string& name) const {
    const auto value = engine::find_tensor(file_.tensors, name);
    check(value.defined(), ErrorKind::Internal, "[msinet.graph] no tensor '{}'.", name);
    return engine::host_tensor_of(name, value.to(at::kFloat));
  }

  const MsiNetFile& file_;
  engine::Graph& graph_;
  std::string last_;
};

using LayerList = std::vector<LayerSpec>;

LayerList group_of(const LayerList& layers, const std::string& group) {
  LayerList found;
  for (const auto& layer : layers) {
    if (layer.group == group) found.push_back(layer);
  }
  return found;
}

void add_encoder(GraphBuilder& graph, const MsiNetConfig& config, const LayerList& layers) {
  std::vector<std::string> outputs;
  for (std::size_t s = 0; s < config.encoder.size(); ++s) {
    for (const auto& layer : group_of(layers, fmt::format("conv{}", s + 1))) {
      graph.add_conv(layer, true);
    }
    const auto stride = config.encoder[s].stride;
    graph.add(fmt::format("pool{}", s + 1), engine::GraphMaxPool{2, stride, stride == 1 ? 1 : 0});
    if (s >= config.first_tap()) outputs.push_back(graph.last());
  }
  graph.add("encoder", engine::GraphConcat{}, outputs);
}

void add_aspp(GraphBuilder& graph, const LayerList& layers) {
  const auto encoder = graph.last();
  std::vector<std::string> branches;
  for (const auto& layer : layers) {
    if (layer.name == "conv2") continue;
    const bool global = layer.divisor == 0;
    if (global) graph.add("aspp_mean", engine::GraphGlobalMean{}, {encoder});
    graph.add_conv(layer, true, global ? graph.last() : encoder);
    if (global) graph.add("aspp_spread", engine::GraphSpread{}, {graph.last(), encoder});
    branches.push_back(graph.last());
  }
  graph.add("aspp", engine::GraphConcat{}, branches);
  graph.add_conv(layers.back(), true);
}

void add_decoder(GraphBuilder& graph, const MsiNetConfig& config, const LayerList& layers) {
  using Mode = engine::GraphUpsample::Mode;
  const auto mode = config.upsample == Upsample::Legacy ? Mode::Asymmetric : Mode::HalfPixel;
  for (std::size_t i = 0; i + 1 < layers.size(); ++i) {
    graph.add(fmt::format("up{}", i + 1), engine::GraphUpsample{mode});
    graph.add_conv(layers[i], true);
  }
  graph.add_conv(layers.back(), false);
}

/// Blobs of colour with some noise, 0 to 255. On one axis larger than the largest receptive field
/// of a kernel, so that both edges and interior are tested.  (1, 3, H, W)
at::Tensor sample_picture(std::int64_t side) {
  const auto uniform = [](at::IntArrayRef shape, std::uint64_t seed) {
    auto tensor = at::empty(shape, at::kFloat);
    Random(seed).fill_uniform(
        {tensor.mutable_data_ptr<float>(), static_cast<std::size_t>(tensor.numel())});
    return tensor;
  };
  const auto blobs = at::upsample_bilinear2d(uniform({1, 3, 5, 7}, 21), {5 * side, 29 * side},
                                             /*align_corners=*/true);
  return (blobs * 0.9 + uniform(blobs.sizes(), 22) * 0.1) * 255;
}

/// The contents of msinet.json, for programs that run the exported network.
std::string description_of(const MsiNetConfig& config, const GraphOptions& options) {
  auto json = json_document("msinet", 1);
  json["input"] = {{"channels", "RGB"},
                   {"range", {0, 255}},
                   {"means", "are subtracted inside"},
                   {"sides", fmt::format("multiples of {}", config.reduction())},
                   {"usual", config.size},
                   {"pad", config.preprocessing.pad}};
  json["output"] = options.range ? "a map of the same size, 0 to 1"
                                 : "y of the same size; the map is (y - min y) / (1e-7 + max y - "
                                   "min y), over one picture";
  json["config"] = to_json(config);
  return json.dump(1);
}

}  // namespace

std::vector<engine::Option> graph_options() {
  return {{"--head", "head", "NAME",
           "what comes out: map (0..1), or raw as the last layer has it (tfjs: raw)"}};
}

GraphOptions read_graph_options(const Config& config, const std::string& format) {
  GraphOptions options;
  const bool layers = format == "tfjs";
  const auto head = config.get<std::string>("head", layers ? "raw" : "map");
  options.range = parse_name(kHeads, "msinet.graph", "output", head);
  check(!layers || !options.range, ErrorKind::Usage,
        "[msinet.graph] layers of TensorFlow.js cannot bring maps to 0..1; got --head map, "
        "expected --head raw. msinet.json says how to do it afterwards.");
  return options;
}

engine::Graph graph_of(const MsiNetFile& file, const GraphOptions& options) {
  const auto& config = file.config;
  const auto layers = layers_of(config);
  engine::Graph graph;
  graph.name = config.name();
  graph.input_shape = {std::string("batch"), std::int64_t{3}, std::string("height"),
                       std::string("width")};
  graph.usual_extents.assign(config.size.begin(), config.size.end());
  graph.notes = {{kConfigKey, to_json(config).dump()}};
  GraphBuilder builder(file, graph);
  const auto& means = config.preprocessing.means;
  builder.add("pixels", engine::GraphSubtract{{means.begin(), means.end()}});
  add_encoder(builder, config, layers);
  add_aspp(builder, group_of(layers, "aspp"));
  add_decoder(builder, config, group_of(layers, "decoder"));
  if (options.range) builder.add("map", engine::GraphMinMax{kGraphRangeEpsilon});
  return graph;
}

engine::GraphExport graph_export(MsiNetModel& model, const GraphOptions& options) {
  const at::NoGradGuard no_gradients;
  const auto image = sample_picture(model.settings().reduction());
  const auto taps = model.msinet().forward_taps(image.to(model.device()));
  return {graph_of(model.file(), options), engine::host_tensor_of("input", image),
          engine::host_tensor_of("output", options.range ? taps.map : taps.decoder),
          [text = description_of(model.settings(), options)](const std::string&) {
            return std::map<std::string, std::string>{{"msinet.json", text}};
          }};
}

}  // namespace ubique::msinet
