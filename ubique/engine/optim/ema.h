// SPDX-License-Identifier: Apache-2.0
// Averaged weights: an exponential moving average (EMA) of the weights over the updates. Validation
// and the saved model use the averages; training continues with the weights themselves.
#pragma once

#include "ubique/engine/contract/batch.h"

namespace ubique::engine {

class AveragedWeights {
 public:
  /// Starts with the current weights. A decay of 0 disables averaging and takes no memory.
  AveragedWeights(const NamedTensors& parameters, double decay);

  bool enabled() const { return !averages_.empty(); }
  void update();  ///< after each change of the weights

  /// For its lifetime the network has the averages in place of its weights.
  class InPlace {
   public:
    explicit InPlace(AveragedWeights& average) : average_(average) { average_.exchange(); }
    ~InPlace() { average_.exchange(); }
    InPlace(const InPlace&) = delete;
    InPlace& operator=(const InPlace&) = delete;

   private:
    AveragedWeights& average_;
  };

  const NamedTensors& averages() const { return averages_; }
  double decay() const { return decay_; }
  /// Input error for averages of another network.
  void load(const NamedTensors& averages);

 private:
  void exchange();

  double decay_;
  NamedTensors parameters_, averages_;
};

}  // namespace ubique::engine
