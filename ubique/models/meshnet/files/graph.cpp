// SPDX-License-Identifier: Apache-2.0
// Builds the graph step by step, and its sample input and output.
#include "ubique/models/meshnet/files/graph.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>

#include "ubique/base/text/json.h"
#include "ubique/base/text/names.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/models/meshnet/files/axes.h"
#include "ubique/models/meshnet/files/check_volume.h"
#include "ubique/models/meshnet/files/export.h"
#include "ubique/models/meshnet/files/import_layers.h"

namespace ubique::meshnet {
namespace {

/// Adds steps to a graph; the input of each is the step before it.
class ChainBuilder {
 public:
  ChainBuilder(const MeshNetFile& file, engine::Graph& graph)
      : file_(file), graph_(graph), last_(graph.input) {}

  void add(const std::string& name, engine::GraphOp op) {
    graph_.steps.push_back({name, std::move(op), {last_}});
    last_ = name;
  }

  void add_conv(const std::string& name, const std::string& prefix, std::int64_t dilation,
                bool bias) {
    engine::GraphConv conv{tensor(prefix + ".weight"), std::nullopt, dilation};
    if (bias) conv.bias = tensor(prefix + ".bias");
    add(name, std::move(conv));
  }

  void add_norm(const std::string& name, const std::string& prefix) {
    if (file_.config.norm == Norm::Instance) {
      add(name, engine::GraphInstanceNorm{file_.config.channels, kNormEpsilon});
    } else if (file_.config.norm == Norm::Batch) {
      add(name, engine::GraphBatchNorm{tensor(prefix + ".weight"), tensor(prefix + ".bias"),
                                       tensor(prefix + ".running_mean"),
                                       tensor(prefix + ".running_var"), kNormEpsilon});
    }
  }

 private:
  io::HostTensor tensor(const std::string& name) const {
    for (const auto& [found, value] : file_.tensors) {
      if (found == name) return host_tensor_of(name, value.to(at::kFloat));
    }
    fail(ErrorKind::Internal, "[meshnet.graph] no tensor '{}'.", name);
  }

