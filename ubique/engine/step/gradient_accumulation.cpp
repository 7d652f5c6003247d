// SPDX-License-Identifier: Apache-2.0
// The passes of a micro-batch, and the weighted sums of loss, metrics and ratios.
#include "ubique/engine/step/gradient_accumulation.h"

#include <ATen/ATen.h>

#include <cmath>

#include "ubique/base/error.h"

namespace ubique::engine {
namespace {

/// Multiplies only by factors other than 1, so that a single batch is unchanged bit for bit.
at::Tensor times(const at::Tensor& value, double factor) {
  return factor == 1 ? value : value * factor;
}

}  // namespace

Batch to_device(const Batch& batch, c10::Device device, const plan::Plan& plan) {
  Batch moved = batch;
  for (auto& [name, tensor] : moved.tensors) {
    const bool widen = plan.dtype.value == DType::F64 && tensor.is_floating_point();
    tensor = tensor.to(device, widen ? at::kDouble : tensor.scalar_type(), plan.non_blocking.value);
  }
  return moved;
}

void GradientAccumulation::add(const Batch& batch) {
  if (batch.weight != 0) fold(compute(batch));
}

PartSums GradientAccumulation::compute(const Batch& batch) {
  check(std::isfinite(batch.weight) && batch.weight > 0, ErrorKind::Internal,
        "[engine.step] a batch has the weight {}, expected a number that is not negative.",
        batch.weight);
  Step step;
  {
    const Autocast autocast(type_, autocast_);
    step = model_.step(batch);
  }
  check(step.loss.defined() && step.loss.dim() == 0 && step.loss.requires_grad(),
        ErrorKind::Internal, "[engine.step] the loss of {} is not a scalar with a gradient.",
        model_.family());
  if (first_ == 0) first_ = batch.weight;
  const double share = batch.weight / first_;
  times(scaler_.scaled(step.loss), share).backward();

  PartSums part{batch.weight, batch.samples, times(step.loss.detach(), share), {}, step.ratios};
  for (const auto& [name, value] : step.metrics) {
    part.metrics.emplace_back(name, times(value.detach(), share));
  }
  return part;
}

void GradientAccumulation::fold(const PartSums& part) {
  loss_ = loss_.defined() ? loss_ + part.loss : part.loss;
  for (std::size_t i = 0; i < part.metrics.size(); ++i) {
    if (i == metrics_.size()) {
      metrics_.push_back(part.metrics[i]);
    } else {
      metrics_[i].second = metrics_[i].second + part.metrics[i].second;
    }
  }
  for (std::size_t i = 0; i < part.ratios.size(); ++i) {
    if (i == ratios_.size()) {
      ratios_.push_back(part.ratios[i]);
      continue;
    }
    ratios_[i].sum = ratios_[i].sum + part.ratios[i].sum;
    ratios_[i].count = ratios_[i].count + part.ratios[i].count;
  }
  weight_ += part.weight;
  samples_ += part.samples;
}

at::Tensor GradientAccumulation::loss() const { return times(loss_, factor()); }

NamedTensors GradientAccumulation::metrics() const {
  NamedTensors means;
  for (const auto& [name, sum] : metrics_) means.emplace_back(name, times(sum, factor()));
  return means;
}

}  // namespace ubique::engine
