// SPDX-License-Identifier: Apache-2.0
// Forward and backward passes of the micro-batches that make one update. Their means are weighted
// by what each is a mean over, so the update does not depend on how the samples were cut.
#pragma once

#include <c10/core/Device.h>

#include "ubique/engine/contract/batch.h"
#include "ubique/engine/contract/model.h"
#include "ubique/engine/optim/scaler.h"
#include "ubique/engine/step/autocast.h"

namespace ubique::engine {

/// The batch on the device. Copies overlap with work only if the plan says that they may.
Batch to_device(const Batch& batch, c10::Device device, const plan::Plan& plan);

class Accumulation {
 public:
  Accumulation(Model& model, const GradScaler& scaler, c10::DeviceType type, AutocastState state)
      : model_(model), scaler_(scaler), type_(type), autocast_(state) {}

  /// Adds the gradients of a batch on the device, scaled by its weight over the first one's. A
  /// batch of weight 0 says nothing and is left out.
  void add(const Batch& batch);

  /// What the gradients (and scaled sums) have to be multiplied by to be means: exactly 1 for one
  /// batch.
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
