// SPDX-License-Identifier: Apache-2.0
// Each network is filled tensor by tensor, on its device in its dtype, from its file.
#include "ubique/models/acestep/files/parts.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <type_traits>
#include <utility>

#include "ubique/models/acestep/files/weights.h"

namespace ubique::acestep {

Parts::Parts(ModelFolder folder, c10::Device device, c10::ScalarType dtype)
    : folder_(std::move(folder)), device_(device), dtype_(dtype) {}

c10::ScalarType Parts::dtype_of(Part part) const {
  if (part == Part::Transformer) return dtype_;
  if (part == Part::TextEncoder && dtype_ == at::kBFloat16) return dtype_;
  return dtype_ == at::kDouble ? at::kDouble : at::kFloat;
}

template <typename Net, typename Config>
Net& Parts::loaded(std::shared_ptr<Net>& place, const Config& config, Part part) {
  if (place) return *place;
  const c10::InferenceMode off(false);  // whoever asks: tensors made in it could not be trained
  const nn::WithoutMemory filled_below;
  auto network = std::make_shared<Net>(config, at::TensorOptions(dtype_of(part)).device(device_));
  auto networks = folder_.networks;
  networks.transformer.projectors = false;
  LoadOptions options{.device = device_,
                      .dtype = dtype_of(part),
                      .ignored = names_of(unused_shapes(networks, part))};
  if (part == Part::TextEncoder) options.mapped = {"shared.weight"};
  if constexpr (std::is_same_v<Net, Dit>) {
    if (format_) options.quantized = network->quantizable_layers(*format_);
    options.format = format_.value_or(options.format);
  }
  load_weights(*network, folder_.weights(part), options);
  if constexpr (std::is_same_v<Net, Dcae>) {
    if (channels_last_) network->use_channels_last();
    if (half_decoder_) network->decode_in_half();
  }
  if constexpr (std::is_same_v<Net, Vocoder>) {
    if (half_decoder_) network->compute_in_half();
  }
  // Products choose how they are computed by this too: songs with and without adapters agree.
  for (auto& parameter : network->parameters()) parameter.requires_grad_(false);
  network->eval();
  network->refresh();
  place = std::move(network);
  return *place;
}

const Umt5& Parts::text_encoder() {
  return loaded(text_encoder_, folder_.networks.text, Part::TextEncoder);
}

Dit& Parts::transformer() {
  auto config = folder_.networks.transformer;
  config.projectors = false;
  return loaded(transformer_, config, Part::Transformer);
}

const Dcae& Parts::dcae() { return loaded(dcae_, folder_.networks.dcae, Part::Dcae); }

const Vocoder& Parts::vocoder() {
  return loaded(vocoder_, folder_.networks.vocoder, Part::Vocoder);
}

void Parts::place_transformer() {
  recorder_ = {};
  if (format_) transformer_->quantize(*format_);
  transformer_->to(device_, dtype_);
  transformer_->move_quantized(device_);
  transformer_->eval();
  transformer_->refresh();
}

void Parts::set_transformer(std::shared_ptr<Dit> transformer) {
  transformer_ = std::move(transformer);
  place_transformer();
}

void Parts::keep_transformer_in(kernels::QuantFormat format) {
  format_ = format;
  if (transformer_) place_transformer();
}

void Parts::set_text_encoder(std::shared_ptr<Umt5> text_encoder) {
  text_encoder->to(device_, dtype_of(Part::TextEncoder));
  text_encoder->eval();
  text_encoder->refresh();
  text_encoder_ = std::move(text_encoder);
}

bool Parts::is_loaded(Part part) const {
  switch (part) {
    case Part::TextEncoder:
      return text_encoder_ != nullptr;
    case Part::Transformer:
      return transformer_ != nullptr;
    case Part::Dcae:
      return dcae_ != nullptr;
    case Part::Vocoder:
      break;
  }
  return vocoder_ != nullptr;
}

void Parts::release(Part part) {
  switch (part) {
    case Part::TextEncoder:
      return text_encoder_.reset();
    case Part::Transformer:
      recorder_ = {};
      return transformer_.reset();
    case Part::Dcae:
      return dcae_.reset();
    case Part::Vocoder:
      return vocoder_.reset();
  }
}

}  // namespace ubique::acestep
