// SPDX-License-Identifier: Apache-2.0
// The LoRA adapters of a network as a module of its own: what an adapter training optimizes and
// saves. The base network stays as it is.
#pragma once

#include <torch/nn/module.h>

#include <string>
#include <vector>

#include "ubique/nn/layers/network.h"

namespace ubique::nn {

struct LoraModuleOptions {
  std::int64_t rank = 16;
  double scale = 1;  ///< of each adapter's output; see lora_scale()
  double dropout = 0;
  std::vector<std::string> targets = {};  ///< layers to adapt, as match_layers() takes them
  std::string prefix = {};                ///< of the tensors' names
  bool attached = true;  ///< at once; else the network is as before until attach() or append()
};

inline constexpr const char* kAllLinear = "all-linear";

/// The layers that targets name, in their own order: by the whole name or its end after a dot
/// ("to_q", "to_out.0"), or kAllLinear. Input error for a target that no layer matches, with what
/// there is.
std::vector<std::string> match_layers(const std::vector<std::string>& layers,
                                      const std::vector<std::string>& targets);

/// alpha / rank, or alpha / √rank where adapters are rank-stabilized.
double lora_scale(std::int64_t rank, double alpha, bool rank_stabilized);

class LoraModule final : public torch::nn::Module {
 public:
  /// Zero adapters "LAYER.lora_A.weight" (rank, in) and "LAYER.lora_B.weight" (out, rank), after
  /// the prefix, on the device of each layer's weight; the network must outlive this and is frozen.
  /// Input error for a target that no layer matches.
  LoraModule(Network& network, LoraModuleOptions options);

  /// A from `random`, Kaiming-uniform, B zero.
  void initialize(const Random& random);
  /// Attaches the present tensors with scale·weight; called again after they were moved.
  void attach(double weight = 1);
  /// The same beside adapters that are attached already: their outputs are summed.
  void append(double weight = 1);
  void detach();
  /// Adds weight·scale·B·A to the weights of the layers, for good.
  void merge(double weight = 1);

  const LoraModuleOptions& options() const { return options_; }
  const std::vector<std::string>& layers() const { return layers_; }  ///< names

 private:
  struct Adapted {
    LinearWeights* layer;
    Lora lora;
  };
  std::vector<Adapted> adapted(double weight) const;
  std::string name_of(const std::string& layer, const char* part) const;

  Network& network_;
  LoraModuleOptions options_;
  std::vector<std::string> layers_;
};

}  // namespace ubique::nn
