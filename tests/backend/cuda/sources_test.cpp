// SPDX-License-Identifier: Apache-2.0
// Every kernel source compiles for every supported architecture, without a card.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <thread>

#include "ubique/backend/cuda/runtime/compiler.h"
#include "ubique/base/parallel.h"

using namespace ubique;
using backend::cuda::compile;

namespace {

struct SourceCase {
  std::string source;
  std::vector<std::string> defines;
  int capability = 90;
};

/// Compiles on every core: one after the other, the sources of all architectures take minutes.
void expect_compiled(const std::vector<SourceCase>& cases) {
  std::vector<backend::cuda::Compiled> results(cases.size());
  const auto threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  parallel_for(static_cast<std::int64_t>(cases.size()), threads, [&](auto begin, auto end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      results[i] = compile(cases[i].source, cases[i].defines, cases[i].capability);
    }
  });
  for (std::size_t i = 0; i < cases.size(); ++i) {
    CAPTURE(cases[i].source);
    CAPTURE(cases[i].capability);
    CHECK_MESSAGE(results[i].fault.empty(), results[i].fault);
    CHECK(
        results[i].code.starts_with("\x7f"
                                    "ELF"));
  }
}

/// What one number format needs on one architecture; formats 0 and 1 have 16 bits.
void add_cases(std::vector<SourceCase>& cases, int capability, int scalar) {
  const auto type = fmt::format("SCALAR={}", scalar);
  const auto add = [&](const char* source, std::vector<std::string> defines) {
    defines.insert(defines.begin(), type);
    cases.push_back({source, std::move(defines), capability});
  };
  add("norm_act.cu", {fmt::format("ACTIVATION={}", scalar + 1)});
  add("rows.cu", {"VECTORS=64"});
  add("heads.cu", {"HALF=4"});
  for (const int stride : {1, 2}) {
    add("pictures.cu", {fmt::format("STRIDE={}", stride), fmt::format("FROM={}", stride - 1),
                        "GROUPS=4", "PARTS=32"});
  }
  for (const char* kept : {"KEPT=0", "KEPT=1"}) add("token_gradient.cu", {kept});
  add("gated_conv.cu", {"ROWS=8"});
  add("biased_silu.cu", {});
  for (const int wide : {0, 1}) {
    add("rotate_pairs.cu",
        {"PARTS=16", "ONES=8", fmt::format("RELU={}", wide), fmt::format("WIDE={}", wide)});
  }
  if (scalar < 2) {
    for (const char* source : {"gelu.cu", "join_qkv.cu"}) add(source, {});
    for (const auto& [width, warps] : {std::pair{768, 1}, {1024, 2}, {2560, 4}, {8192, 8}}) {
      add("add_norm.cu", {fmt::format("WIDTH={}", width), fmt::format("WARPS={}", warps),
                          fmt::format("WIDE_RESIDUAL={}", scalar), "CENTER=1"});
    }
  }
  if (scalar == 2 || capability < 80) return;
  for (const char* source : {"attend.cu", "attend_backward.cu"}) {
    add(source, {"LENGTH=97", "HEAD=64", "HEADS=8", "CAUSAL=1", "ROTATE=1"});
  }
  for (const int channels : {8, 24, 32}) {
    const auto width = fmt::format("CHANNELS={}", channels);
    add("weight_gradient.cu", {width, "TILE=128"});
    add("convolve.cu", {width, "TILE=64", "PLANES=4", "RELU=1"});
  }
}

