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

#include "ubique/io/tensors/host_tensor.h"
#include "ubique/kernels/conv/activation.h"

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

/// Each sample to 0..1. Its range is added to `epsilon`; if that is 0, a sample that is flat gives
/// 0.
struct GraphMinMax {
  double epsilon = 0;
};

/// Linear between the samples, corners on corners.
struct GraphResize {
  std::vector<std::int64_t> extents;  ///< of all axes after the channels
};

/// Extents times 2, linear between the samples, beyond the edge is the edge. Asymmetric: output 2i
/// lies on input i; half-pixel: as if samples were the middles of equal pieces.
struct GraphUpsample {
  enum class Mode { Asymmetric, HalfPixel };
  Mode mode = Mode::Asymmetric;
};

/// Of windows of `window` along each axis. `after`: so many places beyond the last one of each axis
/// belong to windows too, and never win.
struct GraphMaxPool {
  std::int64_t window = 2, stride = 2, after = 0;
};

/// A constant of each channel taken away.
struct GraphSubtract {
  std::vector<double> values;
};

struct GraphConcat {};      ///< of all inputs, along the channels
struct GraphGlobalMean {};  ///< over all positions of a sample and channel; extents become 1
struct GraphSpread {};      ///< the first input, of extents 1, repeated to the second's extents

using GraphOp =
    std::variant<GraphConv, GraphBatchNorm, GraphInstanceNorm, GraphActivation, GraphSoftmax,
                 GraphArgmax, GraphMinMax, GraphResize, GraphUpsample, GraphMaxPool, GraphSubtract,
                 GraphConcat, GraphGlobalMean, GraphSpread>;

struct GraphStep {
  std::string name;  ///< what it computes is called the same
  GraphOp op;
  std::vector<std::string> inputs;  ///< steps before it, or the graph's input; one for most
};

/// Axes of an input that are known only when it is there have a name instead of a number.
using GraphExtent = std::variant<std::int64_t, std::string>;

struct Graph {
  std::string name;
  std::string input = "input";
  std::vector<GraphExtent> input_shape;     ///< (B, C, ...)
  std::vector<std::int64_t> usual_extents;  ///< of all axes after the channels, open ones too
  std::vector<GraphStep> steps;             ///< each after its inputs; the last gives the output
  std::map<std::string, std::string> notes;
};

/// The page in which a browser runs such models.
struct GraphPage {
  std::string name;                  ///< "segment"; empty: there is none
  std::vector<std::string> formats;  ///< that it wants them in: "onnx", "tfjs"
};

/// A graph with what the model itself makes of an input, so that what is exported can be checked.
struct GraphExport {
  Graph graph;
  io::HostTensor input, output;
  std::map<std::string, std::string> companions;  ///< files that go beside it: name, content
  GraphPage page = {};
};

}  // namespace ubique::engine
