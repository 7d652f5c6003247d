// SPDX-License-Identifier: Apache-2.0
// The training forward pass as one autograd node. A bias before a norm cancels out: it is left out
// of the convolution and added to the running mean, and its gradient is exactly zero.
#include "ubique/models/meshnet/net/layer_step.h"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/engine/ranks/pass_sums.h"
#include "ubique/engine/step/statistics_record.h"
#include "ubique/kernels/conv/convolve.h"
#include "ubique/kernels/dispatch/autograd.h"
#include "ubique/models/meshnet/net/layer_chain.h"
#include "ubique/models/meshnet/net/network.h"

namespace ubique::meshnet {
namespace {

using kernels::PlainTensors;

struct StepForm {
  at::ScalarType dtype;       // of the convolutions
  at::ScalarType norm_dtype;  // of norms and their statistics
  std::int64_t channels;      // with padding
  at::MemoryFormat layout;
};

StepForm form_of(const MeshNet& network, const at::Tensor& image) {
  const auto& options = network.training_options();
  const auto stored = network.classifier->weight.scalar_type();
  const auto device = image.device().type();
  const bool autocast = at::autocast::is_autocast_enabled(device) && stored == at::kFloat;
  const auto multiple = std::max<std::int64_t>(1, options.pad_channels_to);
  const auto channels = network.config().channels;
  return {autocast ? at::autocast::get_autocast_dtype(device) : stored,
          at::isReducedFloatingType(stored) ? at::kFloat : stored,
          (channels + multiple - 1) / multiple * multiple,
          options.channels_last ? at::MemoryFormat::ChannelsLast3d : at::MemoryFormat::Contiguous};
}

/// Pads the first dimension (and the second, for a weight) with zeros to these sizes.
at::Tensor padded(const at::Tensor& tensor, std::int64_t first, std::int64_t second) {
  const auto more = first - tensor.size(0);
  if (tensor.dim() == 1) return more == 0 ? tensor : at::constant_pad_nd(tensor, {0, more});
  const auto inner = second - tensor.size(1);
  if (more == 0 && inner == 0) return tensor;
  return at::constant_pad_nd(tensor, {0, 0, 0, 0, 0, 0, 0, inner, 0, more});
}

/// Channel dropout's factors, drawn once: recomputation in backward uses the same.
at::Tensor dropout_scale(const MeshNetConfig& config, const at::Tensor& image,
                         const StepForm& form) {
  if (config.dropout == 0) return {};
  const auto kept = 1 - config.dropout;
  auto scale = at::empty({image.size(0), config.channels}, image.options().dtype(form.norm_dtype));
  scale.bernoulli_(kept).div_(kept);
  return at::constant_pad_nd(scale, {0, form.channels - config.channels})
      .view({image.size(0), -1, 1, 1, 1});
}

kernels::NormAct norm_act_of(const MeshNet& network, const Block& block, const at::Tensor& image,
                             const StepForm& form) {
  const auto& config = network.config();
  kernels::NormAct after{config.norm, config.activation, kNormEpsilon, {}, {}, {}};
  const auto options = at::TensorOptions(image.device()).dtype(form.norm_dtype);
  if (config.norm == Norm::Batch) {
    after.weight = padded(block.bn->weight.detach().to(form.norm_dtype), form.channels, 0);
    after.bias = padded(block.bn->bias.detach().to(form.norm_dtype), form.channels, 0);
  } else if (config.norm == Norm::Instance) {
    after.weight = at::ones({form.channels}, options);
    after.bias = at::zeros({form.channels}, options);
  }
  after.scale = dropout_scale(config, image, form);
  return after;
}

std::vector<ChainLayer> prepared_layers(const MeshNet& network, const at::Tensor& image,
                                        const StepForm& form) {
  const auto& config = network.config();
  std::vector<ChainLayer> layers;
  for (std::size_t i = 0; i < config.layers(); ++i) {
    const auto& block = *network.blocks[i];
    const auto in = i == 0 ? config.in_channels : form.channels;
    ChainLayer layer;
    layer.weight = padded(block.conv->weight.detach(), form.channels, in)
                       .to(form.dtype)
                       .contiguous(form.layout);
    if (config.norm == Norm::None && config.bias) {
      layer.bias = padded(block.conv->bias.detach(), form.channels, 0).to(form.dtype);
    }
    layer.dilation = config.dilations[i];
    layer.after = norm_act_of(network, block, image, form);
    layers.push_back(std::move(layer));
  }
  const auto& last = *network.classifier;
  layers.push_back({padded(last.weight.detach(), config.classes, form.channels)
                        .to(form.dtype)
                        .contiguous(form.layout),
                    last.bias.detach().to(form.dtype),
                    1,
                    {}});
  return layers;
}

/// Statistics of several ranks change the running ones once, by the first rank of the round. The
/// others record a change by nothing.
void update_running_statistics(MeshNet& network, const Chain& chain) {
  const auto& config = network.config();
  if (config.norm != Norm::Batch) return;
  const auto values = static_cast<double>(chain.values()), unbiased = values / (values - 1);
  const auto* sums = network.training_options().sums;
  const bool changes = sums == nullptr || sums->is_first();
  const double share = changes ? kNormMomentum : 0;
  for (std::size_t i = 0; i < config.layers(); ++i) {
    auto& bn = *network.blocks[i]->bn;
    const auto& statistics = chain.statistics()[i];
    const auto dtype = bn.running_mean.scalar_type();
    auto mean = statistics.mean.narrow(0, 0, config.channels).to(dtype);
    if (config.bias) mean = mean + network.blocks[i]->conv->bias;
    engine::update_running(bn.running_mean, mean, share);
    const auto variance = statistics.variance(kNormEpsilon).narrow(0, 0, config.channels);
    engine::update_running(bn.running_var, variance.mul(unbiased).to(dtype), share);
    if (changes) engine::count_batch(bn.num_batches_tracked);
  }
}

/// The autograd inputs: the image, then the parameters in state-dict order.
std::vector<at::Tensor> chain_inputs(const MeshNet& network, const at::Tensor& image) {
  std::vector<at::Tensor> inputs = {image};
  for (const auto& parameter : network.parameters()) inputs.push_back(parameter);
  return inputs;
}

/// The gradient without padding, in its parameter's dtype and layout; zeros if undefined.
at::Tensor unpadded(const at::Tensor& gradient, const at::Tensor& parameter) {
  if (!gradient.defined()) return at::zeros_like(parameter);
  auto part = gradient.narrow(0, 0, parameter.size(0));
  if (parameter.dim() > 1) part = part.narrow(1, 0, parameter.size(1));
  return at::empty_like(parameter).copy_(part);
}

class ChainBackward final : public torch::autograd::Node {
 public:
  ChainBackward(Chain chain, std::vector<at::Tensor> parameters, bool with_norms, bool with_biases)
      : chain_(std::move(chain)),
        parameters_(std::move(parameters)),
        with_norms_(with_norms),
        with_biases_(with_biases) {}

  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    const PlainTensors plain;
    check(!chain_.spent(), ErrorKind::Internal, "[meshnet.backward] ran twice through one step.");
    const auto layers = chain_.backward(std::move(gradients[0]));
    torch::autograd::variable_list results = {chain_.image_gradient};
    const auto add = [&](const at::Tensor& gradient) {
      results.push_back(unpadded(gradient, parameters_[results.size() - 1]));
    };
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const bool last = i + 1 == layers.size();
      add(layers[i].weight);
      if (last || with_biases_) add(layers[i].bias);
      if (!last && with_norms_) {
        add(layers[i].norm_weight);
        add(layers[i].norm_bias);
      }
    }
    return results;
  }
  void release_variables() override { chain_.clear(); }

