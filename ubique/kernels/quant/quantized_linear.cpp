// SPDX-License-Identifier: Apache-2.0
// The product with its autograd node, and the way of a few rows on a CPU.
#include "ubique/kernels/quant/quantized_linear.h"

#include <ATen/ATen.h>

#include <atomic>
#include <memory>

#include "ubique/base/error.h"
#include "ubique/kernels/dispatch/autograd.h"
#include "ubique/kernels/host/host_threads.h"
#include "ubique/kernels/quant/host_product.h"
#include "ubique/kernels/quant/nf4.h"

namespace ubique::kernels {
namespace {

constexpr std::int64_t kChunkBytes = 64 << 10;  // of the weight, that a thread takes at a time

class QuantizedLinear final : public torch::autograd::Node {
 public:
  explicit QuantizedLinear(QuantizedWeight weight) : weight_(std::move(weight)) {}
  std::string name() const override { return "ubique::QuantizedLinear"; }

 private:
  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    const PlainTensors plain;
    const auto& gradient = gradients[0];
    if (!gradient.defined()) return {at::Tensor(), at::Tensor()};
    at::Tensor of_x, of_bias;
    if (task_should_compute_output(0)) {
      of_x = at::matmul(gradient, dequantize(weight_, gradient.scalar_type()));
    }
    if (task_should_compute_output(1)) {
      of_bias = gradient.reshape({-1, weight_.rows}).sum(0);
    }
    return {of_x, of_bias};
  }

  QuantizedWeight weight_;
};

/// Calls work(begin, end) for chunks of [0, count); a thread that is slowed down takes fewer.
template <typename Work>
void in_chunks(std::int64_t count, std::int64_t item_bytes, const Work& work) {
  const auto chunk = std::max<std::int64_t>(1, kChunkBytes / item_bytes);
  if (count <= chunk || host_threads() == 1) return work(0, count);
  std::atomic<std::int64_t> next = 0;
  on_host_threads([&](std::int64_t) {
    for (;;) {
      const auto begin = next.fetch_add(chunk, std::memory_order_relaxed);
      if (begin >= count) return;
      work(begin, std::min(begin + chunk, count));
    }
  });
}

/// Adds the bias to some columns of all rows.
void add_bias(const float* bias, std::int64_t begin, std::int64_t end, std::int64_t rows,
              std::int64_t width, float* out) {
  if (bias == nullptr) return;
  for (std::int64_t row = 0; row < rows; ++row, out += width) {
    for (auto i = begin; i < end; ++i) out[i] += bias[i];
  }
}

at::Tensor multiply_groups(const at::Tensor& x, const QuantizedWeight& weight, const float* bias) {
  const auto& kernels = quant_kernels();
  const auto& host = host_weight(weight);
  const auto rows = x.size(0);
  const std::int32_t zero = weight.format == QuantFormat::Int8 ? 128 : 8;
  const auto buffer = at::empty({rows * host.groups * (32 + 4 + 4)}, at::TensorOptions(at::kByte));
  auto* memory = buffer.mutable_data_ptr<std::uint8_t>();
  Int8Rows int8{rows, host.groups, reinterpret_cast<std::int8_t*>(memory),
                reinterpret_cast<float*>(memory + rows * host.groups * 32),
                reinterpret_cast<std::int32_t*>(memory + rows * host.groups * 36)};
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto at = row * host.groups;
    kernels.quantize_row(x.const_data_ptr<float>() + at * 32, host.groups, zero,
                         int8.values + at * 32, int8.scales + at, int8.offsets + at);
  }
  auto result = at::empty({rows, weight.rows}, x.options());
  auto* out = result.mutable_data_ptr<float>();
  in_chunks(host.tiles, host.tile_bytes, [&](std::int64_t begin, std::int64_t end) {
    kernels.multiply_tiles({&host, &int8, out, begin, end});
    add_bias(bias, begin * kTileRows, std::min(end * kTileRows, weight.rows), rows, weight.rows,
             out);
  });
  return result;
}