/// A decoding step's kernels for the shapes of starcoderbase-1b, 1 and 16 texts at a time.
void add_decode_cases(std::vector<SourceCase>& cases, int capability, int scalar) {
  const auto type = fmt::format("SCALAR={}", scalar);
  for (const auto& [size, warps] : {std::pair{64, 16}, {128, 8}}) {
    cases.push_back({"decode_attend.cu",
                     {type, fmt::format("SIZE={}", size), fmt::format("WARPS={}", warps)},
                     capability});
  }
  cases.push_back({"decode_ends.cu", {type}, capability});
  for (const int rows : {8, 16}) {
    if (rows == 8 && capability == 80) continue;
    const auto add = [&](int width, int pieces, int tiles, int gated, int normed) {
      cases.push_back({"decode_product.cu",
                       {type, fmt::format("ROWS={}", rows), fmt::format("WIDTH={}", width),
                        fmt::format("PIECES={}", pieces), fmt::format("TILES={}", tiles),
                        fmt::format("GATED={}", gated), fmt::format("NORMED={}", normed)},
                       capability});
    };
    add(2048, 1, 3, 0, 1);
    add(2048, 1, 4, 1, 1);
    add(8192, rows == 8 ? 1 : 4, 2, 0, 0);
  }
}

}  // namespace

TEST_CASE("cuda sources: every source compiles for every architecture, without a card") {
  REQUIRE(backend::cuda::has_compiler());
  const std::vector<std::string> expected = {"adam_atan2.cu",
                                             "add_norm.cu",
                                             "attend.cu",
                                             "attend_backward.cu",
                                             "biased_silu.cu",
                                             "channel_gate.cu",
                                             "channel_gate_backward.cu",
                                             "convolve.cu",
                                             "decode_attend.cu",
                                             "decode_ends.cu",
                                             "decode_product.cu",
                                             "few_channels.cu",
                                             "few_tokens.cu",
                                             "flash.cu",
                                             "gated_conv.cu",
                                             "heads.cu",
                                             "norm_act.cu",
                                             "pictures.cu",
                                             "rotate_pairs.cu",
                                             "rows.cu",
                                             "token_mix.cu",
                                             "token_mix_backward.cu",
                                             "token_mix_few.cu",
                                             "gelu.cu",
                                             "join_qkv.cu",
                                             "sum_rows.cu",
                                             "token_gradient.cu",
                                             "weight_gradient.cu"};
  CHECK(backend::cuda::source_names() == expected);
  std::vector<SourceCase> cases;
  for (const int capability : {75, 80, 86, 89, 90}) {
    for (int scalar = 0; scalar < 3; ++scalar) add_cases(cases, capability, scalar);
    cases.push_back({"sum_rows.cu", {}, capability});
    if (capability == 80 || capability == 90) add_decode_cases(cases, capability, capability == 90);
  }
  expect_compiled(cases);
}

TEST_CASE("cuda sources: Hopper's kernels compile without a card") {
  std::vector<SourceCase> cases;
  for (const int length : {97, 81}) {
    for (const char* source : {"token_mix.cu", "token_mix_backward.cu", "token_mix_few.cu"}) {
      cases.push_back(
          {source,
           {"SCALAR=1", "STAGES=2", fmt::format("LENGTH={}", length), "WIDTH=512", "INNER=512"}});
    }
    for (const char* source : {"few_tokens.cu", "few_channels.cu"}) {
      cases.push_back({source, {fmt::format("LENGTH={}", length), "WIDTH=512", "INNER=1536"}});
    }
  }
  for (const int flag : {0, 1}) {
    cases.push_back(
        {"flash.cu", {"STAGES=4", "LENGTH=916", "HEADS=8", fmt::format("CAUSAL={}", flag)}});
    cases.push_back(
        {"channel_gate.cu",
         {"STAGES=8", "SPLIT=2", "WIDTH=512", "INNER=1536", fmt::format("KEEP={}", flag)}});
  }
  cases.push_back(
      {"channel_gate_backward.cu", {"STAGES=8", "SPLIT=2", "WIDTH=512", "INNER=1536", "TILES=1"}});
  expect_compiled(cases);
}

TEST_CASE("cuda sources: a compile error is reported") {
  const auto compiled = compile("norm_act.cu", {"SCALAR=0", "ACTIVATION=1", "Vector=int"}, 90);
  CHECK(compiled.code.empty());
  CHECK(compiled.fault.find("error") != std::string::npos);
}
