// SPDX-License-Identifier: Apache-2.0
// The table of ops that a Case may name, and the checks of its fields.
#include "ubique/probe/probes/cases.h"

#include <array>

#include "ubique/base/error.h"
#include "ubique/base/text/text.h"
#include "ubique/probe/probes/groups.h"

namespace ubique::probe {
namespace {

constexpr std::int64_t kMostElements = 1 << 24;  // 64 MiB in f32: a probe must stay small

struct CaseKind {
  const char* op;
  std::size_t least_rank, most_rank;
  const char* shape;  // for messages
  bool needs_out_channels;
  std::vector<Probe> (*expand)(const Case&);
};

// clang-format off
constexpr std::array<CaseKind, 10> kCaseKinds = {{
  {"matmul",       2, 3, "(M, K) or (B, M, K)",          true,  expand_matmul},
  {"linear",       1, 8, "(..., C)",                     true,  expand_linear},
  {"conv1d",       3, 3, "(B, C, L)",                    true,  expand_conv},
  {"conv2d",       4, 4, "(B, C, H, W)",                 true,  expand_conv},
  {"conv3d",       5, 5, "(B, C, D, H, W)",              true,  expand_conv},
  {"batch_norm2d", 4, 4, "(B, C, H, W)",                 false, expand_batch_norm},
  {"batch_norm3d", 5, 5, "(B, C, D, H, W)",              false, expand_batch_norm},
  {"layer_norm",   1, 8, "(..., C)",                     false, expand_layer_norm},
  {"attention",    2, 3, "(B, T) or (B, queries, keys)", false, expand_attention},
  {"cumsum",       2, 2, "(rows, N)",                    false, expand_cumsum},
}};
// clang-format on

const CaseKind& kind_of(const Case& request) {
  for (const auto& kind : kCaseKinds) {
    if (request.op == kind.op) return kind;
  }
  fail(ErrorKind::Input, "[probe.case] unknown op; got '{}', expected one of {}.{}", request.op,
       join(case_ops(), ", "), hint(request.op, case_ops()));
}

void check_size(const Case& request, const char* field, std::int64_t value) {
  check(value > 0, ErrorKind::Input, "[probe.case] {} of {} must be positive; got {}.", field,
        request.op, value);
  check(value <= kMostElements, ErrorKind::Input,
        "[probe.case] {} of {} is too large to probe; got {}, expected at most {}.", field,
        request.op, value, kMostElements);
}

void check_shape(const Case& request, const CaseKind& kind) {
  check(request.shape.size() >= kind.least_rank && request.shape.size() <= kind.most_rank,
        ErrorKind::Input, "[probe.case] shape of {} has {} numbers, expected {}.", request.op,
        request.shape.size(), kind.shape);
  std::int64_t elements = 1;
  for (const auto extent : request.shape) {
    check_size(request, "an extent", extent);
    elements *= extent;
    check(elements <= kMostElements, ErrorKind::Input,
          "[probe.case] shape of {} is too large to probe; expected at most {} elements. Scale the "
          "extents down.",
          request.op, kMostElements);
  }
}

void check_attention(const Case& request) {
  check_size(request, "heads", request.heads);
  check_size(request, "head_dim", request.head_dim);
  check(request.kv_heads >= 0, ErrorKind::Input,
        "[probe.case] kv_heads must not be negative; got {}.", request.kv_heads);
  check(request.kv_heads == 0 || request.heads % request.kv_heads == 0, ErrorKind::Input,
        "[probe.case] heads must be a multiple of kv_heads; got {} heads and {} kv_heads.",
        request.heads, request.kv_heads);
  check(request.window >= 0, ErrorKind::Input, "[probe.case] window must not be negative; got {}.",
        request.window);
  const bool square = request.shape.size() == 2 || request.shape[1] == request.shape[2];
  check(square || !(request.causal || request.window > 0), ErrorKind::Input,
        "[probe.case] causal or windowed attention takes as many queries as keys; got {} and {}.",
        request.shape[1], request.shape.back());
  check_size(request, "heads * head_dim", request.heads * request.head_dim);
}

void check_lists(const Case& request) {
  check(!request.dtypes.empty() && !request.layouts.empty(), ErrorKind::Input,
        "[probe.case] {} names no dtype or no layout; expected at least one of each.", request.op);
  for (const auto dtype : request.dtypes) {
    const bool computes = dtype == DType::F32 || dtype == DType::BF16 || dtype == DType::F16;
    check(computes, ErrorKind::Input,
          "[probe.case] dtype of {} is not probed; got {}, expected f32, bf16 or f16.", request.op,
          to_string(dtype));
  }
  for (const auto layout : request.layouts) {
    const bool has_channels = request.shape.size() == 4 || request.shape.size() == 5;
    check(layout == Layout::Contiguous || has_channels, ErrorKind::Input,
          "[probe.case] channels_last needs a shape with channels and 2 or 3 extents; {} has {} "
          "numbers.",
          request.op, request.shape.size());
  }
}

}  // namespace

std::vector<std::string> case_ops() {
  std::vector<std::string> names;
  for (const auto& kind : kCaseKinds) names.emplace_back(kind.op);
  return names;
}

void validate(const Case& request) {
  const auto& kind = kind_of(request);
  check_shape(request, kind);
  if (kind.needs_out_channels) check_size(request, "out_channels", request.out_channels);
  if (request.op.starts_with("conv")) {
    check_size(request, "kernel", request.kernel);
    check_size(request, "dilation", request.dilation);
  }
  if (request.op == "attention") check_attention(request);
  check_lists(request);
}

std::vector<Probe> probes_of(const Case& request) {
  validate(request);
  return kind_of(request).expand(request);
}

}  // namespace ubique::probe
