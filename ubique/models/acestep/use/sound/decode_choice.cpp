// SPDX-License-Identifier: Apache-2.0
// From facts and plan.
#include "ubique/models/acestep/use/sound/decode_choice.h"

namespace ubique::acestep {

std::int64_t decode_tile(const device::Facts& facts) {
  constexpr std::int64_t kEnough = std::int64_t{15} << 30;
  const bool large = facts.kind != device::Kind::Cpu && facts.total_bytes >= kEnough;
  return large ? kLargeDecodeTile : kDecodeTile;
}

bool halves_decoder(const plan::Plan& plan) {
  const auto dtype = plan.dtype.value;
  return plan.tf32.value && (dtype == DType::BF16 || dtype == DType::F16);
}

}  // namespace ubique::acestep
