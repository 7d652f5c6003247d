// SPDX-License-Identifier: Apache-2.0
// Rules about contiguous and channels-last layouts.
#include "tests/plan/table.h"

using namespace ubique;
using namespace ubique::plan;

namespace {

constexpr auto kLast = Layout::ChannelsLast;
constexpr auto kPlain = Layout::Contiguous;

}  // namespace

TEST_CASE("layout: defaults where nothing was measured") {
  const auto flat = conv_model(2);
  const auto deep = conv_model(3);
  check_rows({
      {"CUDA in half precision", "h200", unmeasured, flat, "", "memory_format=channels_last",
       "tensor cores"},
      {"CUDA, 3-D", "h200", unmeasured, deep, "", "memory_format=channels_last", "not measured"},
      {"CUDA in f32", "h200", unmeasured, flat, "dtype: f32", "memory_format=contiguous",
       "CUDA in f32"},
      {"Metal", "m3-max-36g", unmeasured, flat, "", "memory_format=contiguous",
       "not measured: default for Metal"},
      {"Metal, 3-D", "m3-max-36g", unmeasured, deep, "", "memory_format=contiguous",
       "30 times slower"},
      {"CPU, 2-D", "cpu-laptop", unmeasured, flat, "", "memory_format=channels_last", "oneDNN"},
      {"CPU, 3-D", "cpu-laptop", unmeasured, deep, "", "memory_format=contiguous", "3-D"},
      {"no convolution", "h200", unmeasured, linear_model(), "", "memory_format=contiguous",
       "does not matter"},
  });
}

TEST_CASE("layout: correctness first, then measured speed, then the default") {
  const auto deep = conv_model(3);
  const auto plain_wrong = probed(
      {fault("conv3d.dilated", DType::F32, kPlain), pass("conv3d.dilated", DType::F32, kLast)});
  const auto last_wrong = probed(
      {pass("conv3d.dilated", DType::F32, kPlain, 9), fault("conv3d.dilated", DType::F32, kLast)});
  const auto last_faster = probed({pass("conv3d.dilated", DType::F32, kPlain, 4),
                                   pass("conv3d.dilated", DType::F32, kLast, 3)});
  const auto plain_faster = probed({pass("conv3d.dilated", DType::F32, kPlain, 3),
                                    pass("conv3d.dilated", DType::F32, kLast, 4)});
  const auto even = probed({pass("conv3d.dilated", DType::F32, kPlain, 3),
                            pass("conv3d.dilated", DType::F32, kLast, 2.9)});
  const auto wish = "dtype: f32";
  check_rows({
      {"macOS 26.2: contiguous wrong", "m3-max-36g", plain_wrong, deep, wish,
       "memory_format=channels_last", "failed its probe"},
      {"torch of 2024: channels_last wrong", "m3-max-36g", last_wrong, deep, wish,
       "memory_format=contiguous", "is wrong here"},
      {"Metal measured", "m3-max-36g", last_faster, deep, wish, "memory_format=channels_last",
       "3 ms against 4 ms"},
      {"Metal measured the other way", "m3-max-36g", plain_faster, deep, wish,
       "memory_format=contiguous", "measured: 3 ms"},
      {"a twentieth is noise", "m3-max-36g", even, deep, wish, "memory_format=contiguous",
       "no clear difference"},
      {"CPU measured", "cpu-laptop", last_faster, deep, wish, "memory_format=channels_last",
       "measured"},
      {"CUDA measured", "rtx3090", plain_faster, deep, wish, "memory_format=contiguous",
       "not faster"},
  });
}

TEST_CASE("layout: a dtype whose convolutions are wrong in every layout is not used") {
  const auto flat = conv_model(2);
  const auto bf16_wrong =
      probed({fault("conv2d", DType::BF16, kPlain), fault("conv2d", DType::BF16, kLast),
              pass("conv2d", DType::F16, kPlain), pass("conv2d", DType::F32, kPlain)});
  check_rows({{"both", "h200", bf16_wrong, flat, "", "dtype=f16", "conv2d/bf16/contiguous"}});
  const auto half_known =
      probed({fault("conv2d", DType::BF16, kLast), pass("conv2d", DType::F16, kPlain)});
  check_rows({
      {"an unprobed layout is no way out", "h200", half_known, flat, "", "dtype=f16",
       "conv2d/bf16"},
  });
}

TEST_CASE("layout: wishes are kept or refused with the verdict") {
  const auto wrong =
      probed({pass("conv2d", DType::F32, kPlain), fault("conv2d", DType::F32, kLast)});
  check_rows({
      {"on", "m3-max-36g", unmeasured, conv_model(2), "channels_last: on",
       "memory_format=channels_last", "as asked"},
      {"off", "h200", unmeasured, conv_model(2), "channels_last: off", "memory_format=contiguous",
       "as asked"},
  });
  const auto message = refusal(ErrorKind::Device, machine("m3-max-36g"), wrong, conv_model(2),
                               "{channels_last: on, dtype: f32}");
  CHECK(contains(message, "conv2d/f32/channels_last failed its probe"));
}
