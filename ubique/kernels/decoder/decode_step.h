// SPDX-License-Identifier: Apache-2.0
// The parts of a decoding step of at most 16 texts, one new token each, that a device may provide:
// a kernel each, with nothing for the host to do between them. What a step writes is given to it,
// so that a recorded step finds it at the same place.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace ubique::kernels {

constexpr std::int64_t kMostDecodeRows = 16;
constexpr std::int64_t kDecodeSpan = 512;  ///< cached positions that are attended to at a time

enum class DecodeNorm { None, Rms, Layer };
enum class DecodeActivation { None, Silu, Gelu, GeluTanh };

/// True if the device of `weight` has the kernels for weights of its dtype and such heads.
bool does_decode_step(const at::Tensor& weight, std::int64_t rows, std::int64_t head_size);

/// x = tokens[ids] + positions[positions]: inputs (2, B) i64 are ids and positions, x (B, H).
/// `positions` may be empty (numel 0), as every tensor below that is called optional.
void decode_embed(const at::Tensor& inputs, const at::Tensor& tokens, const at::Tensor& positions,
                  const at::Tensor& x);

/// A linear layer and what is around it.
struct DecodeProduct {
  at::Tensor x = {};  // (B, in)
  DecodeNorm norm = DecodeNorm::None;
  at::Tensor norm_weight = {}, norm_bias = {};  // (in) f32, optional
  double epsilon = 1e-5;
  at::TensorList weights = {};  // (out, in) each, side by side; gate and up if it is gated
  at::TensorList biases = {};   // (out) f32 each, optional
  bool gated = false;           // activation(gate) · up
  DecodeActivation activation = DecodeActivation::None;
  at::Tensor residual = {};  // (B, out), optional: added at the end
  at::Tensor out = {};       // (B, out), in the dtype of x, or f32 with `best`
  at::Tensor best = {};      // (parts, B, 2) f32, optional: for decode_choose
};
void decode_product(const DecodeProduct& product);

/// Where the heads are in a row of the qkv product, in values.
struct DecodeHeads {
  std::int64_t heads = 1, kv_heads = 1, size = 64;
  bool by_head = false;  ///< query, key and value of each head together
};
struct DecodeAttention {
  at::Tensor qkv = {};                     // (B, (heads + 2 kv heads)·size)
  at::Tensor inputs = {};                  // (2, B) i64: ids and positions
  at::Tensor keys = {}, values = {};       // caches (B, kv heads, capacity, size)
  at::Tensor cos = {}, sin = {};           // (positions, r) f32, optional
  at::Tensor q_norm = {}, k_norm = {};     // (size) f32, optional: RMS norms of heads
  at::Tensor partial = {}, counters = {};  // decode_scratch()
  at::Tensor mixed = {};                   // (B, heads·size)
  DecodeHeads heads = {};
  std::int64_t window = 0;  // 0 = none
  double epsilon = 1e-5;
};
/// Stores the new key and value in the caches, and attends to what is before them.
void decode_attend(const DecodeAttention& attention);

/// Memory for the parts of long texts, f32 and i32, zero.
struct DecodeScratch {
  at::Tensor partial, counters;
};
DecodeScratch decode_scratch(const DecodeHeads& heads, std::int64_t rows, std::int64_t capacity,
                             c10::Device device);

/// From `best` of the head's product: likeliest (B, 2) f32, id and logit, and the inputs of the
/// step after this one, next (2, B) i64. A text that has reached `capacity` is repeated.
void decode_choose(const at::Tensor& best, const at::Tensor& inputs, std::int64_t capacity,
                   const at::Tensor& likeliest, const at::Tensor& next);

}  // namespace ubique::kernels
