// SPDX-License-Identifier: Apache-2.0
// Shared records: round trip, privacy, and the check of every field.
#include "ubique/probe/report/record.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "tests/base/scratch.h"
#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"

using namespace ubique;
using namespace ubique::probe;

namespace {

Report sample_report() {
  Report report;
  report.device = "Apple M3 Max";
  report.backend = "mps";
  report.chip = "apple-m3";
  report.torch_version = "2.11.0";
  report.os_version = "macOS 26.3";
  report.probe_version = 1;
  report.seconds = 12.5;
  Verdict passed;
  passed.id = "matmul[8x8-8]/f32/contiguous/forward";
  passed.op = "matmul";
  passed.outcome = Outcome::Pass;
  passed.error = 1e-7;
  passed.tolerance = 2e-6;
  passed.device_ms = 0.5;
  passed.cpu_ms = 2;
  Verdict failed;
  failed.id = "conv3d.dilated[c5d2s8]/bf16/channels_last/gradient";
  failed.op = "conv3d.dilated";
  failed.dtype = DType::BF16;
  failed.layout = Layout::ChannelsLast;
  failed.gradient = true;
  failed.outcome = Outcome::Fail;
  failed.error = std::numeric_limits<double>::infinity();
  failed.tolerance = 0.03;
  failed.detail = "error in /home/jane/torch/conv.mm at 3/4 of the way";
  report.verdicts = {passed, failed};
  return report;
}

/// The message that reading this text gives.
std::string record_complaint(const std::string& text) {
  const test::ScratchFolder folder;
  write_file(folder / "record.json", text);
  try {
    read_record(folder / "record.json");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::Input);
    return error.what();
  }
  return "no complaint";
}

template <typename Change>
std::string complaint_after(Change change) {
  const test::ScratchFolder folder;
  write_record(folder / "r.json", sample_report());
  auto document = parse_json(read_file(folder / "r.json"), "r");
  change(document);
  return record_complaint(document.dump());
}

}  // namespace

TEST_CASE("record: what is written is read back") {
  const test::ScratchFolder folder;
  const auto path = folder / "record.json";
  write_record(path, sample_report());
  const auto report = read_record(path);
  CHECK(report.device == "Apple M3 Max");
  CHECK(report.chip == "apple-m3");
  CHECK(report.os_version == "macOS 26.3");
  CHECK(report.seconds == 12.5);
  REQUIRE(report.verdicts.size() == 2);
  CHECK(report.verdicts[0].error == 1e-7);
  CHECK(report.verdicts[0].cpu_ms == 2);
  CHECK_FALSE(report.verdicts[0].slower_than_cpu());
  CHECK(report.verdicts[1].dtype == DType::BF16);
  CHECK(report.verdicts[1].layout == Layout::ChannelsLast);
  CHECK(report.verdicts[1].gradient);
  CHECK(std::isinf(report.verdicts[1].error));
}

TEST_CASE("record: paths in messages are removed") {
  const test::ScratchFolder folder;
  write_record(folder / "record.json", sample_report());
  const auto text = read_file(folder / "record.json");
  CHECK_FALSE(test::contains(text, "jane"));
  CHECK(test::contains(text, "error in <path> at 3/4 of the way"));
}

TEST_CASE("record: a file that is not a record is refused") {
  CHECK(test::contains(record_complaint("{"), "is not JSON"));
  CHECK(test::contains(record_complaint("[]"), "expected an object"));
  CHECK(test::contains(record_complaint("{}"), "has no 'schema'"));
  CHECK(test::contains(record_complaint(R"({"schema": "ubique.plan"})"),
                       "expected ubique.probe_record"));
  CHECK(test::contains(
      record_complaint(R"({"schema": "ubique.probe_record", "schema_version": 9})"), "got 9"));
  CHECK_THROWS_AS(read_record("/nowhere/record.json"), Error);
}

TEST_CASE("record: every field is checked") {
  CHECK(test::contains(complaint_after([](Json& d) { d.erase("chip"); }), "has no 'chip'"));
  CHECK(test::contains(complaint_after([](Json& d) { d["device"] = 3; }), "expected text"));
  CHECK(test::contains(complaint_after([](Json& d) { d["probe_version"] = 0; }),
                       "a whole number from 1"));
  CHECK(
      test::contains(complaint_after([](Json& d) { d["probe_version"] = 1.5; }), "a whole number"));
  CHECK(test::contains(complaint_after([](Json& d) { d["verdicts"] = "all fine"; }),
                       "expected a list"));
  CHECK(test::contains(complaint_after([](Json& d) { d["verdicts"][1] = 4; }),
                       "verdict 2 is number"));
  CHECK(test::contains(complaint_after([](Json& d) { d["seconds"] = -1; }), "not negative"));
}

TEST_CASE("record: every field of a verdict is checked") {
  const auto with = [](const char* key, const Json& value) {
    return complaint_after([&](Json& d) { d["verdicts"][0][key] = value; });
  };
  CHECK(test::contains(with("dtype", "f99"), "expected f16, bf16, f32 or f64"));
  CHECK(test::contains(with("dtype", "i32"), "expected f16, bf16, f32 or f64"));
  CHECK(test::contains(with("layout", "diagonal"), "expected contiguous or channels_last"));
  CHECK(test::contains(with("outcome", "good"), "expected pass, fail, refused or skipped"));
  CHECK(test::contains(with("gradient", 1), "expected true or false"));
  CHECK(test::contains(with("error", "small"), "a number"));
  CHECK(test::contains(with("error", -1), "not negative"));
  CHECK(test::contains(with("tolerance", nullptr), "a number"));
  CHECK(test::contains(with("op", "conv2d"), "starts with the op"));
  CHECK(test::contains(with("op", ""), "starts with the op"));
  CHECK(test::contains(complaint_after([](Json& d) { d["verdicts"][1] = d["verdicts"][0]; }),
                       "twice"));
}
