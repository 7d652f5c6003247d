// SPDX-License-Identifier: Apache-2.0
// Gradient accumulation: forward and backward passes of the micro-batches of one update. Each mean
// is weighted by its number of terms, so the result does not depend on the micro-batch size.
#pragma once

#include <c10/core/Device.h>

#include "ubique/engine/contract/batch.h"
#include "ubique/engine/contract/model.h"
#include "ubique/engine/optim/scaler.h"
#include "ubique/engine/step/autocast.h"

namespace ubique::engine {

/// The batch on the device; copied without blocking if the plan says so.
Batch to_device(const Batch& batch, c10::Device device, const plan::Plan& plan);

/// What a micro-batch adds to the sums of its update, beside gradients.
struct PartSums {
  double weight = 0;
  std::int64_t samples = 0;
  at::Tensor loss;  ///< this and the metrics are scaled by the weight over the first one's
  NamedTensors metrics = {};
  std::vector<Ratio> ratios = {};
};

class GradientAccumulation {
 public:
  GradientAccumulation(Model& model, const GradScaler& scaler, c10::DeviceType type,
                       AutocastState state)
      : model_(model), scaler_(scaler), type_(type), autocast_(state) {}

  /// Adds the gradients of a batch on the device, scaled by its weight over the first one's. A
  /// batch of weight 0 is ignored.
  void add(const Batch& batch);

  // add() is both of these, with a weight.
  PartSums compute(const Batch& batch);  ///< the passes: gradients are added to the parameters'
  void fold(const PartSums& part);
  /// The first one's weight, where another process computes it.
  void set_first_weight(double weight) { first_ = weight; }

  /// The factor that turns the gradients (and the sums below) into means; exactly 1 for one batch.
  double factor() const { return weight_ > first_ ? first_ / weight_ : 1; }
  bool empty() const { return !loss_.defined(); }
  double weight() const { return weight_; }
  std::int64_t samples() const { return samples_; }
  at::Tensor loss() const;       ///< device scalar, mean over all batches
  NamedTensors metrics() const;  ///< the same for the metrics
  const std::vector<Ratio>& ratios() const { return ratios_; }  ///< sums over all batches

 private:
  Model& model_;
  const GradScaler& scaler_;
  c10::DeviceType type_;
  AutocastState autocast_;
  double first_ = 0, weight_ = 0;
  std::int64_t samples_ = 0;
  at::Tensor loss_;
  NamedTensors metrics_;
  std::vector<Ratio> ratios_;
};

}  // namespace ubique::engine
