// SPDX-License-Identifier: Apache-2.0
// The transformer between the engine's calls.
#include "ubique/models/acestep/net/model.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/kernels/quant/quantized_weight.h"
#include "ubique/models/acestep/net/config/config_json.h"
#include "ubique/models/acestep/net/init.h"
#include "ubique/models/acestep/net/train_needs.h"
#include "ubique/nn/layers/parameter_tree.h"
#include "ubique/probe/probes/operation.h"

namespace ubique::acestep {
namespace {

QuantizedUse quantized_use(Dit& dit) {
  QuantizedUse use;
  for (const auto& [name, layer] : dit.heavy_layers()) {
    if (!layer->quantized) continue;
    const auto numbers = layer->outputs() * layer->inputs();
    use.numbers += numbers;
    use.bytes += layer->quantized->bytes();
    use.largest = std::max(use.largest, numbers);
  }
  return use;
}

}  // namespace

Json AcestepModel::config() const {
  auto model = config_json(network_->config());
  model["projectors"] = network_->config().projectors;
  Json json = {{"model", model}, {"base", base_.string()}};
  if (adapter_) json["adapter"] = to_json(adapter_options_);
  if (!base_weights_.empty()) json["base_weights"] = base_weights_;
  if (joined_) json["text"] = config_json(text_encoder_->config());
  return json;
}

torch::nn::Module& AcestepModel::network() {
  if (adapter_) return *adapter_;
  if (joined_) return *joined_;
  return *network_;
}

void AcestepModel::initialize(const Random& random) {
  if (adapter_) return adapter_->initialize(random);
  acestep::initialize(*network_, random);
  if (joined_) acestep::initialize(*text_encoder_, random.fork(1));
}

void AcestepModel::add_adapter(const AdapterOptions& options) {
  validate(options);
  adapter_ = make_adapter(*network_, options);
  adapter_options_ = options;
}

void AcestepModel::merge_adapter(double weight) {
  if (!adapter_) return;
  check(base_weights_.empty(), ErrorKind::Usage,
        "[acestep.lora] an adapter cannot be merged into quantised weights; expected the model as "
        "it is.");
  adapter_->detach();
  adapter_->merge(weight);
  adapter_.reset();
}

void AcestepModel::quantize_base(const std::string& form) {
  const auto format = kernels::parse_quant_format(form);
  if (!format) return;
  check(adapter_ != nullptr, ErrorKind::Usage,
        "[acestep.lora] weights in {} cannot be trained; expected adapters over them.", form);
  network_->quantize(*format, /*double_quantized=*/*format == kernels::QuantFormat::Nf4);
  base_weights_ = form;
}

void AcestepModel::set_text_encoder(std::shared_ptr<Umt5> text_encoder, bool trained) {
  text_encoder_ = std::move(text_encoder);
  joined_.reset();
  loss_.train_text = trained;
  for (auto& parameter : text_encoder_->parameters()) parameter.requires_grad_(trained);
  if (!trained) return;
  joined_ = std::make_unique<torch::nn::Module>();
  for (const auto& item : network_->named_parameters()) {
    nn::add_parameter(*joined_, item.key(), item.value());
  }
  for (const auto& item : text_encoder_->named_parameters()) {
    nn::add_parameter(*joined_, kTextPrefix + item.key(), item.value());
  }
}

plan::Needs AcestepModel::needs() const {
  TrainUse use{.size = size_, .quantized = quantized_use(*network_)};
  if (adapter_) {
    for (const auto& parameter : adapter_->parameters()) use.adapters += parameter.numel();
  }
  if (text_encoder_) use.text = nn::count_values(parameter_shapes(text_encoder_->config()));
  use.text_trained = joined_ != nullptr;
  return train_needs(network_->config(), use);
}

std::vector<engine::NamedTensors> AcestepModel::blocks() {
  return network_->blocks(kBlockPrefix, network_->config().layers,
                          {std::begin(kReadBeforeBlocks), std::end(kReadBeforeBlocks)});
}

std::vector<at::Tensor> AcestepModel::tables() const {
  auto tables = network_->tables();
  if (!text_encoder_) return tables;
  const auto of_text = text_encoder_->tables();
  tables.insert(tables.end(), of_text.begin(), of_text.end());
  return tables;
}

void AcestepModel::apply_plan(const plan::Plan& plan) {
  loss_.recompute = plan.checkpointing.value;
  const auto device = network().parameters().front().device();
  const auto dtype = probe::to_torch(plan.dtype.value);
  const auto full = dtype == at::kDouble ? at::kDouble : at::kFloat;
  if (adapter_) {
    // Frozen weights need no f32 copy: they are stored in what products are computed in.
    network_->to(device, plan.autocast.value ? dtype : full);
    network_->move_quantized(device);
  }
  network_->refresh();
  if (adapter_) adapter_->attach();
  if (!text_encoder_) return;
  // Its residuals overflow in f16.
  const bool narrow = !joined_ && plan.autocast.value && dtype == at::kBFloat16;
  if (!joined_) text_encoder_->to(device, narrow ? dtype : full);
  text_encoder_->refresh();
}

engine::Step AcestepModel::step(const engine::Batch& batch) {
  check(text_encoder_ != nullptr, ErrorKind::Internal,
        "[acestep.train] a training step without a text encoder.");
  auto options = loss_;
  options.training = network().is_training();
  const auto loss = song_loss(*network_, *text_encoder_, batch, options);
  engine::Step step{.loss = loss.total};
  if (!loss.ssl.empty()) {
    step.ratios.push_back(
        {"denoising_loss", loss.denoising.detach(), at::ones_like(loss.denoising)});
  }
  for (const auto& [name, value] : loss.ssl) {
    step.ratios.push_back({name + "_loss", value.detach(), at::ones_like(value)});
  }
  return step;
}

}  // namespace ubique::acestep
