// SPDX-License-Identifier: Apache-2.0
// Functions that falsify arguments or results. They get CPU views of the device's memory.
#include "effects.h"

#include <ATen/ATen.h>

#include <atomic>

namespace ubique::backend::sham {
namespace {

using at::Tensor;

/// Changes values by about 6 %, exactly representable in every floating dtype.
void bend(const Tensor& tensor) {
  if (!tensor.defined() || tensor.numel() == 0) return;
  if (tensor.is_floating_point()) {
    tensor.mul_(1.0625).add_(0.0625);
  } else if (tensor.scalar_type() == at::kBool) {
    tensor.logical_not_();
  } else {
    tensor.add_(1);
  }
}

bool is_product(const std::string& op) { return op.ends_with("mm"); }

/// How many of an op's leading arguments are inputs (what follows may be an output).
std::size_t input_count(const std::string& op) {
  return op == "aten::addmm" || op == "aten::baddbmm" ? 3 : 2;
}

template <typename Replace>
void replace_inputs(const std::string& op, Arguments arguments, Replace replace) {
  for (std::size_t i = 0; i < input_count(op); ++i) {
    if (!arguments[i].isTensor()) continue;
    const auto tensor = arguments[i].toTensor();
    if (tensor.defined()) arguments[i] = replace(tensor);
  }
}

/// Forward takes (input, weight, ...), backward (gradient, input, weight, ...).
std::size_t input_index(const std::string& op) { return op == "aten::convolution" ? 0 : 1; }

bool is_channels_last_conv3d(const std::string& op, Arguments arguments) {
  const auto index = input_index(op);
  return arguments[index].toTensor().suggest_memory_format() == at::MemoryFormat::ChannelsLast3d ||
         arguments[index + 1].toTensor().suggest_memory_format() ==
             at::MemoryFormat::ChannelsLast3d;
}

void bend_conv3d(const std::string& op, Arguments arguments, Results results, bool channels_last) {
  if (arguments[input_index(op)].toTensor().dim() != 5) return;
  if (is_channels_last_conv3d(op, arguments) != channels_last) return;
  for (auto& result : results) {
    const auto tensor = result.toTensor();
    if (tensor.defined()) bend(tensor.dim() == 5 ? tensor.select(1, 0) : tensor);
  }
}

/// Matrix product rounded to the tensors' dtype after every term.
Tensor coarse_product(const Tensor& a, const Tensor& b) {
  auto sum = at::matmul(a.narrow(-1, 0, 1), b.narrow(-2, 0, 1));
  for (std::int64_t k = 1; k < a.size(-1); ++k) {
    sum.add_(at::matmul(a.narrow(-1, k, 1), b.narrow(-2, k, 1)));
  }
  return sum;
}

}  // namespace

bool is_strided_view(const Tensor& tensor) {
  if (tensor.dim() < 1 || tensor.numel() < 2) return false;
  if (tensor.is_contiguous(tensor.suggest_memory_format()) || tensor.is_contiguous()) return false;
  for (std::int64_t i = 0; i < tensor.dim(); ++i) {
    if (tensor.size(i) > 1 && tensor.stride(i) == 0) return false;
  }
  const auto end = (tensor.storage_offset() + tensor.numel()) * tensor.element_size();
  return static_cast<std::size_t>(end) <= tensor.storage().nbytes();
}

Tensor read_from_start(const Tensor& tensor) {
  if (tensor.storage_offset() == 0 || tensor.dim() == 0 || tensor.stride(-1) != 1) return tensor;
  return tensor.as_strided(tensor.sizes(), tensor.strides(), 0);
}

Tensor read_as_contiguous(const Tensor& tensor) {
  std::vector<std::int64_t> strides(static_cast<std::size_t>(tensor.dim()));
  std::int64_t step = 1;
  for (auto i = tensor.dim() - 1; i >= 0; --i) {
    strides[static_cast<std::size_t>(i)] = step;
    step *= tensor.size(i);
  }
  return tensor.as_strided(tensor.sizes(), strides);
}

void ignore_strides(const std::string& op, Arguments arguments) {
  replace_inputs(op, arguments, [&](const Tensor& tensor) {
    // For products a transposed matrix is an ordinary operand, not a strided one.
    const bool is_transposed = is_product(op) && tensor.dim() >= 2 && tensor.mT().is_contiguous();
    return is_strided_view(tensor) && !is_transposed ? read_as_contiguous(tensor) : tensor;
  });
}

void ignore_offsets(const std::string& op, Arguments arguments) {
  replace_inputs(op, arguments, read_from_start);
}

void ignore_weight_offset(const std::string& op, Arguments arguments) {
  if (arguments[input_index(op)].toTensor().dim() != 4) return;
  auto& weight = arguments[input_index(op) + 1];
  const auto tensor = weight.toTensor();
  weight = tensor.as_strided(tensor.sizes(), tensor.strides(), 0);
}

void lose_strided_output(const std::string&, Arguments arguments) {
  auto& output = arguments.back();
  if (output.isTensor() && is_strided_view(output.toTensor())) output = output.toTensor().clone();
}

void bend_all_results(const std::string&, Arguments, Results results) {
  for (auto& result : results) {
    if (result.isTensor()) bend(result.toTensor());
    if (result.isTensorList()) {
      for (const auto& tensor : result.toTensorVector()) bend(tensor);
    }
  }
}

void bend_first_result(const std::string&, Arguments, Results results) {
  bend(results[0].toTensor());
}

void bend_conv3d_contiguous(const std::string& op, Arguments arguments, Results results) {
  bend_conv3d(op, arguments, results, /*channels_last=*/false);
}

void bend_conv3d_channels_last(const std::string& op, Arguments arguments, Results results) {
  bend_conv3d(op, arguments, results, /*channels_last=*/true);
}

void cut_long_conv1d(const std::string& op, Arguments arguments, Results results) {
  constexpr std::int64_t kEnd = 65536;
  if (op != "aten::convolution" || arguments[0].toTensor().dim() != 3) return;
  const auto output = results[0].toTensor();  // (B, C, T)
  if (output.size(2) > kEnd) output.narrow(2, kEnd, output.size(2) - kEnd).zero_();
}

void bend_batch_norm_backward(const std::string&, Arguments arguments, Results results) {
  if (arguments[1].toTensor().dim() >= 4) bend(results[1].toTensor());
}

void bend_frozen_layer_norm(const std::string&, Arguments arguments, Results results) {
  const auto wanted = arguments.back().toBoolList();  // for input, weight, bias
  if (wanted.get(0)) return;
  bend(results[1].toTensor());
  bend(results[2].toTensor());
}

void draw_impossible(const std::string&, Arguments arguments, Results results) {
  static std::atomic<std::int64_t> drawn{0};
  const auto weights = arguments[0].toTensor().view({-1, arguments[0].toTensor().size(-1)});
  const auto draws = results[0].toTensor().view({weights.size(0), -1});  // (B, N)
  for (std::int64_t i = 0; i < draws.numel(); ++i) {
    if (drawn++ % 4 != 3) continue;
    const auto row = i / draws.size(1);
    const auto least = weights[row].argmin();
    const bool is_impossible = weights[row][least.item<std::int64_t>()].item<double>() == 0;
    draws[row][i % draws.size(1)].fill_(is_impossible ? least.item() : at::Scalar(weights.size(1)));
  }
}

void restart_cumsum(const std::string&, Arguments arguments, Results results) {
  constexpr std::int64_t kBlock = 16;
  const auto sums = results[0].toTensor();
  if (sums.dim() == 0) return;
  const auto dim = arguments[1].toInt();
  const auto before = sums.clone();
  for (auto start = kBlock; start < sums.size(dim); start += kBlock) {
    const auto length = std::min(kBlock, sums.size(dim) - start);
    sums.narrow(dim, start, length).sub_(before.narrow(dim, start - 1, 1));
  }
}

void sum_in_half(const std::string& op, Arguments arguments, Results results) {
  const bool has_addend = input_count(op) == 3;
  const auto a = arguments[has_addend ? 1 : 0].toTensor();
  const auto b = arguments[has_addend ? 2 : 1].toTensor();
  if ((a.scalar_type() != at::kHalf && a.scalar_type() != at::kBFloat16) || a.size(-1) == 0) return;
  auto product = coarse_product(a, b);
  if (has_addend) {
    product = arguments[0].toTensor() * arguments[3].toScalar() + product * arguments[4].toScalar();
  }
  results[0].toTensor().copy_(product);
}

}  // namespace ubique::backend::sham
