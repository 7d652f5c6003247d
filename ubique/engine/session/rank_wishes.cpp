// SPDX-License-Identifier: Apache-2.0
// The device by the place among the machine's processes, and a share of the cores.
#include "ubique/engine/session/rank_wishes.h"

#include <algorithm>

#include "ubique/device/host.h"
#include "ubique/device/select.h"

namespace ubique::engine {

void share_machine(const dist::Place& place, plan::Wishes& wishes) {
  const auto own = device::device_of_process(device::parse_request(wishes.device), place.local_rank,
                                             place.local_size);
  if (!own.empty()) wishes.device = own;
  if (place.local_size == 1 || wishes.threads > 0) return;
  wishes.threads = std::max(1, device::host().cores / place.local_size);
}

}  // namespace ubique::engine