at::Tensor multiply_blocks(const at::Tensor& x, const QuantizedWeight& weight, const float* bias) {
  const auto pairs = x.view({x.size(0), weight.columns / 2, 2});
  const auto even = pairs.select(2, 0).contiguous(), odd = pairs.select(2, 1).contiguous();
  const auto scales = nf4_scales(weight);
  auto result = at::empty({x.size(0), weight.rows}, x.options());
  Nf4Range range{.packed = weight.packed.const_data_ptr<std::uint8_t>(),
                 .scales = scales.const_data_ptr<float>(),
                 .code = nf4_code().data(),
                 .even = even.const_data_ptr<float>(),
                 .odd = odd.const_data_ptr<float>(),
                 .out = result.mutable_data_ptr<float>(),
                 .rows = x.size(0),
                 .columns = weight.columns,
                 .weight_rows = weight.rows};
  in_chunks(weight.rows, weight.columns / 2, [&](std::int64_t begin, std::int64_t end) {
    auto part = range;
    part.begin = begin;
    part.end = end;
    quant_kernels().multiply_nf4(part);
    add_bias(bias, begin, end, part.rows, part.weight_rows, part.out);
  });
  return result;
}

bool is_for_host(const at::Tensor& x, const QuantizedWeight& weight) {
  return x.is_cpu() && weight.packed.is_cpu() && x.numel() > 0 && x.is_floating_point() &&
         x.scalar_type() != at::kDouble && x.numel() <= kMostHostRows * weight.columns &&
         (weight.format != QuantFormat::Nf4 || weight.columns % kNf4Block == 0);
}

void check_shapes(const at::Tensor& x, const QuantizedWeight& weight, const at::Tensor& bias) {
  check(x.dim() >= 1 && x.size(-1) == weight.columns, ErrorKind::Internal,
        "[kernels.quantized_linear] the input does not fit the weight; got {} values, expected {}.",
        x.dim() >= 1 ? x.size(-1) : 0, weight.columns);
  check(!bias.defined() || (bias.dim() == 1 && bias.size(0) == weight.rows), ErrorKind::Internal,
        "[kernels.quantized_linear] the bias does not fit the weight; got {} values, expected {}.",
        bias.defined() ? bias.numel() : 0, weight.rows);
}

}  // namespace

at::ScalarType quantized_dtype(c10::Device device, at::ScalarType planned) {
  return device.is_cpu() ? at::kFloat : planned;
}

at::Tensor quantized_linear_reference(const at::Tensor& x, const QuantizedWeight& weight,
                                      const at::Tensor& bias) {
  check_shapes(x, weight, bias);
  at::Tensor result;
  {
    const PlainTensors plain;
    const auto added = bias.defined() ? bias.detach().to(x.scalar_type()) : bias;
    result = at::linear(x.detach(), dequantize(weight, x.scalar_type()), added);
  }
  if (wants_gradient(x) || wants_gradient(bias)) {
    attach(result, std::make_shared<QuantizedLinear>(weight), {x, bias});
  }
  return result;
}

at::Tensor quantized_linear(const at::Tensor& x, const QuantizedWeight& weight,
                            const at::Tensor& bias) {
  if (wants_gradient(x) || wants_gradient(bias) || !is_for_host(x, weight)) {
    return quantized_linear_reference(x, weight, bias);
  }
  check_shapes(x, weight, bias);
  const PlainTensors plain;
  const auto rows = x.reshape({-1, weight.columns}).to(at::kFloat).contiguous();
  const auto added = bias.defined() ? bias.to(at::kFloat).contiguous() : bias;
  const float* numbers = added.defined() ? added.const_data_ptr<float>() : nullptr;
  const auto result = weight.format == QuantFormat::Nf4 ? multiply_blocks(rows, weight, numbers)
                                                        : multiply_groups(rows, weight, numbers);
  auto shape = x.sizes().vec();
  shape.back() = weight.rows;
  return result.view(shape).to(x.scalar_type());
}

}  // namespace ubique::kernels
