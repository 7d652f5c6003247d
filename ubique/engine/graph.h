// SPDX-License-Identifier: Apache-2.0
// A trained model as operators that mean the same everywhere: what a family emits and export/
// lowers to ONNX or TensorFlow.js. Plain data with the weights inside; no torch.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ubique/io/host_tensor.h"
#include "ubique/kernels/layer_forms.h"

namespace ubique::engine {

/// Stride 1, zeros around it so that the size stays. Weight (O, I, k...), bias (O).
struct GraphConv {
  io::HostTensor weight;
  std::optional<io::HostTensor> bias;
  std::int64_t dilation = 1;
};

/// With running statistics; all (C).
struct GraphBatchNorm {
  io::HostTensor weight, bias, mean, variance;
  double epsilon = 1e-5;
};

/// Over each sample's and channel's own positions, without weights.
struct GraphInstanceNorm {
  std::int64_t channels = 1;
  double epsilon = 1e-5;
};

struct GraphActivation {
  kernels::Activation kind = kernels::Activation::Relu;
};

struct GraphSoftmax {};  ///< over channels
struct GraphArgmax {};   ///< over channels, which are gone afterwards; i64
struct GraphMinMax {};   ///< each sample to 0..1; one that is flat to 0

/// Linear between the samples, corners on corners.
struct GraphResize {
  std::vector<std::int64_t> extents;  ///< of all axes after the channels
};

using GraphOp = std::variant<GraphConv, GraphBatchNorm, GraphInstanceNorm, GraphActivation,
                             GraphSoftmax, GraphArgmax, GraphMinMax, GraphResize>;

struct GraphStep {
  std::string name;  ///< what it computes is called the same
  GraphOp op;
  std::string input;  ///< a step before it, or the graph's input
};

/// Axes of an input that are known only when it is there have a name instead of a number.
using GraphExtent = std::variant<std::int64_t, std::string>;

struct Graph {
  std::string name;
  std::string input = "input";
  std::vector<GraphExtent> input_shape;     ///< (B, C, ...)
  std::vector<std::int64_t> usual_extents;  ///< of all axes after the channels, open ones too
  std::vector<GraphStep> steps;             ///< each after its input; the last gives the output
  std::map<std::string, std::string> notes;
};

/// A graph with what the model itself makes of an input, so that what is exported can be checked.
struct GraphExport {
  Graph graph;
  io::HostTensor input, output;
  std::map<std::string, std::string> companions;  ///< files that go beside it: name, text
};

}  // namespace ubique::engine
