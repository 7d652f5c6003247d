// SPDX-License-Identifier: Apache-2.0
// Saves, loads, moves and restores quantised weights.
#include "ubique/kernels/quant/quantized_weight.h"

#include <ATen/ATen.h>

#include "ubique/base/error.h"
#include "ubique/io/graphs/gguf_blocks.h"
#include "ubique/kernels/dispatch/autograd.h"
#include "ubique/kernels/quant/host_weight.h"
#include "ubique/kernels/quant/nf4.h"
#include "ubique/kernels/quant/restore.h"

namespace ubique::kernels {
namespace {

constexpr std::int64_t kGroup = static_cast<std::int64_t>(io::kGgufBlockValues);

struct FormatName {
  QuantFormat format;
  std::string_view name;
};
constexpr FormatName kFormatNames[] = {
    {QuantFormat::Int8, "int8"}, {QuantFormat::Int4, "int4"}, {QuantFormat::Nf4, "nf4"}};

at::Tensor make_nf4_pairs(c10::Device device) {
  auto pairs = at::empty({256, 2}, at::TensorOptions(at::kFloat));
  auto* values = pairs.mutable_data_ptr<float>();
  for (std::size_t byte = 0; byte < 256; ++byte) {
    values[2 * byte] = nf4_code()[byte >> 4U];
    values[2 * byte + 1] = nf4_code()[byte & 15U];
  }
  return pairs.to(device);
}

at::Tensor int4_values(const QuantizedWeight& weight) {
  const auto bytes =
      weight.packed.view({weight.rows, weight.columns / kGroup, kGroup / 2}).to(at::kFloat);
  const auto high = at::floor(bytes * 0.0625);  // exact, and there is no shift on every device
  return at::cat({bytes - high * 16, high}, 2) - 8;
}

struct Expected {
  std::string name;
  at::ScalarType dtype;
  std::vector<std::int64_t> shape;
};

std::vector<Expected> expected_tensors(QuantFormat format, std::int64_t rows, std::int64_t columns,
                                       bool double_quantized) {
  if (format == QuantFormat::Int8) {
    return {{"packed", at::kChar, {rows, columns}},
            {"scales", at::kHalf, {rows, columns / kGroup}}};
  }
  if (format == QuantFormat::Int4) {
    return {{"packed", at::kByte, {rows, columns / 2}},
            {"scales", at::kHalf, {rows, columns / kGroup}}};
  }
  const auto blocks = rows * columns / kNf4Block;
  if (!double_quantized) {
    return {{"packed", at::kByte, {rows * columns / 2}}, {"scales", at::kFloat, {blocks}}};
  }
  return {{"packed", at::kByte, {rows * columns / 2}},
          {"scales", at::kByte, {blocks}},
          {"scale_code", at::kFloat, {256}},
          {"scale_factors", at::kFloat, {(blocks + kNf4ScaleBlock - 1) / kNf4ScaleBlock}},
          {"scale_mean", at::kFloat, {1}}};
}

at::Tensor* member(QuantizedWeight& weight, const std::string& name) {
  if (name == "packed") return &weight.packed;
  if (name == "scales") return &weight.scales;
  if (name == "scale_code") return &weight.scale_code;
  if (name == "scale_factors") return &weight.scale_factors;
  return &weight.scale_mean;
}

}  // namespace

std::string_view to_string(QuantFormat format) {
  for (const auto& [known, name] : kFormatNames) {
    if (known == format) return name;
  }
  fail(ErrorKind::Internal, "[kernels.quantize] no such format.");
}

std::optional<QuantFormat> parse_quant_format(std::string_view text) {
  for (const auto& [format, name] : kFormatNames) {
    if (name == text) return format;
  }
  return std::nullopt;
}

at::Tensor nf4_scales(const QuantizedWeight& weight) {
  if (!weight.double_quantized()) return weight.scales;
  const auto blocks = weight.scales.numel();
  const auto factors = weight.scale_factors.unsqueeze(1).expand({-1, kNf4ScaleBlock}).reshape({-1});
  const auto decoded = weight.scale_code.index_select(0, weight.scales.to(at::kInt));
  return decoded * factors.slice(0, 0, blocks) + weight.scale_mean;
}

bool is_quantizable(QuantFormat format, std::int64_t rows, std::int64_t columns) {
  const bool nf4 = format == QuantFormat::Nf4;
  return rows > 0 && columns > 0 && (nf4 ? rows * columns % kNf4Block : columns % kGroup) == 0;
}

double bytes_each(QuantFormat format, bool double_quantized) {
  const double packed = format == QuantFormat::Int8 ? 1 : 0.5;
  if (format != QuantFormat::Nf4) return packed + 2.0 / static_cast<double>(kGroup);  // f16 scales
  const auto block = static_cast<double>(kNf4Block);
  return packed + (double_quantized ? 1 / block + 4 / (block * 256) : 4 / block);
}

void check_quantizable(QuantFormat format, std::int64_t rows, std::int64_t columns) {
  const bool nf4 = format == QuantFormat::Nf4;
  const auto unit = nf4 ? kNf4Block : kGroup;
  check(is_quantizable(format, rows, columns), ErrorKind::Input,
        "[kernels.quantize] {} cannot hold this weight; got ({}, {}), expected {} that is a "
        "multiple of {}. Keep it in 16 bits.",
        to_string(format), rows, columns, nf4 ? "a size" : "an input", unit);
}

QuantizedWeight complete(QuantizedWeight weight) {
  if (weight.format == QuantFormat::Nf4) weight.nf4_pairs = make_nf4_pairs(weight.packed.device());
  weight.host = std::make_shared<HostCache>();
  return weight;
}

std::int64_t QuantizedWeight::bytes() const {
  std::int64_t sum = 0;
  for (const auto& [name, tensor] : saved_tensors(*this)) {
    sum += static_cast<std::int64_t>(tensor.nbytes());
  }
  return sum;
}

QuantizedWeight QuantizedWeight::to(c10::Device device) const {
  if (device == packed.device()) return *this;
  auto moved = *this;
  for (const auto& [name, tensor] : saved_tensors(*this)) {
    *member(moved, name) = tensor.to(device);
  }
  return complete(std::move(moved));
}

at::Tensor dequantize(const QuantizedWeight& weight, at::ScalarType dtype) {
  if (auto restored = restore_on_device(weight, dtype); restored.defined()) return restored;
  return restore_by_ops(weight, dtype);
}

at::Tensor restore_by_ops(const QuantizedWeight& weight, at::ScalarType dtype) {
  const PlainTensors plain;
  at::Tensor values, scales;
  if (weight.format == QuantFormat::Nf4) {
    values = weight.nf4_pairs.index_select(0, weight.packed.to(at::kInt)).view({-1, kNf4Block});
    scales = nf4_scales(weight).unsqueeze(1);
  } else {
    values =
        weight.format == QuantFormat::Int4
            ? int4_values(weight)
            : weight.packed.view({weight.rows, weight.columns / kGroup, kGroup}).to(at::kFloat);
    scales = weight.scales.to(at::kFloat).unsqueeze(2);
  }
  return values.mul_(scales).view({weight.rows, weight.columns}).to(dtype);
}

NamedTensorList saved_tensors(const QuantizedWeight& weight) {
  NamedTensorList tensors = {{"packed", weight.packed}, {"scales", weight.scales}};
  if (weight.double_quantized()) {
    tensors.emplace_back("scale_code", weight.scale_code);
    tensors.emplace_back("scale_factors", weight.scale_factors);
    tensors.emplace_back("scale_mean", weight.scale_mean);
  }
  return tensors;
}

QuantizedWeight load_quantized(QuantFormat format, std::int64_t rows, std::int64_t columns,
                               const std::function<at::Tensor(const std::string&)>& find) {
  check(rows < (1LL << 31) && columns < (1LL << 31), ErrorKind::Input,
        "[kernels.load_quantized] a weight is too large; got ({}, {}).", rows, columns);
  check_quantizable(format, rows, columns);
  QuantizedWeight weight{.format = format, .rows = rows, .columns = columns};
  const bool twice = format == QuantFormat::Nf4 && find("scale_code").defined();
  for (const auto& expected : expected_tensors(format, rows, columns, twice)) {
    const auto tensor = find(expected.name);
    check(tensor.defined(), ErrorKind::Input,
          "[kernels.load_quantized] the tensor '{}' of a {} weight is missing.", expected.name,
          to_string(format));
    check(
        tensor.scalar_type() == expected.dtype && tensor.sizes() == expected.shape,
        ErrorKind::Input,
        "[kernels.load_quantized] the tensor '{}' does not fit a {} weight ({}, {}); got {} [{}], "
        "expected {} [{}].",
        expected.name, to_string(format), rows, columns, c10::toString(tensor.scalar_type()),
        fmt::join(tensor.sizes(), ", "), c10::toString(expected.dtype),
        fmt::join(expected.shape, ", "));
    *member(weight, expected.name) = tensor.contiguous();
  }
  return complete(std::move(weight));
}

}  // namespace ubique::kernels
