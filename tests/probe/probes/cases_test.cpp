// SPDX-License-Identifier: Apache-2.0
// Cases: the probes they become, and the check of their fields.
#include "ubique/probe/probes/cases.h"

#include <doctest/doctest.h>

#include <set>

#include "ubique/base/error.h"
#include "ubique/probe/suite.h"

using namespace ubique;
using namespace ubique::probe;

namespace {

std::string case_complaint(const Case& request) {
  try {
    probes_of(request);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::Input);
    return error.what();
  }
  return "no complaint";
}

bool says(const Case& request, const std::string& words) {
  const auto message = case_complaint(request);
  INFO(message);
  return message.starts_with("[probe.case]") && message.find(words) != std::string::npos;
}

const Case kConv{.op = "conv3d", .shape = {1, 5, 8, 8, 8}, .out_channels = 5, .dilation = 2};
const Case kAttention{.op = "attention", .shape = {1, 16}, .heads = 4, .head_dim = 8};

template <typename Change>
Case with(Case request, Change change) {
  change(request);
  return request;
}

}  // namespace

TEST_CASE("case: a conv3d becomes forward and gradient probes per dtype and layout") {
  auto request = kConv;
  request.dtypes = {DType::F32, DType::BF16};
  request.layouts = {Layout::Contiguous, Layout::ChannelsLast};
  const auto probes = probes_of(request);
  REQUIRE(probes.size() == 8);
  CHECK(probes[0].id() == "conv3d.dilated[c5d2s8]/f32/contiguous/forward");
  CHECK(probes[1].id() == "conv3d.dilated[c5d2s8]/f32/contiguous/gradient");
  CHECK(probes[7].id() == "conv3d.dilated[c5d2s8]/bf16/channels_last/gradient");
  request.gradient = false;
  CHECK(probes_of(request).size() == 4);
}

TEST_CASE("case: an attention case is tried with every method that applies") {
  std::set<std::string> ops;
  const auto collect = [&](const Case& request) {
    ops.clear();
    for (const auto& probe : probes_of(request)) ops.insert(probe.op);
    return ops;
  };
  using Ops = std::set<std::string>;
  CHECK(collect(kAttention) == Ops{"attention.fused_full", "attention.math"});
  CHECK(collect(with(kAttention, [](Case& c) { c.causal = true; })) ==
        Ops{"attention.fused_causal", "attention.explicit_mask", "attention.math"});
  CHECK(collect(with(kAttention, [](Case& c) { c.kv_heads = 2; })) == Ops{"attention.gqa"});
  CHECK(collect(with(kAttention, [](Case& c) { c.causal = true, c.window = 4; })) ==
        Ops{"attention.window"});
}

TEST_CASE("case: cases that differ in any field have different ids") {
  std::set<std::string> ids;
  const auto add = [&](const Case& request) {
    CHECK(ids.insert(probes_of(request).front().id()).second);
  };
  add(kConv);
  add(with(kConv, [](Case& c) { c.dilation = 1; }));
  add(with(kConv, [](Case& c) { c.kernel = 1; }));
  add(with(kConv, [](Case& c) { c.out_channels = 6; }));
  add(with(kConv, [](Case& c) { c.shape[0] = 2; }));
  add(with(kConv, [](Case& c) { c.shape[3] = 9; }));
  add(with(kConv, [](Case& c) { c.frozen_input = true; }));
  add(kAttention);
  add(with(kAttention, [](Case& c) { c.shape = {1, 16, 17}; }));
  add(with(kAttention, [](Case& c) { c.head_dim = 16; }));
  add(with(kAttention, [](Case& c) { c.window = 3; }));
}

TEST_CASE("case: wrong fields are refused with what was found and expected") {
  CHECK(says(with(kConv, [](Case& c) { c.op = "conv3"; }), "unknown op; got 'conv3'"));
  CHECK(says(with(kConv, [](Case& c) { c.op = "conv3"; }), "Did you mean 'conv"));
  CHECK(says(with(kConv, [](Case& c) { c.shape = {1, 5, 8, 8}; }), "expected (B, C, D, H, W)"));
  CHECK(says(with(kConv, [](Case& c) { c.shape[2] = 0; }), "must be positive; got 0"));
  CHECK(says(with(kConv, [](Case& c) { c.shape[2] = -4; }), "must be positive; got -4"));
  CHECK(says(with(kConv, [](Case& c) { c.out_channels = 0; }), "out_channels of conv3d"));
  CHECK(says(with(kConv, [](Case& c) { c.kernel = 0; }), "kernel of conv3d"));
  CHECK(says(with(kConv, [](Case& c) { c.dilation = -1; }), "dilation of conv3d"));
  CHECK(says(with(kConv, [](Case& c) { c.shape = {1, 64, 256, 256, 256}; }), "Scale the extents"));
  CHECK(says(with(kConv, [](Case& c) { c.shape[2] = INT64_MAX; }), "too large to probe"));
  CHECK(says(with(kConv, [](Case& c) { c.dtypes = {DType::I64}; }), "got i64"));
  CHECK(says(with(kConv, [](Case& c) { c.dtypes = {}; }), "names no dtype"));
}

TEST_CASE("case: attention's fields must fit each other") {
  CHECK(says(with(kAttention, [](Case& c) { c.heads = 0; }), "heads of attention"));
  CHECK(says(with(kAttention, [](Case& c) { c.head_dim = 0; }), "head_dim of attention"));
  CHECK(says(with(kAttention, [](Case& c) { c.kv_heads = 3; }), "multiple of kv_heads"));
  CHECK(says(with(kAttention, [](Case& c) { c.kv_heads = -1; }), "must not be negative"));
  CHECK(says(with(kAttention,
                  [](Case& c) {
                    c.shape = {1, 4, 8}, c.causal = true;
                  }),
             "as many queries as keys"));
  CHECK(says(with(kAttention, [](Case& c) { c.layouts = {Layout::ChannelsLast}; }),
             "channels_last needs"));
}

TEST_CASE("suite: every op that the planner asks for has probes, each id once") {
  const std::set<std::string> expected = {"matmul",
                                          "linear",
                                          "conv1d.long",
                                          "conv2d",
                                          "conv3d.dilated",
                                          "batch_norm2d",
                                          "batch_norm3d",
                                          "layer_norm.frozen_input",
                                          "layer_norm",
                                          "attention.fused_causal",
                                          "attention.fused_full",
                                          "attention.explicit_mask",
                                          "attention.math",
                                          "attention.gqa",
                                          "attention.window",
                                          "views.strided",
                                          "views.sliced",
                                          "transfer.non_blocking",
                                          "sampling.zero_probability",
                                          "cumsum",
                                          "elementary.pointwise",
                                          "elementary.reduce",
                                          "elementary.index",
                                          "elementary.loss",
                                          "image",
                                          "autocast.effective_dtype",
                                          "checkpoint.dropout",
                                          "float64",
                                          "limits.tensor_bytes",
                                          "memory.oom"};
  std::set<std::string> ops, ids;
  for (const auto& probe : all_probes()) {
    ops.insert(probe.op);
    CHECK(ids.insert(probe.id()).second);
  }
  CHECK(ops == expected);
}

TEST_CASE("suite: a family's cases come after the built-in ones, and repeats are dropped") {
  const auto before = all_probes().size();
  auto own = kConv;
  own.shape = {1, 5, 7, 7, 7};
  const auto probes = all_probes({own, own});
  REQUIRE(probes.size() == before + 2);
  CHECK(probes.back().id() == "conv3d.dilated[c5d2s7]/f32/contiguous/gradient");
}
