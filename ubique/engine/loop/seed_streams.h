// SPDX-License-Identifier: Apache-2.0
// What the engine takes a run's seed for. Each use has a stream of its own (base/random.h), so that
// one more number here changes none there.
#pragma once

#include <cstdint>

namespace ubique::engine {

enum class Stream : std::uint64_t { Initialization = 1, Order = 2, Augmentation = 3, Torch = 4 };

constexpr std::uint64_t number(Stream stream) { return static_cast<std::uint64_t>(stream); }

}  // namespace ubique::engine
