// SPDX-License-Identifier: Apache-2.0
// What a code language model needs of a machine, by arithmetic on its configuration: the network
// itself is not built, so that models larger than this machine can be planned.
#pragma once

#include <cstdint>
#include <optional>

#include "ubique/kernels/quant/quantized_weight.h"
#include "ubique/models/codelm/net/adapters.h"
#include "ubique/plan/needs.h"

namespace ubique::codelm {

/// How the weights are kept and trained.
struct WeightUse {
  std::int64_t adapters = 0;   ///< trained numbers over a frozen base; 0 = all weights are trained
  std::int64_t quantized = 0;  ///< numbers of the base in fewer bits
  double quantized_bytes = 0;  ///< of each of them
  std::int64_t length = 0;     ///< tokens of a sequence
  bool averaged = false;       ///< EMA
};

plan::Needs codelm_needs(const CodelmConfig& config, const WeightUse& use);

/// The use of a network with these adapters and this form of its base, before it is made. Input
/// error for a target that matches no layer.
WeightUse planned_use(const CodelmConfig& config, const std::optional<AdapterOptions>& adapter,
                      std::optional<kernels::QuantFormat> base);

}  // namespace ubique::codelm