 private:
  Chain chain_;
  std::vector<at::Tensor> parameters_;  // detached: shapes and dtypes
  bool with_norms_, with_biases_;
};

bool any_wants_gradient(const std::vector<at::Tensor>& tensors) {
  return std::any_of(tensors.begin(), tensors.end(), kernels::wants_gradient);
}

}  // namespace

at::Tensor training_forward(MeshNet& network, const at::Tensor& image) {
  const auto values = image.size(0) * image.size(2) * image.size(3) * image.size(4);
  check(values > 1 || network.config().norm == Norm::None, ErrorKind::Input,
        "[meshnet.forward] a norm needs more than one voxel to train on; got {}, expected at least "
        "2.",
        values);
  const auto inputs = chain_inputs(network, image);
  const bool recorded = any_wants_gradient(inputs), for_image = kernels::wants_gradient(image);
  const auto form = form_of(network, image);
  at::Tensor logits;
  std::shared_ptr<ChainBackward> node;
  {
    const PlainTensors plain;
    const auto& options = network.training_options();
    Chain chain(prepared_layers(network, image, form), options.segments, options.sums);
    chain.wants_image_gradient = for_image;
    logits =
        chain.forward(kernels::in_layout(image.detach().to(form.dtype), form.layout), recorded);
    update_running_statistics(network, chain);
    if (recorded) {
      std::vector<at::Tensor> parameters;
      for (std::size_t i = 1; i < inputs.size(); ++i) parameters.push_back(inputs[i].detach());
      node = std::make_shared<ChainBackward>(std::move(chain), std::move(parameters),
                                             network.config().norm == Norm::Batch,
                                             network.config().bias);
    }
  }
  if (node) kernels::attach(logits, node, inputs);
  return logits;
}

}  // namespace ubique::meshnet
