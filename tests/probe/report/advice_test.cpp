// SPDX-License-Identifier: Apache-2.0
// Advice sentences and summary tables.
#include "ubique/probe/report/advice.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "ubique/probe/report/summary.h"

using namespace ubique;
using namespace ubique::probe;

namespace {

Verdict verdict(const std::string& op, DType dtype, Outcome outcome,
                Layout layout = Layout::Contiguous) {
  Verdict made;
  made.id = fmt::format("{}/{}/{}/forward", op, to_string(dtype), to_string(layout));
  made.op = op;
  made.dtype = dtype;
  made.layout = layout;
  made.outcome = outcome;
  made.tolerance = 2e-6;
  made.error = outcome == Outcome::Fail ? 0.31 : 1e-7;
  if (outcome == Outcome::Refused) made.detail = "not supported", made.error = made.tolerance = 0;
  return made;
}

Report report_of(std::vector<Verdict> verdicts) {
  Report report;
  report.verdicts = std::move(verdicts);
  return report;
}

using Sentences = std::vector<std::string>;
constexpr auto kPass = Outcome::Pass, kFail = Outcome::Fail, kRefused = Outcome::Refused;

}  // namespace

TEST_CASE("advice: nothing to avoid where all passes") {
  CHECK(advice(report_of({verdict("matmul", DType::F32, kPass)})).empty());
  CHECK(advice({}).empty());
}

TEST_CASE("advice: a wrong layout is replaced by the other") {
  CHECK(
      advice(report_of({verdict("conv3d.dilated", DType::F32, kFail, Layout::Contiguous),
                        verdict("conv3d.dilated", DType::F32, kPass, Layout::ChannelsLast)})) ==
      Sentences{"conv3d.dilated, f32, contiguous: use channels_last (error 0.31, allowed 2e-06)"});
  CHECK(
      advice(report_of({verdict("conv3d.dilated", DType::F32, kPass, Layout::Contiguous),
                        verdict("conv3d.dilated", DType::F32, kFail, Layout::ChannelsLast)})) ==
      Sentences{"conv3d.dilated, f32, channels_last: use contiguous (error 0.31, allowed 2e-06)"});
}

TEST_CASE("advice: wrong in both layouts means another dtype, else the CPU") {
  auto verdicts = std::vector{verdict("conv2d", DType::BF16, kFail, Layout::Contiguous),
                              verdict("conv2d", DType::BF16, kFail, Layout::ChannelsLast)};
  CHECK(advice(report_of(verdicts)) ==
        Sentences{"conv2d, bf16: run it on the CPU (error 0.31, allowed 2e-06)"});
  verdicts.push_back(verdict("conv2d", DType::F16, kPass));
  CHECK(advice(report_of(verdicts)) ==
        Sentences{"conv2d, bf16: use f16 (error 0.31, allowed 2e-06)"});
}

TEST_CASE("advice: attention falls back to the next method that passed in that dtype") {
  auto verdicts = std::vector{verdict("attention.fused_causal", DType::F16, kFail),
                              verdict("attention.explicit_mask", DType::F16, kPass),
                              verdict("attention.math", DType::F16, kPass)};
  CHECK(advice(report_of(verdicts))
            .at(0)
            .starts_with("attention.fused_causal, f16: use attention.explicit_mask"));
  verdicts[1].outcome = kFail;
  const auto sentences = advice(report_of(verdicts));
  CHECK(sentences.at(0).starts_with("attention.fused_causal, f16: use attention.math"));
  CHECK(sentences.at(1).starts_with("attention.explicit_mask, f16: use attention.math"));
}

TEST_CASE("advice: known faults have their own remedy") {
  const auto sentence = [](const char* op, DType dtype = DType::F32) {
    return advice(report_of({verdict(op, dtype, kFail)})).at(0);
  };
  CHECK(sentence("sampling.zero_probability").find("draw tokens on the CPU") != std::string::npos);
  CHECK(sentence("checkpoint.dropout").find("no gradient checkpointing") != std::string::npos);
  CHECK(sentence("transfer.non_blocking").find("copy waits") != std::string::npos);
  CHECK(sentence("layer_norm.frozen_input").find("require a gradient") != std::string::npos);
  CHECK(sentence("views.sliced").find("copy a slice") != std::string::npos);
}

TEST_CASE("advice: a refusal is quoted, a dtype refused by many ops is reported once") {
  CHECK(advice(report_of({verdict("float64", DType::F64, kRefused)})) ==
        Sentences{"float64, f64: keep float64 on the CPU (refused: not supported)"});
  std::vector<Verdict> verdicts;
  for (const char* op : {"matmul", "linear", "conv2d"}) {
    verdicts.push_back(verdict(op, DType::F32, kPass));
    verdicts.push_back(verdict(op, DType::BF16, kRefused));
  }
  CHECK(advice(report_of(verdicts)) == Sentences{"bf16: refused by matmul, linear, conv2d"});
}

TEST_CASE("advice: what is slower than the CPU is named with its factor") {
  auto slow = verdict("matmul", DType::F32, kPass);
  slow.device_ms = 4.2;
  slow.cpu_ms = 2;
  auto fast = verdict("conv2d", DType::F32, kPass);
  fast.device_ms = 1;
  fast.cpu_ms = 2;
  CHECK(advice(report_of({slow, fast})) ==
        Sentences{"slower than the CPU here: matmul f32 (2.1x)"});
}

TEST_CASE("summary: one row per op and layout with the worst case of each dtype") {
  auto near = verdict("conv2d", DType::F32, kPass);
  near.error = 1.5e-6;
  const auto report = report_of({verdict("conv2d", DType::F32, kPass), near,
                                 verdict("conv2d", DType::BF16, kFail, Layout::ChannelsLast),
                                 verdict("float64", DType::F64, kRefused)});
  const auto table = summary_table(report);
  INFO(table);
  CHECK(table.find("conv2d   contiguous     pass 2e-06/2e-06") != std::string::npos);
  CHECK(table.find("FAIL 3e-01/2e-06") != std::string::npos);
  CHECK(table.find("f64 refused") != std::string::npos);
  CHECK(closing_line(report) == "2 passed, 1 failed, 1 refused");
  CHECK(failures(report).size() == 1);
}

TEST_CASE("summary: the full table has every probe") {
  auto slow = verdict("matmul", DType::F32, kPass);
  slow.device_ms = 4;
  slow.cpu_ms = 2;
  const auto report = report_of({slow, verdict("linear", DType::F16, kFail)});
  const auto table = full_table(report);
  CHECK(table.find("matmul/f32/contiguous/forward") != std::string::npos);
  CHECK(table.find("pass, slower than CPU") != std::string::npos);
  CHECK(table.find("linear/f16/contiguous/forward") != std::string::npos);
  CHECK(closing_line(report) == "1 passed, 1 failed, 0 refused, 1 slower than the CPU");
}
