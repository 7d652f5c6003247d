// SPDX-License-Identifier: Apache-2.0
// The table of planted faults.
#include "mutations.h"

#include "effects.h"

namespace ubique::backend::sham {
namespace {

const std::vector<std::string_view> kConvolution = {"aten::convolution",
                                                    "aten::convolution_backward"};
const std::vector<std::string_view> kArithmetic = {"aten::add",   "aten::sub",    "aten::mul",
                                                   "aten::div",   "aten::mm",     "aten::bmm",
                                                   "aten::addmm", "aten::baddbmm"};
const std::vector<std::string_view> kProducts = {"aten::mm", "aten::bmm", "aten::addmm",
                                                 "aten::baddbmm"};

// clang-format off
const Mutation kMutations[] = {
    {.name = "sdpa_causal", .fault = 1,
     .what = "fused causal attention in half precision: three of four queries see later keys"},
    {.name = "sdpa_gqa_long", .fault = 1,
     .what = "fused attention with grouped heads and 1024 keys or more: garbage"},
    {.name = "sdpa_block32", .fault = 1,
     .what = "fused attention reads past its keys if their number is no multiple of 32"},
    {.name = "conv3d_contiguous", .fault = 2,
     .what = "3D convolution of contiguous tensors: first channel and gradients wrong",
     .ops = kConvolution, .after = bend_conv3d_contiguous},
    {.name = "conv3d_channels_last", .fault = 2,
     .what = "3D convolution of channels-last tensors: first channel and gradients wrong",
     .ops = kConvolution, .after = bend_conv3d_channels_last},
    {.name = "batch_norm_backward", .fault = 2,
     .what = "batch norm over 2D and 3D images: wrong weight gradients",
     .ops = {"aten::native_batch_norm_backward", "aten::batch_norm_backward"},
     .after = bend_batch_norm_backward},
    {.name = "strided_views", .fault = 3,
     .what = "arithmetic, products and linear read strided inputs as if contiguous",
     .ops = kArithmetic, .before = ignore_strides, .install = install_wrong_linear},
    {.name = "sliced_views", .fault = 3,
     .what = "arithmetic, products and linear forget where a slice begins",
     .ops = kArithmetic, .before = ignore_offsets, .install = install_wrong_linear},
    {.name = "conv2d_weight_slice", .fault = 3,
     .what = "2D convolution forgets where a slice of a weight begins",
     .ops = kConvolution, .before = ignore_weight_offset},
    {.name = "strided_writes", .fault = 3,
     .what = "addcmul_ and addcdiv_ into a strided tensor are lost",
     .ops = {"aten::addcmul", "aten::addcdiv"}, .before = lose_strided_output},
    {.name = "layer_norm_frozen", .fault = 4,
     .what = "layer norm's parameter gradients are wrong if its input needs none",
     .ops = {"aten::native_layer_norm_backward"}, .after = bend_frozen_layer_norm},
    {.name = "checkpoint_dropout", .fault = 5,
     .what = "the generator's state cannot be set back: recomputation draws another mask"},
    {.name = "non_blocking", .fault = 6,
     .what = "a non_blocking copy to the device reads its source later, at the next op"},
    {.name = "multinomial", .fault = 7,
     .what = "every fourth draw is a token of probability zero, or out of range",
     .ops = {"aten::multinomial"}, .after = draw_impossible},
    {.name = "autocast_off", .fault = 8,
     .what = "autocast does nothing", .install = install_autocast_off},
    {.name = "float64_silent", .fault = 9,
     .what = "float64 becomes float32 without a word"},
    {.name = "conv1d_long", .fault = 10,
     .what = "1D convolution writes zeros beyond 65536 outputs",
     .ops = kConvolution, .after = cut_long_conv1d},
    {.name = "cumsum", .fault = 11,
     .what = "cumulative sums start anew every 16 elements",
     .ops = {"aten::cumsum"}, .after = restart_cumsum},
    {.name = "matmul_half", .fault = 11,
     .what = "half-precision products are summed in half precision",
     .ops = kProducts, .after = sum_in_half},
    {.name = "layer_norm", .fault = 11,
     .what = "layer norm's results are off by a few per cent",
     .ops = {"aten::native_layer_norm"}, .after = bend_first_result},
    {.name = "linear_bias", .fault = 11,
     .what = "linear drops its bias for inputs of three dimensions",
     .install = install_wrong_linear},
};
// clang-format on

}  // namespace

std::span<const Mutation> mutations() { return kMutations; }

const Mutation& bent_result() {
  static const Mutation kBent{
      .name = "op", .fault = 0, .what = "results bent", .after = bend_all_results};
  return kBent;
}

}  // namespace ubique::backend::sham
