// SPDX-License-Identifier: Apache-2.0
// A neutral operator graph of a trained model: a family emits it, export/ lowers it to ONNX or
// TensorFlow.js. Plain data with the weights inside; no torch.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ubique/engine/contract/graph_language.h"
#include "ubique/io/tensors/host_tensor.h"
#include "ubique/kernels/conv/activation.h"

namespace ubique::engine {

/// Stride 1, zero padding that keeps the size. Weight (O, I, k...), bias (O).
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

/// Normalises over the positions of each sample and channel; no weights.
struct GraphInstanceNorm {
  std::int64_t channels = 1;
  double epsilon = 1e-5;
};

struct GraphActivation {
  kernels::Activation kind = kernels::Activation::Relu;
};

struct GraphSoftmax {};  ///< over channels
struct GraphArgmax {};   ///< over channels, whose axis is removed; i64

/// (x - min) / (max - min + epsilon) of each sample. With epsilon 0 a constant sample gives 0.
struct GraphMinMax {
  double epsilon = 0;
};

/// Linear interpolation with aligned corners.
struct GraphResize {
  std::vector<std::int64_t> extents;  ///< of all axes after the channels
};

/// Doubles the extents by linear interpolation, edges replicated. Asymmetric: output 2i is input i;
/// HalfPixel: sample centres at half-integer coordinates.
struct GraphUpsample {
  enum class Mode { Asymmetric, HalfPixel };
  Mode mode = Mode::Asymmetric;
};

/// `after`: -inf padding at the end of each axis.
struct GraphMaxPool {
  std::int64_t window = 2, stride = 2, after = 0;
};

/// Subtracts one constant per channel.
struct GraphSubtract {
  std::vector<double> values;
};

struct GraphConcat {};      ///< of all inputs, along the channels
struct GraphGlobalMean {};  ///< over all positions of a sample and channel; extents become 1
struct GraphSpread {};      ///< broadcasts the first input (extents 1) to the second's extents

using GraphOp =
    std::variant<GraphConv, GraphBatchNorm, GraphInstanceNorm, GraphActivation, GraphSoftmax,
                 GraphArgmax, GraphMinMax, GraphResize, GraphUpsample, GraphMaxPool, GraphSubtract,
                 GraphConcat, GraphGlobalMean, GraphSpread, GraphGather, GraphLinear,
                 GraphTiedLinear, GraphLayerNorm, GraphRmsNorm, GraphSilu, GraphAdd, GraphMultiply,
                 GraphHeads, GraphAngles, GraphRotate, GraphAppend, GraphCausalMask,
                 GraphAttention>;

struct GraphStep {
  std::string name;  ///< also the name of its output
  GraphOp op;
  std::vector<std::string> inputs;  ///< earlier steps, or the graph's input; most have one
};

/// A dynamic axis has a name instead of a number.
using GraphExtent = std::variant<std::int64_t, std::string>;

/// F32 (f16 where the whole graph is), or I64.
struct GraphInput {
  std::string name;
  DType dtype = DType::F32;
  std::vector<GraphExtent> shape;
};

struct GraphOutput {
  std::string name, step;  ///< what it is called outside, and the step that gives it
  std::vector<GraphExtent> shape;
};

struct Graph {
  std::string name;
  std::string input = "input";
  std::vector<GraphExtent> input_shape;  ///< (B, C, ...)
  std::vector<std::int64_t>
      usual_extents;             ///< of all axes after the channels, dynamic ones included
  std::vector<GraphStep> steps;  ///< in topological order; the last gives the output
  std::map<std::string, std::string> notes;
  /// Of a graph that has several; `input` and what belongs to it are not used then.
  std::vector<GraphInput> inputs = {};
  std::vector<GraphOutput> outputs = {};
};

/// The page in which a browser runs such models.
struct GraphPage {
  std::string name;                  ///< "segment"; empty: there is none
  std::vector<std::string> formats;  ///< that it loads: "onnx", "tfjs"
};

/// Names and contents of files for the folder of this name; empty: there are none.
using SidecarFiles =
    std::function<std::map<std::string, std::string>(const std::string& folder_name)>;

/// A graph with an input and the model's output for it, so that the exported file can be checked.
struct GraphExport {
  Graph graph;
  io::HostTensor input, output;
  SidecarFiles sidecar_files = {};  ///< written beside it
  GraphPage page = {};
  std::vector<std::string> classes = {};  ///< names of what the output's channels or labels mean
  /// Of a graph that has several, by their names; `input` and `output` are not used then.
  std::vector<io::HostTensor> inputs = {}, outputs = {};
};

}  // namespace ubique::engine
