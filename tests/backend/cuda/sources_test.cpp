// SPDX-License-Identifier: Apache-2.0
// Every kernel source compiles for every supported architecture, without a card.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "ubique/backend/cuda/runtime/compiler.h"

using namespace ubique;
using backend::cuda::compile;

namespace {

void expect_compiled(const std::string& source, const std::vector<std::string>& defines,
                     int capability) {
  CAPTURE(source);
  CAPTURE(capability);
  const auto compiled = compile(source, defines, capability);
  CHECK_MESSAGE(compiled.fault.empty(), compiled.fault);
  CHECK(
      compiled.code.starts_with("\x7f"
                                "ELF"));
}

}  // namespace

TEST_CASE("cuda sources: every source compiles for every architecture, without a card") {
  REQUIRE(backend::cuda::has_compiler());
  CHECK(backend::cuda::source_names() ==
        std::vector<std::string>{
            "adam_atan2.cu", "add_norm.cu", "attend.cu", "attend_backward.cu", "channel_gate.cu",
            "channel_gate_backward.cu", "convolve.cu", "few_channels.cu", "few_tokens.cu",
            "flash.cu", "heads.cu", "norm_act.cu", "pictures.cu", "rows.cu", "token_gradient.cu",
            "token_mix.cu", "token_mix_backward.cu", "token_mix_few.cu", "weight_gradient.cu"});
  for (const int capability : {75, 80, 86, 89, 90}) {
    for (int scalar = 0; scalar < 3; ++scalar) {
      const auto type = fmt::format("SCALAR={}", scalar);
      expect_compiled("norm_act.cu", {type, fmt::format("ACTIVATION={}", scalar + 1)}, capability);
      expect_compiled("rows.cu", {type, "VECTORS=64"}, capability);
      expect_compiled("heads.cu", {type, "HALF=4"}, capability);
      expect_compiled("token_gradient.cu", {type}, capability);
      for (const char* sizes : {"WIDTH=768", "WIDTH=2048", "WIDTH=6144"}) {
        if (scalar == 2) continue;
        const int warps = sizes == std::string("WIDTH=768") ? 1 : sizes[6] == '2' ? 2 : 8;
        expect_compiled("add_norm.cu",
                        {type, sizes, fmt::format("WARPS={}", warps),
                         fmt::format("WIDE_RESIDUAL={}", scalar), "CENTER=1"},
                        capability);
      }
      if (scalar < 2 && capability >= 80) {
        for (const char* source : {"attend.cu", "attend_backward.cu"}) {
          expect_compiled(source, {type, "LENGTH=97", "HEAD=64", "HEADS=8", "CAUSAL=1", "ROTATE=1"},
                          capability);
        }
      }
      for (const int stride : {1, 2}) {
        expect_compiled("pictures.cu",
                        {type, fmt::format("STRIDE={}", stride), fmt::format("FROM={}", stride - 1),
                         "GROUPS=4", "PARTS=32"},
                        capability);
      }
      if (scalar == 2 || capability < 80) continue;
      for (const int channels : {8, 24, 32}) {
        const auto width = fmt::format("CHANNELS={}", channels);
        expect_compiled("weight_gradient.cu", {type, width, "TILE=128"}, capability);
        expect_compiled("convolve.cu", {type, width, "TILE=64", "PLANES=4", "RELU=1"}, capability);
      }
    }
  }
}

TEST_CASE("cuda sources: Hopper's kernels compile without a card") {
  for (const int length : {97, 81}) {
    for (const char* source : {"token_mix.cu", "token_mix_backward.cu", "token_mix_few.cu"}) {
      expect_compiled(
          source,
          {"SCALAR=1", "STAGES=2", fmt::format("LENGTH={}", length), "WIDTH=512", "INNER=512"}, 90);
    }
    for (const char* source : {"few_tokens.cu", "few_channels.cu"}) {
      expect_compiled(source, {fmt::format("LENGTH={}", length), "WIDTH=512", "INNER=1536"}, 90);
    }
  }
  for (const int flag : {0, 1}) {
    expect_compiled("flash.cu",
                    {"STAGES=4", "LENGTH=916", "HEADS=8", fmt::format("CAUSAL={}", flag)}, 90);
    expect_compiled(
        "channel_gate.cu",
        {"STAGES=8", "SPLIT=2", "WIDTH=512", "INNER=1536", fmt::format("KEEP={}", flag)}, 90);
  }
  expect_compiled("channel_gate_backward.cu",
                  {"STAGES=8", "SPLIT=2", "WIDTH=512", "INNER=1536", "TILES=1"}, 90);
}

TEST_CASE("cuda sources: a compile error is reported") {
  const auto compiled = compile("norm_act.cu", {"SCALAR=0", "ACTIVATION=1", "Vector=int"}, 90);
  CHECK(compiled.code.empty());
  CHECK(compiled.fault.find("error") != std::string::npos);
}
