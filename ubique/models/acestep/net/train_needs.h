// SPDX-License-Identifier: Apache-2.0
// What training the transformer needs of a machine, whole or through adapters.
#pragma once

#include "ubique/models/acestep/net/model.h"
#include "ubique/plan/needs.h"

namespace ubique::acestep {

/// Frozen numbers in fewer bits.
struct QuantizedUse {
  std::int64_t numbers = 0, bytes = 0;
  std::int64_t largest = 0;  ///< numbers of the largest layer, which is restored as a whole
};

/// How the weights are kept and trained.
struct TrainUse {
  SampleSize size = {};
  std::int64_t adapters = 0;  ///< trained numbers over frozen weights; 0 = all are trained
  QuantizedUse quantized = {};
  std::int64_t text = 0;  ///< numbers of the text encoder
  bool text_trained = false;
};

plan::Needs train_needs(const DitConfig& config, const TrainUse& use);

}  // namespace ubique::acestep
