// SPDX-License-Identifier: Apache-2.0
// Shared by the planner's tests: machines, verdicts, small models, and tables of inputs and
// expected choices.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/base/scratch.h"
#include "ubique/base/config/config.h"
#include "ubique/base/error.h"
#include "ubique/device/budget.h"
#include "ubique/device/profile.h"
#include "ubique/plan/plan.h"
#include "ubique/plan/report.h"

namespace ubique::plan {

using probe::Layout;
using probe::Outcome;
using probe::Verdict;

inline device::Facts machine(const std::string& profile) {
  return device::load_profile(profile).facts;
}

inline device::Facts with_torch(device::Facts facts, std::string version) {
  facts.torch_version = std::move(version);
  return facts;
}

inline device::Facts with_os(device::Facts facts, std::string version) {
  facts.os_version = std::move(version);
  return facts;
}

inline device::Facts with_memory(device::Facts facts, std::int64_t bytes) {
  facts.budget_bytes = bytes;
  facts.budget_reason = "set by the test";
  return facts;
}

inline Verdict verdict(Outcome outcome, std::string op, DType dtype,
                       Layout layout = Layout::Contiguous, double ms = 0) {
  Verdict made;
  made.op = std::move(op);
  made.dtype = dtype;
  made.layout = layout;
  made.outcome = outcome;
  made.device_ms = ms;
  made.id = made.op + "/" + std::string(to_string(dtype)) + "/" + std::string(to_string(layout));
  if (outcome == Outcome::Fail) made.error = 0.5, made.tolerance = 1e-3;
  return made;
}

inline Verdict pass(std::string op, DType dtype, Layout layout = Layout::Contiguous,
                    double ms = 0) {
  return verdict(Outcome::Pass, std::move(op), dtype, layout, ms);
}

inline Verdict fault(std::string op, DType dtype, Layout layout = Layout::Contiguous) {
  return verdict(Outcome::Fail, std::move(op), dtype, layout);
}

inline Verdict gradient(Verdict verdict) {
  verdict.gradient = true;
  verdict.id += "/gradient";
  return verdict;
}

inline probe::Report probed(std::vector<Verdict> verdicts) {
  probe::Report report;
  report.verdicts = std::move(verdicts);
  return report;
}

/// A model of one million parameters that needs little; tests add what they are about.
inline Needs small_model() {
  Needs needs;
  needs.name = "small";
  needs.parameters = {{.name = "all", .count = 1'000'000}};
  needs.activations = {.saved = 1'000'000, .run = 100'000, .largest = 10'000};
  needs.flops_run = 1e9;
  needs.tolerates_f16 = needs.tolerates_bf16 = true;
  needs.graph_capturable = true;
  needs.effective_batch = 8;
  return needs;
}

inline Needs conv_model(int dims) {
  auto needs = small_model();
  needs.convs = {{.dims = dims, .in = 8, .out = 8}};
  return needs;
}

inline Needs attention_model(bool causal = true) {
  auto needs = small_model();
  needs.attention = {
      {.layers = 2, .heads = 4, .kv_heads = 4, .queries = 128, .keys = 128, .causal = causal}};
  needs.ops = {"matmul"};
  return needs;
}

inline Needs linear_model() {
  auto needs = small_model();
  needs.ops = {"matmul"};
  return needs;
}

inline Wishes wishes_from(const std::string& yaml) {
  auto config = Config::from_text(yaml, "wishes.yaml");
  config.set_environment({});
  auto wishes = read_wishes(config);
  config.finish();
  return wishes;
}

inline const Field& field_named(const std::vector<Field>& all, const std::string& key) {
  for (const auto& field : all) {
    if (field.key == key) return field;
  }
  FAIL("no field " << key);
  return all.front();
}

/// A report without verdicts.
inline const probe::Report unmeasured;

/// A profile's id, or facts that a test has changed.
struct Machine {
  device::Facts facts;
  Machine(const char* profile) : facts(machine(profile)) {}
  Machine(device::Facts changed) : facts(std::move(changed)) {}
};

/// One row of a table: the input, the expected field and value, and a word that the field's reason
/// (or a rejected option) must contain.
struct Row {
  std::string what;
  Machine machine;
  probe::Report report;
  Needs needs;
  std::string wishes;
  std::string expected;  ///< "dtype=bf16"
  std::string word;
};

inline std::string whole_reason(const Field& field) {
  std::string text = field.reason;
  for (const auto& item : field.rejected) text += "\n" + item.option + ": " + item.why;
  return text;
}

inline void check_rows(const std::vector<Row>& rows) {
  for (const auto& row : rows) {
    CAPTURE(row.what);
    CAPTURE(row.expected);
    const auto plan = make_plan(row.machine.facts, row.report, row.needs, wishes_from(row.wishes));
    const auto all = fields(plan);
    const auto field = field_named(all, row.expected.substr(0, row.expected.find('=')));
    CHECK(field.key + "=" + field.text == row.expected);
    const auto reason = whole_reason(field);
    CAPTURE(reason);
    CHECK(reason.find(row.word) != std::string::npos);
  }
}

/// The message of the error that planning throws; fails the test if it does not.
inline std::string refusal(ErrorKind kind, const device::Facts& facts, const probe::Report& report,
                           const Needs& needs, const std::string& wishes) {
  return test::refusal_of(kind, [&] { make_plan(facts, report, needs, wishes_from(wishes)); });
}

using test::contains;

}  // namespace ubique::plan
