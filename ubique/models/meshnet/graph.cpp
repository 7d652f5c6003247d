// SPDX-License-Identifier: Apache-2.0
#include "ubique/models/meshnet/graph.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "ubique/base/error.h"
#include "ubique/models/meshnet/export_names.h"
#include "ubique/models/meshnet/import_layers.h"

namespace ubique::meshnet {
namespace {

/// A chain of steps, each fed by the one before.
class ChainBuilder {
 public:
  ChainBuilder(const MeshNetFile& file, engine::Graph& graph)
      : file_(file), graph_(graph), last_(graph.input) {}

  void add(const std::string& name, engine::GraphOp op) {
    graph_.steps.push_back({name, std::move(op), last_});
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

void add_head(ChainBuilder& chain, GraphHead head) {
  if (head == GraphHead::Probabilities) chain.add("probabilities", engine::GraphSoftmax{});
  if (head == GraphHead::Labels) chain.add("labels", engine::GraphArgmax{});
}

}  // namespace

engine::Graph graph_of(const MeshNetFile& given, const GraphOptions& options) {
  const auto file = options.fold ? fold_batch_norm(given) : given;
  const auto& config = file.config;
  engine::Graph graph;
  graph.name = config.name();
  graph.input_shape = {std::string("batch"), config.in_channels, std::string("depth"),
                       std::string("height"), std::string("width")};
  graph.notes = {{kConfigKey, to_json(config).dump()}};
  ChainBuilder chain(file, graph);
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

}  // namespace ubique::meshnet