  const MeshNetFile& file_;
  engine::Graph& graph_;
  std::string last_;
};

constexpr NameTable<GraphHead, 3> kHeads{{
    {GraphHead::Logits, "logits"},
    {GraphHead::Probabilities, "probabilities"},
    {GraphHead::Labels, "labels"},
}};
constexpr NameTable<bool, 2> kAxes{{{false, "own"}, {true, "brainchop"}}};

/// The network's output with the graph's options applied to input and output.
at::Tensor expected_output(MeshNetModel& model, at::Tensor image, const GraphOptions& options) {
  const at::NoGradGuard no_gradients;
  if (!options.resize.empty()) {
    image = at::upsample_trilinear3d(image, options.resize, /*align_corners=*/true);
  }
  if (options.min_max) {
    const auto low = image.amin({1, 2, 3, 4}, true), high = image.amax({1, 2, 3, 4}, true);
    image = (image - low) / (high - low);
  }
  model.network().eval();
  const auto logits = model.meshnet().forward(image);
  if (options.head == GraphHead::Probabilities) return at::softmax(logits, 1);
  return options.head == GraphHead::Labels ? logits.argmax(1) : logits;
}

/// Which no operator holds.
Json batch_counts(const MeshNetFile& file) {
  auto counts = Json::array();
  for (std::size_t i = 0; i < file.config.layers(); ++i) {
    const auto count =
        engine::find_tensor(file.tensors, fmt::format("network.{}.bn.num_batches_tracked", i));
    counts.push_back(count.defined() ? count.item<std::int64_t>() : 0);
  }
  return counts;
}

void add_head(ChainBuilder& chain, GraphHead head) {
  if (head == GraphHead::Probabilities) chain.add("probabilities", engine::GraphSoftmax{});
  if (head == GraphHead::Labels) chain.add("labels", engine::GraphArgmax{});
}

}  // namespace

engine::Graph graph_of(const MeshNetFile& given, const GraphOptions& options) {
  auto file = options.fold ? fold_batch_norm(given) : given;
  if (options.browser_axes) file = turn_kernels(file, to_browser_axes);
  const auto& config = file.config;
  engine::Graph graph;
  graph.name = config.name();
  graph.input_shape = {std::string("batch"), config.in_channels, std::string("depth"),
                       std::string("height"), std::string("width")};
  graph.usual_extents.assign(config.preprocessing.shape.begin(), config.preprocessing.shape.end());
  graph.notes = {{kConfigKey, to_json(config).dump()}};
  if (options.browser_axes) graph.notes[kAxesKey] = kBrowserAxes;
  if (config.norm == Norm::Batch) graph.notes[kBatchesKey] = batch_counts(file).dump();
  ChainBuilder chain(file, graph);
  if (!options.resize.empty()) chain.add("resized", engine::GraphResize{options.resize});
  if (options.min_max) chain.add("intensity", engine::GraphMinMax{});
  for (std::size_t i = 0; i < config.layers(); ++i) {
    chain.add_conv(fmt::format("conv_{}", i), fmt::format("network.{}.conv", i),
                   config.dilations[i], config.bias);
    chain.add_norm(fmt::format("norm_{}", i), fmt::format("network.{}.bn", i));
    chain.add(fmt::format("activation_{}", i), engine::GraphActivation{config.activation});
  }
  chain.add_conv("classifier", fmt::format("network.{}", config.layers()), 1, true);
  add_head(chain, options.head);
  return graph;
}

std::vector<engine::Option> graph_options() {
  return {
      {"--fold,!--no-fold", "fold", "", "batch norms into the convolutions (on)"},
      {"--head", "head", "NAME", "what comes out: logits, probabilities or labels"},
      {"--min-max", "min_max", "", "intensities to 0..1 inside the graph"},
      {"--resize", "resize", "D,H,W", "volumes to this size inside the graph, before the rest"},
      {"--axes", "axes", "NAME", "own, or brainchop: kernels turned for its axes (tfjs)"},
  };
}

GraphOptions read_graph_options(const Config& config, const std::string& format,
                                const MeshNetConfig& network) {
  GraphOptions options;
  options.fold = config.get("fold", true);
  options.head =
      parse_name(kHeads, "meshnet.graph", "output", config.get<std::string>("head", "logits"));
  options.min_max = config.get("min_max", false);
  options.resize = config.get("resize", std::vector<std::int64_t>{});
  check(options.resize.empty() ||
            (options.resize.size() == 3 &&
             *std::min_element(options.resize.begin(), options.resize.end()) > 0),
        ErrorKind::Usage, "[meshnet.graph] --resize takes three extents, such as 256,256,256.");
  const bool turned = format == "tfjs" && !trained_in_browser_axes(network);
  const auto axes = config.get<std::string>("axes", turned ? "brainchop" : "own");
  options.browser_axes = parse_name(kAxes, "meshnet.graph", "axes", axes);
  check(
      !options.browser_axes || !trained_in_browser_axes(network), ErrorKind::Usage,
      "[meshnet.graph] the network was trained in BrainChop's axes already; expected --axes own.");
  return options;
}

engine::GraphExport graph_export(MeshNetModel& model, const GraphOptions& options) {
  const auto& settings = model.settings();
  const double unit = options.min_max ? 1000 : 1;
  auto image = unit * check_volume(settings, [&](const at::Tensor& volume) {
                 return expected_output(model, volume * unit,
                                        {.head = GraphHead::Labels, .min_max = options.min_max});
               });
  auto output = expected_output(model, image, options);
  if (options.browser_axes) {
    image = to_browser_axes(image);
    output = to_browser_axes(output);
  }
  engine::GraphExport exported{graph_of(model.file(), options), host_tensor_of("input", image),
                               host_tensor_of("output", output)};
  for (const auto& label : all_labels(settings.labels, settings.classes)) {
    exported.classes.push_back(label.name);
  }
  return exported;
}

}  // namespace ubique::meshnet
