// SPDX-License-Identifier: Apache-2.0
// Inference in stages: the parts in memory at once or in turn, and the longest result that fits.
#include "tests/plan/table.h"

using namespace ubique;
using namespace ubique::plan;

namespace {

constexpr std::int64_t kMega = 1'000'000;

/// 100 M weights that read, 1000 M that make 10 units with 1 M values each, 200 M (f32) that write.
Needs staged_needs() {
  Needs needs;
  needs.name = "staged";
  needs.stages = {{"read", {{"reader", 100 * kMega, false, 0}}, kMega},
                  {"make", {{"maker", 1000 * kMega, false, 0}}, 10 * kMega, 0, 1.0 * kMega},
                  {"write", {{"writer", 200 * kMega, false, 4}}, 0, 50 * kMega}};
  for (const auto& stage : needs.stages) needs.parameters.push_back(stage.parameters[0]);
  needs.activations.run = 50 * kMega;
  needs.length = {"seconds", 10, 240};
  needs.tolerates_bf16 = true;
  return needs;
}

MemoryParts run_memory(const Needs& needs, DType dtype, bool in_turn) {
  return predict_memory(needs, {.mode = Mode::Run, .dtype = dtype, .in_turn = in_turn},
                        std::int64_t{1} << 45);
}

Plan plan_with(std::int64_t budget) {
  Wishes wishes;
  wishes.mode = Mode::Run;
  wishes.memory = budget;
  wishes.dtype = DType::BF16;
  return make_plan(machine("h100"), {}, staged_needs(), wishes);
}

}  // namespace

TEST_CASE("stages: all weights count together, in turn those of the largest stage alone") {
  const auto together = run_memory(staged_needs(), DType::BF16, false);
  CHECK(together.weights == (100 + 1000) * kMega * 2 + 200 * kMega * 4);
  CHECK(together.activations == 50 * kMega * 4);
  const auto in_turn = run_memory(staged_needs(), DType::BF16, true);
  CHECK(in_turn.weights == 1000 * kMega * 2);
  CHECK(in_turn.activations == 10 * kMega * 2);
}

TEST_CASE("stages: parts take turns only where they do not fit together, and the plan says so") {
  const auto roomy = plan_with(6000 * kMega);
  CHECK_FALSE(roomy.in_turn.value);
  CHECK(roomy.longest.fits == 240);
  const auto tight = plan_with(2300 * kMega);
  CHECK(tight.in_turn.value);
  CHECK(tight.in_turn.rejected.at(0).option == "off");
  CHECK(tight.memory.total <= 2300 * kMega);
  CHECK(tight.longest.fits < 240);
}

TEST_CASE("stages: the longest result fits, and one unit more does not") {
  const std::int64_t budget = 2300 * kMega;
  const auto longest = plan_with(budget).longest.fits;
  CHECK(longest > 10);
  const auto total = [&](double length) {
    return predict_memory(at_length(staged_needs(), length),
                          {.mode = Mode::Run,
                           .kind = device::Kind::Cuda,
                           .dtype = DType::BF16,
                           .in_turn = true},
                          budget)
        .total;
  };
  CHECK(total(longest) <= budget);
  CHECK(total(longest + 1) > budget);
}

TEST_CASE("stages: what does not fit names the length that would, reports show the longest") {
  auto needs = at_length(staged_needs(), 240);
  Wishes wishes;
  wishes.mode = Mode::Run;
  wishes.memory = 2300 * kMega;
  wishes.dtype = DType::BF16;
  const auto failed = attempt_plan(machine("h100"), {}, needs, wishes);
  CHECK_FALSE(failed.plan.has_value());
  CHECK(failed.error.find(" seconds") != std::string::npos);
  const auto fits = attempt_plan(machine("h100"), {}, staged_needs(), wishes);
  REQUIRE(fits.plan.has_value());
  CHECK(one_row_each({fits}).find("longest") != std::string::npos);
  CHECK(side_by_side({fits}).find("of 240 seconds") != std::string::npos);
  CHECK(to_json(*fits.plan).at("longest").at("unit") == "seconds");
  CHECK(to_json(*fits.plan).at("choices").at("parts_in_turn").at("value") == true);
}
