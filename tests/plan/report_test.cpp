// SPDX-License-Identifier: Apache-2.0
// Plans as tables, explanations and JSON.
#include "ubique/plan/report.h"

#include <algorithm>

#include "tests/plan/table.h"

using namespace ubique;
using namespace ubique::plan;

namespace {

Attempt attempt_on(const char* profile) {
  return attempt_plan(machine(profile), {}, attention_model(), {});
}

Attempt impossible() {
  return attempt_plan(with_memory(machine("m1-8g"), 1 << 20), {}, attention_model(), {});
}

}  // namespace

TEST_CASE("report: a machine on which it does not fit keeps the two numbers") {
  const auto attempt = impossible();
  CHECK_FALSE(attempt.plan.has_value());
  CHECK(attempt.machine == "m1-8g");
  CHECK(contains(attempt.short_reason, "does not fit: needs "));
  CHECK(contains(attempt.short_reason, ", has 1.0 MiB"));
}

TEST_CASE("report: other Device errors lose their brackets, Usage errors pass through") {
  Wishes wishes;
  wishes.world_size = 2;
  const auto attempt = attempt_plan(machine("m1-8g"), {}, attention_model(), wishes);
  CHECK(contains(attempt.short_reason,
                 "not possible: Distributed training is not supported on MPS."));
  wishes.world_size = 100000;  // more than samples
  CHECK_THROWS_AS(attempt_plan(machine("h200"), {}, attention_model(), wishes), Error);
}

TEST_CASE("report: a few machines are shown side by side, fields as rows") {
  const auto text = side_by_side({attempt_on("h200"), impossible(), attempt_on("t4")});
  const auto header = text.substr(0, text.find('\n'));
  CHECK(contains(header, "h200"));
  CHECK(header.find("h200") < header.find("m1-8g"));
  CHECK(contains(text, "dtype"));
  CHECK(contains(text, "flash"));
  CHECK(contains(text, "efficient"));
  CHECK(contains(text, "does not fit: needs"));
  CHECK(contains(text, "memory.total"));
}

TEST_CASE("report: many machines have a row each, those without a plan at the end") {
  const auto text = one_row_each({impossible(), attempt_on("h200"), attempt_on("t4")});
  CHECK(contains(text, "machine"));
  CHECK(text.find("\nh200 ") < text.find("\nt4 "));
  CHECK(text.find("\nt4 ") < text.find("m1-8g: does not fit"));
  CHECK(one_row_each({impossible()}).starts_with("m1-8g: does not fit"));
}

TEST_CASE("report: explain names every field with reason and rejected options") {
  const auto plan = *attempt_on("t4").plan;
  const auto text = explain(plan);
  for (const auto& field : fields(plan)) CHECK(contains(text, field.key));
  CHECK(contains(text, "small (train) on NVIDIA T4 (profile t4)"));
  CHECK(contains(text, "- bf16: emulated on sm75"));
  CHECK(contains(text, "- flash: needs sm80"));
  CHECK(contains(text, "memory.budget"));
}

TEST_CASE("report: one line has device, threads, dtype and why") {
  const auto line = [](const char* profile, const probe::Report& report, Wishes wishes) {
    return device_line(make_plan(machine(profile), report, linear_model(), wishes), wishes);
  };
  Wishes asked, four_threads, preferred, half;
  asked.dtype = DType::F16;
  four_threads.threads = 4;
  preferred.preferred_dtype = DType::F16;
  half.prefers_half = true;
  CHECK(line("h200", {}, asked) == "NVIDIA H200 (profile h200), f16: as asked");
  CHECK(contains(line("m1-16g", {}, asked), "f16: as asked"));
  const auto faster = probed({pass("matmul", DType::F32, Layout::Contiguous, 1),
                              pass("matmul", DType::BF16, Layout::Contiguous, 0.5)});
  const auto on_cpu = line("cpu-server-amx", faster, four_threads);
  CHECK(contains(on_cpu, ", 4 threads, bf16: passed its probes, 0.50 of f32's time"));
  CHECK(on_cpu.ends_with("; --dtype f32 gives the reference's numbers"));
  CHECK(contains(line("cpu-laptop", {}, preferred),
                 "; f16, as preferred, was given up: no f16 arithmetic on this CPU"));
  CHECK(contains(line("m1-16g", {}, preferred), "f16, as preferred, was given up: f32 fits"));
  CHECK(contains(line("m3-16g", {}, half), "bf16, as preferred, was given up"));
  CHECK_FALSE(contains(line("h200", {}, half), "given up"));
}

TEST_CASE("report: JSON carries values by type, reasons and what was rejected") {
  const auto json = to_json(*attempt_on("t4").plan);
  CHECK(json["choices"]["dtype"]["value"] == "f16");
  CHECK(json["choices"]["autocast"]["value"] == true);
  CHECK(json["choices"]["micro_batch"]["value"] == 8);
  CHECK(json["choices"]["attention"]["rejected"][0]["option"] == "flash");
  CHECK(json["memory"]["fits"] == true);
  CHECK(json["memory"]["total"].get<std::int64_t>() > 0);
  CHECK(json["mode"] == "train");
  CHECK(json["choices"].size() == fields(*attempt_on("t4").plan).size());
  const auto failed = to_json(impossible());
  CHECK(failed["possible"] == false);
  CHECK(failed["plan"].is_null());
  CHECK(contains(failed["error"], "does not fit"));
}

TEST_CASE("report: the compute floor is arithmetic over the datasheet's rate, or unknown") {
  auto needs = linear_model();
  needs.flops_train = 1e12;
  needs.effective_batch = 8;
  const auto plan = make_plan(machine("a100-80g"), {}, needs, {});
  CHECK(plan.floor_ms == doctest::Approx(8e12 / 312e12 * 1e3));
  CHECK(make_plan(machine("cpu-laptop"), {}, needs, {}).floor_ms == 0);
  Wishes exact;
  exact.dtype = DType::F32;  // TF32 may be faster than the f32 rate: no bound
  CHECK(make_plan(machine("a100-80g"), {}, needs, exact).floor_ms == 0);
  exact.numerics = Numerics::Strict;
  CHECK(make_plan(machine("a100-80g"), {}, needs, exact).floor_ms ==
        doctest::Approx(8e12 / 19.5e12 * 1e3));
}
