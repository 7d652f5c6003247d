// SPDX-License-Identifier: Apache-2.0
// A message begins with what its rank does: 'S' sums (doubles follow), 'E' ends the round, 'I' sits
// out, 'F' failed (why follows).
#include "ubique/engine/ranks/pass_sums.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <cstring>

#include "ubique/base/error.h"

namespace ubique::engine {

std::vector<std::string> PassSums::exchange(const std::string& mine) {
  auto all = world_.gather(mine);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank][0] != 'F') continue;
    failed_ = true;
    TORCH_CHECK_WITH(OutOfMemoryError, static_cast<int>(rank) == world_.rank(), "rank ", rank, ": ",
                     all[rank].substr(1));
  }
  return all;
}

std::vector<double> PassSums::add_up(const std::vector<double>& mine) {
  const auto bytes = mine.size() * sizeof(double);
  const auto all = exchange("S" + std::string(reinterpret_cast<const char*>(mine.data()), bytes));
  std::vector<double> sums(mine.size()), part(mine.size());
  first_ = world_.size();
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank][0] == 'I') continue;
    check(all[rank][0] == 'S' && all[rank].size() == 1 + bytes, ErrorKind::Internal,
          "[engine.ranks] rank {} is at another place of the pass.", rank);
    first_ = std::min(first_, static_cast<int>(rank));
    std::memcpy(part.data(), all[rank].data() + 1, bytes);
    for (std::size_t i = 0; i < part.size(); ++i) sums[i] += part[i];
  }
  return sums;
}

void PassSums::finish_round() {
  for (const auto& message : exchange("E")) {
    check(message[0] != 'S', ErrorKind::Internal,
          "[engine.ranks] ranks that make different passes of one network.");
  }
}

void PassSums::sit_out() {
  const auto computes = [](const std::string& message) { return message[0] == 'S'; };
  while (std::ranges::any_of(exchange("I"), computes)) {
  }
}

void PassSums::fail(const std::string& why) {
  if (failed_) return;
  exchange("F" + why);
}

}  // namespace ubique::engine
