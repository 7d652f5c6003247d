// SPDX-License-Identifier: Apache-2.0
// A weight matrix (out, in) kept in 8 or 4 bits. Restored by plain ATen ops on every device, or by
// a kernel of its own (restore.h).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ubique/io/graphs/gguf.h"

namespace ubique::kernels {

enum class QuantFormat {
  Int8,  ///< groups of 32 along the input with an f16 scale: the numbers of GGUF's Q8_0
  Int4,  ///< the same with 4 bits: the numbers of GGUF's Q4_0
  Nf4,   ///< blocks of 64 of the row-major weight with an f32 scale: bitsandbytes' NF4
};

std::string_view to_string(QuantFormat format);  ///< "int8"
std::optional<QuantFormat> parse_quant_format(std::string_view text);

struct HostCache;  // the layout of the CPU kernels, made at first use (host_weight.h)

struct QuantizedWeight {
  QuantFormat format = QuantFormat::Int8;
  std::int64_t rows = 0, columns = 0;  ///< out and in

  /// Int8: (rows, columns) i8. Int4: (rows, columns / 2) u8, for each group of 32 its 16 bytes as
  /// Q4_0 has them. Nf4: (rows * columns / 2) u8, the first of two weights in the high bits.
  at::Tensor packed = {};
  /// Int8, Int4: (rows, columns / 32) f16. Nf4: one f32 a block or, double quantised, one u8.
  at::Tensor scales = {};

  // Nf4, double quantised: scale = scale_code[scales] * scale_factors[block / 256] + scale_mean.
  at::Tensor scale_code = {};     ///< (256) f32
  at::Tensor scale_factors = {};  ///< f32
  at::Tensor scale_mean = {};     ///< (1) f32

  at::Tensor nf4_pairs = {};  ///< Nf4: (256, 2) f32, the two values of each byte; not saved
  std::shared_ptr<HostCache> host = {};

  bool double_quantized() const { return scale_code.defined(); }
  std::int64_t bytes() const;  ///< of all that is saved
  QuantizedWeight to(c10::Device device) const;
};

/// Can a weight of these sizes be quantised?
bool is_quantizable(QuantFormat format, std::int64_t rows, std::int64_t columns);
/// Stored bytes of a weight with its share of the scales.
double bytes_each(QuantFormat format, bool double_quantized = false);

/// On the weight's device; the work is done on the CPU. The weight (out, in) has any floating
/// dtype. Input error if its input is no multiple of 32 (Nf4: its size, of 64).
QuantizedWeight quantize(const at::Tensor& weight, QuantFormat format,
                         bool double_quantized = false);

/// (out, in) on the weight's device. Computed in f32, rounded once to a smaller dtype.
at::Tensor dequantize(const QuantizedWeight& weight, at::ScalarType dtype);

using NamedTensorList = std::vector<std::pair<std::string, at::Tensor>>;
/// What a file must hold: packed, scales and, double quantised, the three others.
NamedTensorList saved_tensors(const QuantizedWeight& weight);
/// Back from a file; `find` gives a tensor by that name, or an undefined one. Input error for
/// tensors that are missing or have another dtype or shape.
QuantizedWeight load_quantized(QuantFormat format, std::int64_t rows, std::int64_t columns,
                               const std::function<at::Tensor(const std::string&)>& find);

/// Int8 as blocks of Q8_0, Int4 as blocks of Q4_0, and back, without loss. Internal error for Nf4.
std::vector<std::byte> to_gguf_blocks(const QuantizedWeight& weight);
QuantizedWeight from_gguf_blocks(io::GgufType type, std::int64_t rows, std::int64_t columns,
                                 std::span<const std::byte> blocks);

}  // namespace ubique::kernels
