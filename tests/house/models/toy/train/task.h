// SPDX-License-Identifier: Apache-2.0
// Training on synthetic data: noise images and what an edge filter makes of them.
#pragma once

#include <memory>

#include "tests/house/models/toy/net/model.h"
#include "ubique/engine/contract/family.h"

namespace ubique::toy {

struct ToySample {
  at::Tensor image, filtered;  ///< (1, 16, 16)
};
/// Sample `index`, the same on every machine.
ToySample make_sample(std::int64_t index);

ToyConfig read_toy_config(const Config& config);  ///< key: channels
std::unique_ptr<engine::Task> make_toy_task(const engine::Request& request);

}  // namespace ubique::toy
