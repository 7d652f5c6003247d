// SPDX-License-Identifier: Apache-2.0
// How much a case computes.
#include "ubique/probe/core/case.h"

namespace ubique::probe {

double conv_work(const Case& request) {
  auto work = static_cast<double>(request.out_channels);
  for (std::size_t i = 0; i < request.shape.size(); ++i) {
    work *= static_cast<double>(request.shape[i]);
    if (i >= 2) work *= static_cast<double>(request.kernel);
  }
  return work;
}

}  // namespace ubique::probe
