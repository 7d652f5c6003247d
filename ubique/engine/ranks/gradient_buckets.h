// SPDX-License-Identifier: Apache-2.0
// Which parameters' gradients travel together, and in which order.
#pragma once

#include <string>
#include <vector>

#include "ubique/dist/background_sum.h"
#include "ubique/engine/contract/batch.h"

namespace ubique::engine {

/// Neighbours of an order of parameters, of one dtype, whose gradients are exchanged at once.
struct GradientBucket {
  std::vector<std::size_t> members;  ///< indices of parameters
  dist::SumBucket size;
};

/// Buckets of at most so many bytes, unless a single parameter is larger.
std::vector<GradientBucket> make_buckets(const NamedTensors& parameters,
                                         const std::vector<std::size_t>& order, std::int64_t bytes);

/// All gradients of the parameters together.
std::int64_t gradient_bytes(const NamedTensors& parameters);

/// Their order by their last occurrence in `ready`, for those whose mark in `late` is '0'.
std::vector<std::size_t> early_ones(const std::vector<std::size_t>& ready, const std::string& late);
/// All others of `count`, the last parameters first, as a backward pass comes to them.
std::vector<std::size_t> other_ones(const std::vector<std::size_t>& early, std::size_t count);

}  // namespace ubique::engine
