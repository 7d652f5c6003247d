// SPDX-License-Identifier: Apache-2.0
// Attention of a pass: queries and keys normed and rotated, keys and values stored in the caches,
// and each position's look at what is before it.
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ubique/nn/decode/host_pass.h"

namespace ubique::nn {
namespace {

/// The values of one head at one position of a cache: data in the cache's dtype.
std::int64_t cache_offset(const at::Tensor& cache, std::int64_t slot, std::int64_t head,
                          std::int64_t position) {
  return ((slot * cache.size(1) + head) * cache.size(2) + position) * cache.size(3);
}

void store_head(const float* from, std::int64_t offset, const at::Tensor& cache) {
  const auto size = cache.size(3);
  if (cache.scalar_type() == at::kFloat) {
    std::copy_n(from, size, cache.mutable_data_ptr<float>() + offset);
    return;
  }
  auto* to = cache.mutable_data_ptr<at::BFloat16>() + offset;
  for (std::int64_t i = 0; i < size; ++i) to[i] = from[i];
}

kernels::HostValues cached_from(const at::Tensor& cache, std::int64_t offset) {
  if (cache.scalar_type() == at::kFloat) return {cache.const_data_ptr<float>() + offset, false};
  return {cache.const_data_ptr<at::BFloat16>() + offset, true};
}

/// Rotates the first values of a head by the tables' row, halves against each other.
void rotate_head(float* head, const float* cos, const float* sin, std::int64_t size) {
  const auto half = size / 2;
  for (std::int64_t i = 0; i < half; ++i) {
    const float first = head[i], second = head[i + half];
    head[i] = first * cos[i] - second * sin[i];
    head[i + half] = second * cos[i + half] + first * sin[i + half];
  }
}

}  // namespace

/// Where queries, keys and values are after the products.
void HostStep::Pass::set_heads() {
  const auto size = network_.head_size;
  const auto queries = network_.heads * size, keys = network_.kv_heads * size;
  float* first = buffers_.qkv.data();
  const bool fused = network_.blocks.front().qkv.size() == 1;
  const auto row = queries + 2 * keys;
  if (fused && network_.by_head) {
    queries_ = {first, row, 3 * size};
    keys_ = {first + size, row, 3 * size};
    values_ = {first + 2 * size, row, 3 * size};
  } else if (fused) {
    queries_ = {first, row, size};
    keys_ = {first + queries, row, size};
    values_ = {first + queries + keys, row, size};
  } else {
    queries_ = {first, queries, size};
    keys_ = {first + rows_ * queries, keys, size};
    values_ = {first + rows_ * (queries + keys), keys, size};
  }
}

void HostStep::Pass::prepare_head(float* head, const at::Tensor& norm,
                                  std::int64_t position) const {
  if (norm.defined()) {
    kernels::host_loops().normalize({.x = head,
                                     .weight = norm.const_data_ptr<float>(),
                                     .size = network_.head_size,
                                     .center = false,
                                     .epsilon = static_cast<float>(network_.epsilon),
                                     .out = head});
  }
  if (network_.cos.defined()) {
    const auto size = network_.cos.size(1);
    rotate_head(head, network_.cos.const_data_ptr<float>() + position * size,
                network_.sin.const_data_ptr<float>() + position * size, size);
  }
}

void HostStep::Pass::place_keys(const HostBlock& block, const KvCache& cache, std::int64_t row) {
  const auto& token = tokens_[static_cast<std::size_t>(row)];
  for (std::int64_t h = 0; h < network_.heads; ++h) {
    prepare_head(queries_.at(row, h), block.q_norm, token.position);
  }
  for (std::int64_t h = 0; h < network_.kv_heads; ++h) {
    prepare_head(keys_.at(row, h), block.k_norm, token.position);
    const auto offset = cache_offset(cache.keys, token.slot, h, token.position);
    store_head(keys_.at(row, h), offset, cache.keys);
    store_head(values_.at(row, h), offset, cache.values);
  }
}

/// Query heads that read the same keys stay together, unless threads would have nothing to do.
void HostStep::Pass::attend(const HostBlock& block, const KvCache& cache) {
  const auto group = network_.heads / network_.kv_heads, size = network_.head_size;
  const auto least =
      (team_.threads() + rows_ * network_.kv_heads - 1) / (rows_ * network_.kv_heads);
  const auto parts = std::min(group, std::max(least, (group + kernels::kMostAttendedHeads - 1) /
                                                         kernels::kMostAttendedHeads));
  team_.each(rows_ * network_.kv_heads * parts, [&](std::int64_t i) {
    const auto part = i % parts, kv_head = i / parts % network_.kv_heads;
    const auto row = i / parts / network_.kv_heads;
    const auto begin = group * part / parts, end = group * (part + 1) / parts;
    const auto head = kv_head * group + begin;
    const auto& token = tokens_[static_cast<std::size_t>(row)];
    const auto seen = token.position + 1;
    const auto offset = cache_offset(cache.keys, token.slot, kv_head, 0);
    kernels::host_loops().attend(
        {.queries = queries_.at(row, head),
         .keys = cached_from(cache.keys, offset),
         .values = cached_from(cache.values, offset),
         .first = block.window > 0 ? std::max<std::int64_t>(0, seen - block.window) : 0,
         .end = seen,
         .heads = end - begin,
         .size = size,
         .query_stride = queries_.head,
         .scale = 1 / std::sqrt(static_cast<float>(size)),
         .out = buffers_.mixed.data() + (row * network_.heads + head) * size});
  });
}

/// From the norm to the branch in `attended`.
void HostStep::Pass::attention(std::size_t layer) {
  const auto& block = network_.blocks[layer];
  const auto& cache = caches_[layer];
  const auto& qkv = block.qkv;
  if (qkv.size() == 1) {
    const Product fused{qkv.front(), queries_.first};
    multiply({&fused, 1}, buffers_.normed.data());
  } else {
    const Product parts[] = {
        {qkv[0], queries_.first}, {qkv[1], keys_.first}, {qkv[2], values_.first}};
    multiply(parts, buffers_.normed.data());
  }
  team_.each(rows_, [&](std::int64_t row) { place_keys(block, cache, row); });
  attend(block, cache);
  const auto width = network_.heads * network_.head_size;
  team_.each(rows_, [&](std::int64_t row) {
    quantize(block.output, buffers_.mixed.data() + row * width, row, 0, width);
  });
  const Product output{block.output, buffers_.attended.data()};
  multiply({&output, 1}, buffers_.mixed.data());
}

}  // namespace ubique::nn
