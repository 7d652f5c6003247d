// SPDX-License-Identifier: Apache-2.0
// Mutation tests of the probes. The pretend device is configured with each fault that real devices
// had, and doctor must report it: the op concerned fails, unrelated ops pass. One process per
// fault, because the device reads its configuration once.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdio>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/base/scratch.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/text.h"

using namespace ubique;

namespace {

struct Examination {
  int exit_code = -1;
  Json document;
  std::set<std::string> failed_ops, passed_ops, failed_ids;
};

/// Runs doctor on the pretend device in a process of its own.
Examination examine_sham(const std::string& configuration, const std::vector<std::string>& only) {
  const test::ScratchFolder cache;
  auto command = fmt::format(
      "env UBIQUE_SHAM='{}' UBIQUE_CACHE_DIR='{}' '{}/bin/ubique' doctor --device sham --json "
      "--quiet",
      configuration, cache.path().string(), UBIQUE_BINARY_DIR);
  if (!only.empty()) command += fmt::format(" --only '{}'", join(only, ","));
  auto* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  char buffer[4096];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    text.append(buffer, n);
  Examination found;
  found.exit_code = WEXITSTATUS(::pclose(pipe));
  INFO(command);
  REQUIRE_FALSE(text.empty());
  found.document = parse_json(text, "doctor's output");
  for (const auto& verdict : found.document["verdicts"]) {
    const auto op = verdict["op"].get<std::string>();
    if (verdict["outcome"] == "fail") {
      found.failed_ops.insert(op);
      found.failed_ids.insert(verdict["id"].get<std::string>());
    }
    if (verdict["outcome"] == "pass") found.passed_ops.insert(op);
  }
  return found;
}

struct Fault {
  const char* name;
  std::vector<std::string> caught_by;  ///< ops of which at least one probe fails
  std::vector<std::string> unrelated;  ///< ops of which none fails
};

using Ops = std::vector<std::string>;

// clang-format off
const std::vector<Fault> kFaults = {
  {"sdpa_causal",          {"attention.fused_causal"},     {"attention.window", "linear"}},
  {"sdpa_gqa_long",        {"attention.gqa"},              {"attention.window", "linear"}},
  {"sdpa_block32",         {"attention.fused_full"},       {"linear", "cumsum"}},
  {"conv3d_contiguous",    {"conv3d.dilated"},             {"batch_norm3d", "linear"}},
  {"conv3d_channels_last", {"conv3d.dilated"},             {"batch_norm3d", "linear"}},
  {"batch_norm_backward",  {"batch_norm2d", "batch_norm3d"}, {"layer_norm", "linear"}},
  {"strided_views",        {"views.strided"},              {"cumsum", "batch_norm2d"}},
  {"sliced_views",         {"views.sliced"},               {"views.strided", "linear"}},
  {"conv2d_weight_slice",  {"views.sliced"},               {"views.strided", "conv1d.long"}},
  {"strided_writes",       {"views.strided"},              {"linear", "cumsum"}},
  {"layer_norm_frozen",    {"layer_norm.frozen_input"},    {"layer_norm", "batch_norm2d"}},
  {"checkpoint_dropout",   {"checkpoint.dropout"},         {"linear", "sampling.zero_probability"}},
  {"non_blocking",         {"transfer.non_blocking"},      {"linear", "cumsum"}},
  {"multinomial",          {"sampling.zero_probability"},  {"cumsum", "checkpoint.dropout"}},
  {"autocast_off",         {"autocast.effective_dtype"},   {"linear", "cumsum"}},
  {"float64_silent",       {"float64"},                    {"linear", "cumsum"}},
  {"conv1d_long",          {"conv1d.long"},                {"views.sliced", "linear"}},
  {"cumsum",               {"cumsum"},                     {"sampling.zero_probability", "linear"}},
  {"matmul_half",          {"matmul"},                     {"conv1d.long", "layer_norm"}},
  {"layer_norm",           {"layer_norm"},                 {"batch_norm2d", "linear"}},
  {"linear_bias",          {"linear"},                     {"layer_norm", "cumsum"}},
};
// clang-format on

Ops both(Ops first, const Ops& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace

TEST_CASE("mutations: doctor catches every fault of the pretend device") {
  for (const auto& fault : kFaults) {
    const std::string name = fault.name;
    CAPTURE(name);
    const auto found = examine_sham("wrong=" + name, both(fault.caught_by, fault.unrelated));
    CHECK(found.exit_code == 5);
    for (const auto& op : fault.caught_by) {
      CAPTURE(op);
      CHECK(found.failed_ops.count(op) == 1);
    }
    for (const auto& op : fault.unrelated) {
      CAPTURE(op);
      CHECK(found.failed_ops.count(op) == 0);
      CHECK(found.passed_ops.count(op) == 1);
    }
    CHECK_FALSE(found.document["advice"].empty());
  }
}

TEST_CASE("mutations: every fault in the pretend device's table is tried here") {
  const auto source = read_file(UBIQUE_SOURCE_DIR "/ubique/backend/sham/runtime/mutations.cpp");
  const auto table = source.substr(source.find("kMutations[]"));
  std::set<std::string> listed, tried;
  const std::regex entry(R"re(\{(?:\.name = )?"([a-z0-9_]+)", (?:\.fault = )?[0-9]+)re");
  for (std::sregex_iterator match(table.begin(), table.end(), entry), end; match != end; ++match) {
    listed.insert((*match)[1]);
  }
  for (const auto& fault : kFaults) tried.insert(fault.name);
  CHECK(listed == tried);
}

TEST_CASE("mutations: the advice for a wrong layout names the right one") {
  const auto found = examine_sham("wrong=conv3d_contiguous", {"conv3d.dilated*/f32/*"});
  const auto first = found.document["advice"][0].get<std::string>();
  CHECK(first.find("contiguous: use channels_last") != std::string::npos);
  for (const auto& id : found.failed_ids) CHECK(id.find("/contiguous/") != std::string::npos);
}

TEST_CASE("mutations: the causality leak is seen in half precision only") {
  const auto found = examine_sham("wrong=sdpa_causal", {"attention.fused_causal*t70*"});
  CHECK_FALSE(found.failed_ids.empty());
  for (const auto& id : found.failed_ids) CHECK(id.find("/f32/") == std::string::npos);
}

TEST_CASE("mutations: a refused dtype is not a failure") {
  const auto found = examine_sham("refuse=bf16", {"linear", "cumsum"});
  CHECK(found.exit_code == 0);
  CHECK(found.document["refused"] > 0);
  CHECK(found.failed_ops.empty());
}

TEST_CASE("mutations: the healthy pretend device passes the whole suite") {
  const auto found = examine_sham("", {});
  for (const auto& id : found.failed_ids) FAIL_CHECK(id);
  CHECK(found.exit_code == 0);
  CHECK(found.document["passed"] > 800);
  CHECK(found.document["refused"] == 2);  // float64, forward and gradient
  CHECK(found.document["label"] == "sham (pretend Metal on CPU)");
}
