// SPDX-License-Identifier: Apache-2.0
// The last layer: logits of a few planes at a time, turned into labels or probabilities.
#include <ATen/ATen.h>

#include "ubique/base/error.h"
#include "ubique/kernels/conv/convolve.h"
#include "ubique/models/meshnet/use/segmenter_parts.h"

namespace ubique::meshnet {
namespace {

/// The class with the largest logit, the lowest on ties.  (n, H, W)
at::Tensor best_class(const at::Tensor& logits) {
  if (logits.size(0) == 2) return logits[1].gt(logits[0]).to(at::kByte);
  return logits.argmax(0).to(at::kByte);
}

}  // namespace

Classifier::Classifier(const ReadyNetwork& network, const kernels::PlaneClassifier& host,
                       SegmenterResult wanted, std::int64_t one_class)
    : network_(network), host_(host), wanted_(wanted), one_class_(one_class) {}

void Classifier::begin(at::IntArrayRef volume, c10::Device device) {
  const bool labels = wanted_ == SegmenterResult::Labels;
  auto shape = volume.vec();
  if (!labels && wanted_ != SegmenterResult::OneProbability) {
    shape.insert(shape.begin(), network_.config.classes);
  }
  result_ = at::empty(shape, at::TensorOptions(device).dtype(labels ? at::kByte : at::kFloat));
}

void Classifier::keep(const at::Tensor& logits, std::int64_t first) {
  const auto depth =
      wanted_ == SegmenterResult::Labels || wanted_ == SegmenterResult::OneProbability ? 0 : 1;
  auto target = result_.narrow(depth, first, logits.size(1));
  switch (wanted_) {
    case SegmenterResult::Labels:
      target.copy_(best_class(logits));
      break;
    case SegmenterResult::Logits:
      target.copy_(logits);
      break;
    case SegmenterResult::Probabilities:
      target.copy_(logits.to(at::kFloat).softmax(0));
      break;
    case SegmenterResult::OneProbability:
      target.copy_(logits.to(at::kFloat).softmax(0)[one_class_]);
      break;
  }
}

void Classifier::take_slab(const at::Tensor& features, std::int64_t first) {
  const auto logits = kernels::convolve(features, network_.class_weight, network_.class_bias, 1)[0];
  const auto finite = logits.isfinite().all();  // read only in finish(): no sync here
  finite_ = finite_.defined() ? finite_.logical_and(finite) : finite;
  keep(logits, first);
}

void Classifier::take_plane(const kernels::HostPlane& plane, std::int64_t depth) {
  const auto& form = plane.form();
  const auto voxels = form.height * form.width;
  if (wanted_ == SegmenterResult::Labels) {
    auto* labels = result_.mutable_data_ptr<std::uint8_t>() + depth * voxels;
    host_finite_ = host_.labels(plane, labels) && host_finite_;
    return;
  }
  auto logits = at::empty({network_.config.classes, 1, form.height, form.width},
                          at::TensorOptions(at::kFloat));
  host_finite_ = host_.logits(plane, logits.mutable_data_ptr<float>(), voxels) && host_finite_;
  keep(logits, depth);
}

at::Tensor Classifier::finish(bool check_finite) {
  const bool finite = host_finite_ && (!finite_.defined() || finite_.item<bool>());
  if (check_finite && !finite) {
    const bool half = at::isReducedFloatingType(network_.dtype);
    fail(half ? ErrorKind::Device : ErrorKind::Input,
         "[meshnet.segment] the network gave NaN or infinite values in {}; {}.",
         c10::toString(network_.dtype),
         half ? "its activations leave that range: run it with --dtype f32"
              : "do the weights or the scan hold NaN, or values far from those it was trained on?");
  }
  return std::move(result_);
}

}  // namespace ubique::meshnet
