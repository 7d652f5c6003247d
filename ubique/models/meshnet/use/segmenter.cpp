// SPDX-License-Identifier: Apache-2.0
// Chooses host streaming, slabs or the whole volume, and runs it.
#include "ubique/models/meshnet/use/segmenter.h"

#include <ATen/ATen.h>
#include <fmt/ranges.h>

#include <optional>

#include "ubique/base/error.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/kernels/dispatch/autograd.h"
#include "ubique/models/meshnet/net/stream_buffers.h"
#include "ubique/models/meshnet/use/segmenter_parts.h"

namespace ubique::meshnet {
namespace {

constexpr std::int64_t kMostPlanesAtOnce = 16;

/// (1, I, D, H, W)
at::Tensor five_dimensions(const at::Tensor& image, const MeshNetConfig& config) {
  auto x = image.dim() == 3 ? image.unsqueeze(0) : image;
  if (x.dim() == 4) x = x.unsqueeze(0);
  check(
      x.dim() == 5 && x.size(0) == 1 && x.size(1) == config.in_channels && x.numel() > 0 &&
          x.is_floating_point(),
      ErrorKind::Input,
      "[meshnet.segment] wrong input; got {} of shape {}, expected one volume of floats (D, H, W) "
      "with {} channel(s).",
      c10::toString(image.scalar_type()), image.sizes().vec(), config.in_channels);
  return x;
}

/// Our own host convolutions: f32 only, and no norm, which would need the whole volume first.
bool streams_on_host(const MeshNetConfig& config, const SegmenterOptions& options) {
  return options.device.is_cpu() && options.dtype == at::kFloat &&
         options.mode != SegmenterMode::Whole && can_stream_on_host(config);
}

at::Tensor classifier_tensor(const MeshNetFile& file, const char* field) {
  return engine::find_tensor(file.tensors,
                             fmt::format("network.{}.{}", file.config.layers(), field));
}

}  // namespace

struct Segmenter::State {
  State(const MeshNetFile& folded, const SegmenterOptions& given)
      : options(given),
        network(make_ready(folded, given)),
        classifier(classifier_tensor(folded, "weight"), classifier_tensor(folded, "bias")) {
    check(options.mode != SegmenterMode::Stream || folded.config.norm != Norm::Instance,
          ErrorKind::Usage,
          "[meshnet.segment] a network with instance norms cannot be streamed; each norm needs the "
          "whole volume. Use mode whole.");
    if (streams_on_host(folded.config, options)) host.emplace(folded);
  }

  bool streams(std::int64_t depth, std::int64_t plane) const {
    if (options.mode == SegmenterMode::Stream) return true;
    if (options.mode == SegmenterMode::Whole || network.config.norm == Norm::Instance) return false;
    return options.memory_limit > 0 && whole_bytes(network, depth * plane) > options.memory_limit;
  }

  std::int64_t planes_at_once(std::int64_t plane) const {
    auto planes = kMostPlanesAtOnce;
    while (planes > 1 && options.memory_limit > 0 &&
           slab_bytes(network, plane, planes) > options.memory_limit) {
      planes /= 2;
    }
    return planes;
  }

  at::Tensor run(const at::Tensor& image, SegmenterResult wanted, std::int64_t one_class) {
    const kernels::PlainTensors plain;
    const auto x = five_dimensions(image, network.config);
    check(x.device().type() == options.device.type(), ErrorKind::Internal,
          "[meshnet.segment] the image is on {}, the network on {}.", x.device().str(),
          options.device.str());
    Classifier sink(network, classifier, wanted, one_class);
    sink.begin(x.sizes().slice(2), x.device());
    const auto plane = x.size(3) * x.size(4);
    if (host) {
      host->run(x[0].to(at::kFloat), sink);
    } else if (streams(x.size(2), plane)) {
      run_slabs(network, x, planes_at_once(plane), sink);
    } else {
      run_whole(network, x, sink);
    }
    return sink.finish(options.check_finite);
  }

  SegmenterOptions options;
  ReadyNetwork network;
  kernels::PlaneClassifier classifier;
  std::optional<HostStream> host;
};

Segmenter::Segmenter(const MeshNetFile& file, const SegmenterOptions& options)
    : state_(std::make_unique<State>(fold_batch_norm(file), options)) {}
Segmenter::~Segmenter() = default;
Segmenter::Segmenter(Segmenter&&) noexcept = default;
Segmenter& Segmenter::operator=(Segmenter&&) noexcept = default;

at::Tensor Segmenter::labels(const at::Tensor& image) {
  return state_->run(image, SegmenterResult::Labels, 0);
}

at::Tensor Segmenter::probabilities(const at::Tensor& image) {
  return state_->run(image, SegmenterResult::Probabilities, 0);
}

at::Tensor Segmenter::probability(const at::Tensor& image, std::int64_t one_class) {
  check(one_class >= 0 && one_class < config().classes, ErrorKind::Usage,
        "[meshnet.segment] no such class; got {}, expected 0 to {}.", one_class,
        config().classes - 1);
  return state_->run(image, SegmenterResult::OneProbability, one_class);
}

at::Tensor Segmenter::logits(const at::Tensor& image) {
  return state_->run(image, SegmenterResult::Logits, 0);
}

const MeshNetConfig& Segmenter::config() const { return state_->network.config; }

std::int64_t Segmenter::activation_bytes(std::int64_t depth, std::int64_t height,
                                         std::int64_t width) const {
  const auto plane = height * width;
  if (state_->host)
    return stream_floats(config(), depth, height, width) * static_cast<std::int64_t>(sizeof(float));
  if (state_->streams(depth, plane)) {
    return slab_bytes(state_->network, plane, state_->planes_at_once(plane));
  }
  return whole_bytes(state_->network, depth * plane);
}

}  // namespace ubique::meshnet
