// SPDX-License-Identifier: Apache-2.0
// A network that describes its parameters once: one walk over them gives their names and shapes
// without allocating anything, creates them, and finds them again after they were moved.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ubique/nn/layers/linear.h"

namespace ubique::nn {

using NamedShapes = std::vector<std::pair<std::string, std::vector<std::int64_t>>>;
using NamedParameters = std::vector<std::pair<std::string, at::Tensor>>;
using LinearLayers = std::vector<std::pair<std::string, LinearWeights*>>;

/// Weight and bias of a norm or a convolution; an undefined bias is none.
struct WeightAndBias {
  at::Tensor weight, bias;
};

/// What a walk meets: each call names one parameter and the place where the network keeps it.
class ParameterWalk {
 public:
  ParameterWalk() = default;                         ///< only lists names and shapes
  explicit ParameterWalk(torch::nn::Module& found);  ///< also sets the places

  void tensor(const std::string& name, std::vector<std::int64_t> shape, at::Tensor& place);
  /// NAME.weight of that shape and NAME.bias with as many values as its first dimension.
  void weights(const std::string& name, std::vector<std::int64_t> shape, WeightAndBias& place,
               bool bias = true);
  /// NAME.weight (out, in) and NAME.bias (out). Adapters of the place are kept.
  void linear(const std::string& name, std::int64_t out, std::int64_t in, LinearWeights& place,
              bool bias = true);

  /// A convolution of one position: NAME.weight (out, in, 1). No adapters.
  void pointwise(const std::string& name, std::int64_t out, std::int64_t in, LinearWeights& place,
                 bool bias = true);

  const NamedShapes& shapes() const { return shapes_; }
  const LinearLayers& linear_layers() const { return linear_layers_; }

 private:
  NamedShapes shapes_;
  LinearLayers linear_layers_;
  std::map<std::string, at::Tensor> found_;
};

std::int64_t count_values(const NamedShapes& shapes);

/// While it lives, networks made on this thread have parameters of the right shapes without memory
/// of their own: for a loader, which gives each its tensor (set_data) instead of filling zeros.
class WithoutMemory {
 public:
  WithoutMemory();
  ~WithoutMemory();
  WithoutMemory(const WithoutMemory&) = delete;
  WithoutMemory& operator=(const WithoutMemory&) = delete;
};

class Network : public torch::nn::Module {
 public:
  /// Reads the parameters again after they were moved or cast.
  void refresh();
  /// Every linear layer by its name without ".weight", for adapters.
  const LinearLayers& linear_layers() const { return linear_layers_; }
  /// The parameters below PREFIX0., PREFIX1., ... in so many lists, without those whose names
  /// contain one of `except`.
  std::vector<NamedParameters> blocks(const std::string& prefix, std::int64_t count,
                                      const std::vector<std::string>& except = {});

 protected:
  /// Calls the walk for every parameter, always in the same order.
  virtual void visit(ParameterWalk& walk) = 0;
  /// Creates the parameters, zero; for the constructor of a final class.
  void create(const at::TensorOptions& options);

 private:
  LinearLayers linear_layers_;
};

}  // namespace ubique::nn
