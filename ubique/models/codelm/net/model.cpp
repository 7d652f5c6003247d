// SPDX-License-Identifier: Apache-2.0
// One training step, with or without adapters.
#include "ubique/models/codelm/net/model.h"

#include <ATen/ATen.h>

#include "ubique/base/error.h"
#include "ubique/engine/step/autocast.h"
#include "ubique/kernels/decoder/packed_attention.h"
#include "ubique/models/codelm/net/init.h"
#include "ubique/models/codelm/net/layout.h"
#include "ubique/nn/layers/token_loss.h"
#include "ubique/probe/probes/operation.h"

namespace ubique::codelm {

Json CodelmModel::config() const {
  Json json = {{"model", config_json(network_->config())}};
  if (adapters_) {
    json["adapter"] = to_json(adapter_options_);
    json["base"] = base_.string();
    if (!base_weights_.empty()) json["base_weights"] = base_weights_;
  }
  return json;
}

torch::nn::Module& CodelmModel::network() {
  if (adapters_) return *adapters_;
  return *network_;
}

void CodelmModel::initialize(const Random& random) {
  if (adapters_) {
    adapters_->initialize(random);
  } else {
    codelm::initialize(*network_, random);
  }
}

void CodelmModel::add_adapters(AdapterOptions options, const std::filesystem::path& base) {
  if (options.targets.empty()) options.targets = default_targets(settings());
  adapters_ = std::make_unique<nn::LoraModule>(*network_, lora_options(options));
  adapter_options_ = std::move(options);
  base_ = base;
}

void CodelmModel::quantize_base(const std::string& form) {
  const auto format = kernels::parse_quant_format(form);
  if (!format) return;
  network_->quantize(*format, /*double_quantized=*/*format == kernels::QuantFormat::Nf4,
                     /*with_head=*/false);
  base_weights_ = form;
}

void CodelmModel::merge_adapters(double weight) {
  if (!adapters_) return;
  check(!network_->is_quantized(), ErrorKind::Usage,
        "[codelm.lora] adapters cannot be merged into quantised weights; expected the base as it "
        "is: leave --weights out.");
  adapters_->detach();
  adapters_->merge(weight);
  adapters_.reset();
}

std::int64_t CodelmModel::sequence_length() const {
  return sequence_length_ > 0 ? sequence_length_ : settings().context;
}

/// Whether the device that the parameters are on has attention for packed documents.
bool CodelmModel::has_packed_attention(const plan::Plan& plan) {
  const auto options = at::TensorOptions(probe::to_torch(plan.dtype.value))
                           .device(network().parameters().front().device());
  return settings().dropouts.attention == 0 &&
         kernels::does_packed_attention(
             at::empty({1, settings().heads, 1, settings().head_size}, options));
}

std::vector<engine::NamedTensors> CodelmModel::blocks() {
  return network_->blocks(tensor_names(settings()).layer, settings().layers);
}

void CodelmModel::apply_plan(const plan::Plan& plan) {
  pass_.recompute = plan.checkpointing.value;
  pass_.explicit_mask = plan.attention.value == plan::Attention::ExplicitMask;
  pass_.packed = plan.attention.value == plan::Attention::Flash && has_packed_attention(plan);
  if (adapters_) {
    // Frozen weights need no f32 copy: they are stored in what products are computed in.
    const auto device = adapters_->parameters().front().device();
    network_->to(device);
    network_->move_quantized(device);
    if (plan.autocast.value) network_->to(probe::to_torch(plan.dtype.value));
  }
  network_->refresh();
  if (adapters_) adapters_->attach();
}

BatchLoss batch_loss(const Codelm& network, const engine::Batch& batch, const PassOptions& pass) {
  const auto find = [&](const char* name) {
    const auto found = batch.tensors.find(name);
    return found == batch.tensors.end() ? at::Tensor() : found->second;
  };
  const auto hidden = network.forward(batch.tensors.at("ids"), batch.tensors.at("positions"),
                                      {find("documents"), find("starts")}, pass);  // (B, T, H)
  const auto state = engine::autocast_state(hidden.device().type());
  const auto dtype = state.enabled ? state.dtype : network.head().scalar_type();
  const auto loss = nn::token_loss(hidden.flatten(0, 1), network.head(), network.head_bias(),
                                   batch.tensors.at("labels").flatten(), dtype);
  return {loss.sum, loss.correct};
}

engine::Step CodelmModel::step(const engine::Batch& batch) {
  auto pass = pass_;
  pass.training = network().is_training();
  const auto loss = batch_loss(*network_, batch, pass);
  // The batch's weight, counted on the device: a recorded step must not contain the host's number.
  const auto count = batch.tensors.at("labels").ne(nn::kIgnoredToken).sum();
  engine::Step step;
  step.loss = loss.sum / count;
  step.metrics = {{"accuracy", loss.correct / count}};
  return step;
}

}  // namespace ubique::codelm
