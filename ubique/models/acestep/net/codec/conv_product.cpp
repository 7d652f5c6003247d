// SPDX-License-Identifier: Apache-2.0
// Rows of all taps of all channels, times the weight.
#include "ubique/models/acestep/net/codec/conv_product.h"

#include <ATen/ATen.h>

namespace ubique::acestep {
namespace {

/// The same bytes of channels, eight in a value where they can be: a copy of taps takes as long as
/// it has values.
at::Tensor in_words(const at::Tensor& x) {
  const auto each = 8 / static_cast<std::int64_t>(x.element_size());
  return each > 0 && x.size(-1) % each == 0 ? x.view(at::kLong) : x;
}

}  // namespace

bool prefers_product(const at::Tensor& weight) {
  constexpr std::int64_t kManyChannels = 512;
  return weight.scalar_type() == at::kHalf && weight.size(1) >= kManyChannels && weight.size(2) > 1;
}

at::Tensor conv_product(const at::Tensor& x, const nn::WeightAndBias& weights,
                        std::int64_t dilation) {
  const auto batch = x.size(0), channels = x.size(1), length = x.size(3);
  const auto taps = weights.weight.size(2), side = (taps - 1) * dilation / 2;
  const auto rows = x.squeeze(2).transpose(1, 2);  // (B, L, C)
  const auto padded = at::constant_pad_nd(rows, {0, 0, side, side}).contiguous();
  const auto words = in_words(padded);
  const auto each = words.size(2);
  const auto columns =
      words.as_strided({batch, length, taps, each}, {words.stride(0), each, dilation * each, 1});
  const auto copies = columns.reshape({batch * length, taps * each}).view(x.scalar_type());
  const auto matrix = weights.weight.transpose(1, 2).flatten(1).t();  // (taps·C, out)
  const auto y =
      weights.bias.defined() ? at::addmm(weights.bias, copies, matrix) : at::mm(copies, matrix);
  return y.unflatten(0, {batch, length}).transpose(1, 2).unsqueeze(2);
}

}  // namespace ubique::acestep
