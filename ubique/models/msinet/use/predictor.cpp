// SPDX-License-Identifier: Apache-2.0
// Resizing, the forward pass, and the cache of captured graphs.
#include "ubique/models/msinet/use/predictor.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "ubique/data/images/frame.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/models/msinet/data/dataset.h"
#include "ubique/probe/probes/operation.h"

namespace ubique::msinet {
namespace {

/// Each holds its own memory. More than one is needed: the last batch of a folder is smaller.
constexpr std::size_t kMostRecordings = 4;

data::FrameSize frame_of(const MsiNetConfig& config) {
  return {static_cast<int>(config.size[0]), static_cast<int>(config.size[1])};
}

}  // namespace

Predictor::Predictor(const MsiNetFile& file, const plan::Plan& plan, c10::Device device)
    : owned_(std::make_shared<MsiNet>(file.config)), network_(owned_.get()) {
  engine::load_state(*owned_, file.tensors, file.form);
  owned_->set_channels_last(plan.memory_format.value == probe::Layout::ChannelsLast);
  owned_->to(device);
  owned_->eval();
  owned_->freeze(probe::to_torch(plan.dtype.value));
  records_ = plan.graph_capture.value;
}

Predictor::Predictor(MsiNet& network)
    : network_(&network),
      autocast_(engine::autocast_state(network.parameters().front().device().type())) {}

at::Tensor Predictor::prepare(const io::Picture& picture, int threads) const {
  const auto pad = static_cast<float>(config().preprocessing.pad);
  return tensor_of(data::prepare(picture, frame_of(config()), pad, threads));
}

Predictor::Recorded& Predictor::recorded(const at::Tensor& images) {
  const auto same = std::find_if(recorded_.begin(), recorded_.end(), [&](const Recorded& one) {
    return one.images.sizes() == images.sizes() && one.images.scalar_type() == images.scalar_type();
  });
  if (same != recorded_.end()) return *same;
  if (recorded_.size() == kMostRecordings) recorded_.erase(recorded_.begin());
  Recorded fresh{images.clone(at::MemoryFormat::Contiguous), {}, {}};
  fresh.work = device::record(images.device(), "MSI-Net's forward pass",
                              [&] { fresh.maps = network_->forward(fresh.images); });
  return recorded_.emplace_back(std::move(fresh));
}

at::Tensor Predictor::maps_on_device(const at::Tensor& images) {
  const at::NoGradGuard no_gradients;
  const auto device = network_->parameters().front().device();
  const auto input = images.to(device);
  if (records_) {
    auto& recording = recorded(input);
    records_ = recording.work != nullptr;
    if (records_) {
      recording.images.copy_(input);
      recording.work->replay();
      return recording.maps.clone();
    }
    recorded_.clear();
  }
  const engine::Autocast autocast(device.type(), autocast_);
  return network_->forward(input);
}

at::Tensor Predictor::maps(const at::Tensor& images) {
  return maps_on_device(images).squeeze(1).to(at::kCPU, at::kFloat).contiguous();
}

data::Image Predictor::restore(const at::Tensor& map, data::FrameSize picture, int threads) const {
  return data::restore(image_of(map), picture, threads);
}

}  // namespace ubique::msinet
