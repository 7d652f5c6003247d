// SPDX-License-Identifier: Apache-2.0
// Contiguous or channels last: correctness first, then measured speed, then the default of the
// device's kind. The weight files are the same either way.
#include <fmt/format.h>

#include <algorithm>

#include "ubique/plan/rules/rules.h"

namespace ubique::plan {
namespace {

using device::Kind;
using probe::Layout;

/// The first fault of this layout among the model's 2-D and 3-D convolutions.
const probe::Verdict* layout_fault(const Context& context, DType dtype, Layout layout) {
  for (const int dims : {2, 3}) {
    if (!context.needs.has_conv(dims)) continue;
    const auto op = fmt::format("conv{}d", dims);
    if (const auto* fault = context.evidence.fault(op, dtype, layout)) return fault;
  }
  return nullptr;
}

bool layout_proven(const Context& context, DType dtype, Layout layout) {
  const auto proven = [&](int dims) {
    return !context.needs.has_conv(dims) ||
           context.evidence.proven(fmt::format("conv{}d", dims), dtype, layout);
  };
  return proven(2) && proven(3);
}

/// Summed over the model's kinds of convolution; 0 unless every one was timed.
double layout_time(const Context& context, DType dtype, Layout layout) {
  double sum = 0;
  for (const int dims : {2, 3}) {
    if (!context.needs.has_conv(dims)) continue;
    const double ms = context.evidence.time(fmt::format("conv{}d", dims), dtype, layout);
    if (ms <= 0) return 0;
    sum += ms;
  }
  return sum;
}

Choice<Layout> default_layout(const Context& context, DType dtype) {
  const bool flat = context.needs.has_conv(2) && !context.needs.has_conv(3);
  switch (context.facts.kind) {
    case Kind::Cuda:
      if (is_half(dtype)) {
        return {Layout::ChannelsLast,
                "not measured: default for CUDA in half precision, the tensor cores' own layout",
                {{"contiguous", "cuDNN would transpose around every convolution"}}};
      }
      return {Layout::Contiguous,
              "not measured: default for CUDA in f32",
              {{"channels_last", "gains nothing without tensor cores"}}};
    case Kind::Cpu:
      if (flat) {
        return {Layout::ChannelsLast,
                "not measured: default for 2-D convolutions on CPUs (oneDNN)",
                {{"contiguous", "oneDNN would reorder blocks for every convolution"}}};
      }
      return {Layout::Contiguous,
              "not measured: default for 3-D convolutions on CPUs",
              {{"channels_last", "ATen does not hand every 3-D shape to oneDNN"}}};
    case Kind::Mps:
      return {
          Layout::Contiguous,
          "not measured: default for Metal",
          {{"channels_last",
            "backward about 30 times slower for 2-D convolutions, and wrong on channel slices"}}};
    case Kind::Xpu:
      break;
  }
  return {Layout::Contiguous, "not measured: default", {{"channels_last", "not measured"}}};
}

/// 5 % is noise. On CUDA the probes' small extents time launches as much as arithmetic: MeshNet and
/// MSI-Net seem 1.4 times as fast in the layout that is 1.6 times as slow at their real sizes.
double least_gain(const Context& context) { return context.is(Kind::Cuda) ? 0.5 : 0.95; }

Choice<Layout> asked_layout(const Context& context, DType dtype, Layout layout) {
  if (const auto* fault = layout_fault(context, dtype, layout)) {
    fail(ErrorKind::Device,
         "[plan.layout] {} in {} on {} would be wrong: {}; got channels_last {}, "
         "expected auto.",
         to_string(layout), to_string(dtype), context.facts.label(), describe(*fault),
         to_string(context.wishes.channels_last));
  }
  return {layout, "as asked", {}};
}

}  // namespace

const probe::Verdict* conv_fault(const Context& context, DType dtype) {
  const auto* contiguous = layout_fault(context, dtype, Layout::Contiguous);
  const auto* last = layout_fault(context, dtype, Layout::ChannelsLast);
  if (contiguous == nullptr && last == nullptr) return nullptr;
  if (contiguous != nullptr && last != nullptr) return contiguous;
  // A layout that was not probed is no alternative to one that is known to be wrong.
  const auto other = contiguous != nullptr ? Layout::ChannelsLast : Layout::Contiguous;
  if (layout_proven(context, dtype, other)) return nullptr;
  return contiguous != nullptr ? contiguous : last;
}

Choice<std::int64_t> choose_padding(const Context& context, DType dtype) {
  const auto width = context.needs.pad_width;
  if (width == 0) return {1, "the model's channels stay as they are", {}};
  const auto multiple = channel_multiple(context.needs, context.facts.kind, dtype);
  if (multiple > 1) {
    return {multiple,
            fmt::format("tensor cores take channels in eights: {} become {}, the rest zeros", width,
                        (width + multiple - 1) / multiple * multiple),
            {{"1", "on an H200, 26 channels unpadded take 1.7 times as long"}}};
  }
  if (width % 8 == 0) return {1, fmt::format("{} channels are whole eights already", width), {}};
  return {1, "pays only for half precision on tensor cores", {}};
}

Choice<Layout> choose_layout(const Context& context, DType dtype) {
  if (!context.needs.has_conv(2) && !context.needs.has_conv(3)) {
    return {Layout::Contiguous, "no 2-D or 3-D convolution: the layout does not matter", {}};
  }
  const auto wish = context.wishes.channels_last;
  if (wish == Toggle::On) return asked_layout(context, dtype, Layout::ChannelsLast);
  if (wish == Toggle::Off) return asked_layout(context, dtype, Layout::Contiguous);

  auto choice = default_layout(context, dtype);
  const auto other = choice.value == Layout::Contiguous ? Layout::ChannelsLast : Layout::Contiguous;
  const auto name = std::string(to_string(choice.value));
  if (const auto* fault = layout_fault(context, dtype, choice.value)) {
    return {other, fmt::format("{} is wrong here", name), {{name, describe(*fault)}}};
  }
  if (const auto* fault = layout_fault(context, dtype, other)) {
    choice.reason = fmt::format("{} is wrong here", to_string(other));
    choice.rejected = {{std::string(to_string(other)), describe(*fault)}};
    return choice;
  }
  const double mine = layout_time(context, dtype, choice.value);
  const double theirs = layout_time(context, dtype, other);
  if (mine <= 0 || theirs <= 0) return choice;
  const auto times =
      fmt::format("{:.3g} ms against {:.3g} ms", std::min(mine, theirs), std::max(mine, theirs));
  if (theirs < least_gain(context) * mine) {
    return {other, "measured: " + times, {{name, "slower in the probes"}}};
  }
  choice.reason = mine <= theirs ? "measured: " + times : "measured: no clear difference, " + times;
  choice.rejected = {{std::string(to_string(other)), "not faster in the probes"}};
  return choice;
}

}  // namespace ubique::plan
