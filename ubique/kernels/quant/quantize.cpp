// SPDX-License-Identifier: Apache-2.0
// Quantises weights on the CPU, on all threads, and converts them from and to GGUF's blocks.
#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>

#include "ubique/base/error.h"
#include "ubique/io/graphs/gguf_blocks.h"
#include "ubique/kernels/dispatch/autograd.h"
#include "ubique/kernels/host/host_threads.h"
#include "ubique/kernels/quant/host_weight.h"
#include "ubique/kernels/quant/nf4.h"
#include "ubique/kernels/quant/quantized_weight.h"

namespace ubique::kernels {
namespace {

constexpr std::size_t kBlockValues = io::kGgufBlockValues;

/// Calls work(i) for 0 <= i < count, split over the threads.
template <typename Work>
void for_each_block(std::int64_t count, const Work& work) {
  const auto threads = host_threads();
  on_host_threads([&](std::int64_t thread) {
    const auto end = count * (thread + 1) / threads;
    for (auto i = count * thread / threads; i < end; ++i) work(i);
  });
}

std::span<const std::int8_t> stored_values(const io::Q8Block& block) { return block.values; }
std::span<const std::uint8_t> stored_values(const io::Q4Block& block) { return block.nibbles; }
std::span<std::int8_t> stored_values(io::Q8Block& block) { return block.values; }
std::span<std::uint8_t> stored_values(io::Q4Block& block) { return block.nibbles; }

/// A weight of groups whose packed values and scales are still to be filled.
template <typename Block>
QuantizedWeight empty_groups(std::int64_t rows, std::int64_t columns) {
  constexpr bool kInt8 = std::is_same_v<Block, io::Q8Block>;
  const auto group = static_cast<std::int64_t>(kBlockValues);
  QuantizedWeight weight{
      .format = kInt8 ? QuantFormat::Int8 : QuantFormat::Int4, .rows = rows, .columns = columns};
  weight.packed = at::empty({rows, kInt8 ? columns : columns / 2},
                            at::TensorOptions(kInt8 ? at::kChar : at::kByte));
  weight.scales = at::empty({rows, columns / group}, at::TensorOptions(at::kHalf));
  return weight;
}

/// Packed values and scales from the blocks that make(i) gives.
template <typename Block, typename Make>
QuantizedWeight groups_from(std::int64_t rows, std::int64_t columns, const Make& make) {
  auto weight = empty_groups<Block>(rows, columns);
  auto* values = static_cast<char*>(weight.packed.mutable_data_ptr());
  auto* scales = static_cast<char*>(weight.scales.mutable_data_ptr());
  for_each_block(weight.scales.numel(), [&](std::int64_t i) {
    const Block block = make(i);
    const auto stored = stored_values(block);
    const auto at = static_cast<std::size_t>(i);
    std::memcpy(values + at * stored.size(), stored.data(), stored.size());
    std::memcpy(scales + at * sizeof(block.scale), &block.scale, sizeof(block.scale));
  });
  return weight;
}

template <typename Block>
QuantizedWeight from_blocks(std::int64_t rows, std::int64_t columns,
                            std::span<const std::byte> blocks) {
  return groups_from<Block>(rows, columns, [&](std::int64_t i) {
    Block block;
    std::memcpy(&block, blocks.data() + static_cast<std::size_t>(i) * sizeof block, sizeof block);
    return block;
  });
}

template <typename Block>
std::vector<std::byte> to_blocks(const QuantizedWeight& weight) {
  const auto packed = weight.packed.cpu().contiguous(), scales = weight.scales.cpu().contiguous();
  const auto* values = static_cast<const char*>(packed.const_data_ptr());
  const auto* factors = static_cast<const char*>(scales.const_data_ptr());
  std::vector<std::byte> out(static_cast<std::size_t>(scales.numel()) * sizeof(Block));
  for_each_block(scales.numel(), [&](std::int64_t i) {
    Block block;
    const auto stored = stored_values(block);
    const auto at = static_cast<std::size_t>(i);
    std::memcpy(stored.data(), values + at * stored.size(), stored.size());
    std::memcpy(&block.scale, factors + at * sizeof(block.scale), sizeof(block.scale));
    std::memcpy(out.data() + at * sizeof block, &block, sizeof block);
  });
  return out;
}

/// Replaces the f32 scales by indices, factors and the mean that was taken off.
void quantize_nf4_scales(QuantizedWeight& weight) {
  weight.scale_mean = weight.scales.mean().reshape({1});
  const auto centred = weight.scales - weight.scale_mean;
  const auto blocks = centred.numel();
  const std::span values(centred.const_data_ptr<float>(), static_cast<std::size_t>(blocks));
  weight.scales = at::empty({blocks}, at::TensorOptions(at::kByte));
  const std::span indices(weight.scales.mutable_data_ptr<std::uint8_t>(), values.size());
  weight.scale_factors =
      at::empty({(blocks + kNf4ScaleBlock - 1) / kNf4ScaleBlock}, at::TensorOptions(at::kFloat));
  auto* factors = weight.scale_factors.mutable_data_ptr<float>();
  for (std::int64_t i = 0; i * kNf4ScaleBlock < blocks; ++i) {
    const auto first = static_cast<std::size_t>(i * kNf4ScaleBlock);
    const auto count = std::min<std::size_t>(kNf4ScaleBlock, values.size() - first);
    factors[i] = quantize_scales(values.subspan(first, count), indices.subspan(first, count));
  }
  weight.scale_code = at::empty({256}, at::TensorOptions(at::kFloat));
  std::copy(scale_code().begin(), scale_code().end(), weight.scale_code.mutable_data_ptr<float>());
}

QuantizedWeight quantize_to_nf4(const at::Tensor& values, bool double_quantized) {
  QuantizedWeight weight{
      .format = QuantFormat::Nf4, .rows = values.size(0), .columns = values.size(1)};
  const auto blocks = values.numel() / kNf4Block;
  weight.packed = at::empty({values.numel() / 2}, at::TensorOptions(at::kByte));
  weight.scales = at::empty({blocks}, at::TensorOptions(at::kFloat));
  const auto* from = values.const_data_ptr<float>();
  auto* to = weight.packed.mutable_data_ptr<std::uint8_t>();
  auto* scales = weight.scales.mutable_data_ptr<float>();
  for_each_block(blocks, [&](std::int64_t i) {
    scales[i] = quantize_nf4(std::span(from + i * kNf4Block, kNf4Block),
                             std::span(to + i * kNf4Block / 2, kNf4Block / 2));
  });
  if (double_quantized) quantize_nf4_scales(weight);
  return weight;
}

}  // namespace

QuantizedWeight quantize(const at::Tensor& weight, QuantFormat format, bool double_quantized) {
  check(weight.dim() == 2 && weight.is_floating_point(), ErrorKind::Internal,
        "[kernels.quantize] expected a matrix of floating-point numbers; got {} dimensions.",
        weight.dim());
  check_quantizable(format, weight.size(0), weight.size(1));
  const PlainTensors plain;
  const auto values = weight.detach().to(at::kCPU).to(at::kFloat).contiguous();
  const auto block = [&](std::int64_t i) {
    return std::span<const float, kBlockValues>(
        values.const_data_ptr<float>() + i * static_cast<std::int64_t>(kBlockValues), kBlockValues);
  };
  QuantizedWeight result;
  if (format == QuantFormat::Int8) {
    result = groups_from<io::Q8Block>(values.size(0), values.size(1),
                                      [&](std::int64_t i) { return io::quantize_q8_0(block(i)); });
  } else if (format == QuantFormat::Int4) {
    result = groups_from<io::Q4Block>(values.size(0), values.size(1),
                                      [&](std::int64_t i) { return io::quantize_q4_0(block(i)); });
  } else {
    result = quantize_to_nf4(values, double_quantized);
  }
  return complete(std::move(result)).to(weight.device());
}

std::vector<std::byte> to_gguf_blocks(const QuantizedWeight& weight) {
  check(weight.format != QuantFormat::Nf4, ErrorKind::Internal,
        "[kernels.quantize] GGUF has no blocks for nf4; expected int8 or int4.");
  return weight.format == QuantFormat::Int8 ? to_blocks<io::Q8Block>(weight)
                                            : to_blocks<io::Q4Block>(weight);
}

QuantizedWeight from_gguf_blocks(io::GgufType type, std::int64_t rows, std::int64_t columns,
                                 std::span<const std::byte> blocks) {
  const bool int8 = type == io::GgufType::Q8_0;
  check(int8 || type == io::GgufType::Q4_0, ErrorKind::Internal,
        "[kernels.quantize] no quantised weight from {}; expected Q8_0 or Q4_0.",
        io::to_string(type));
  check_quantizable(int8 ? QuantFormat::Int8 : QuantFormat::Int4, rows, columns);
  const auto size = io::gguf_byte_count(type, {rows, columns});
  check(size && *size == blocks.size(), ErrorKind::Internal,
        "[kernels.quantize] blocks of the wrong size; got {} bytes for ({}, {}).", blocks.size(),
        rows, columns);
  return complete(int8 ? from_blocks<io::Q8Block>(rows, columns, blocks)
                       : from_blocks<io::Q4Block>(rows, columns, blocks));
}

}  // namespace ubique::kernels
