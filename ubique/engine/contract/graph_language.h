// SPDX-License-Identifier: Apache-2.0
// The operators of language models in a neutral graph. Values are (B, n, width), and (B, heads, n,
// size) between GraphHeads and GraphAttention.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ubique/io/tensors/host_tensor.h"

namespace ubique::engine {

/// Rows of a table (V, H) by integers.
struct GraphGather {
  io::HostTensor table;
};

/// x · weightᵀ + bias. Weight (O, I), bias (O).
struct GraphLinear {
  io::HostTensor weight;
  std::optional<io::HostTensor> bias;
};

/// The same with the table of an earlier GraphGather as its weight.
struct GraphTiedLinear {
  std::string gather;  ///< that step's name
  std::optional<io::HostTensor> bias;
};

/// Over the last axis; all (H).
struct GraphLayerNorm {
  io::HostTensor weight, bias;
  double epsilon = 1e-5;
};

/// x / √(mean(x²) + epsilon) · weight, over the last axis.
struct GraphRmsNorm {
  io::HostTensor weight;
  double epsilon = 1e-6;
};

struct GraphSilu {};      ///< x · sigmoid(x)
struct GraphAdd {};       ///< of two inputs
struct GraphMultiply {};  ///< of two inputs

/// (B, n, count·size) to (B, count, n, size).
struct GraphHeads {
  std::int64_t count = 1;
};

/// Cosines or sines of positions (B, n) times frequencies (r / 2): (B, 1, n, r), the second half of
/// the last axis repeating the first; multiplied by a factor.
struct GraphAngles {
  io::HostTensor frequencies;
  bool sines = false;
  double factor = 1;
};

/// Rotary position embedding of the first `rotated` of `size` values of each head. Inputs: x, its
/// cosines and sines.
struct GraphRotate {
  std::int64_t rotated = 0, size = 0;
};

/// A KV cache (B, heads, p, size) and what is new (B, heads, n, size): (B, heads, p + n, size).
struct GraphAppend {};

/// Which of T positions each of the last n sees: itself and those before, `window` at most (0 =
/// all), none that the mask (B, T) has as 0. Inputs: ids (B, n), mask. (B, 1, 1, n, T)
struct GraphCausalMask {
  std::int64_t window = 0;
};

/// Inputs: queries (B, heads, n, size), keys and values (B, KV heads, T, size), GraphCausalMask's
/// output. (B, n, heads·size)
struct GraphAttention {
  std::int64_t heads = 1, kv_heads = 1, size = 1;
};

}  // namespace ubique::engine
