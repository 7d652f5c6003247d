// SPDX-License-Identifier: Apache-2.0
// Properties that hold for every profile and every shipped model.
#include "tests/plan/table.h"

using namespace ubique;
using namespace ubique::plan;

namespace {

const std::vector<std::string> kModels = {"meshnet26", "msinet", "codelm-starcoder2-3b-lora",
                                          "acestep", "trm-sudoku"};

Needs model_named(const std::string& name) {
  return read_needs_file(std::string(UBIQUE_SOURCE_DIR) + "/configs/needs/" + name + ".yaml");
}

/// Calls back for every machine, model and mode that has a plan.
template <typename Visit>
void each_plan(Visit visit) {
  for (const auto& name : kModels) {
    const auto needs = model_named(name);
    for (const auto mode : {Mode::Train, Mode::Run}) {
      if (mode == Mode::Train && !needs.can_train()) continue;
      Wishes wishes;
      wishes.mode = mode;
      for (const auto& id : device::profile_ids()) {
        const auto facts = machine(id);
        const auto attempt = attempt_plan(facts, {}, needs, wishes);
        CAPTURE(name);
        CAPTURE(id);
        if (attempt.plan) visit(facts, needs, wishes, *attempt.plan);
      }
    }
  }
}

std::int64_t batch_in(const device::Facts& facts, const probe::Report& report, const Needs& needs,
                      const Wishes& wishes) {
  const auto attempt = attempt_plan(facts, report, needs, wishes);
  return attempt.plan ? attempt.plan->micro_batch.value : 0;
}

}  // namespace

TEST_CASE("plans: most models have one on most machines") {
  int plans = 0;
  each_plan([&](const auto&, const auto&, const auto&, const auto&) { ++plans; });
  CHECK(plans > 250);
}

TEST_CASE("plans: the same input gives the same plan") {
  each_plan([](const auto& facts, const auto& needs, const auto& wishes, const Plan& plan) {
    CHECK(to_json(make_plan(facts, {}, needs, wishes)).dump() == to_json(plan).dump());
  });
}

TEST_CASE("plans: the effective batch is the model's own everywhere, made of whole batches") {
  each_plan([](const auto&, const auto& needs, const auto& wishes, const Plan& plan) {
    CHECK(plan.micro_batch.value * plan.accumulation.value == plan.effective_batch.value);
    if (wishes.mode == Mode::Train) CHECK(plan.effective_batch.value == needs.effective_batch);
  });
}

TEST_CASE("plans: every choice has a reason and every rejected option too") {
  each_plan([](const auto&, const auto&, const auto&, const Plan& plan) {
    for (const auto& field : fields(plan)) {
      CAPTURE(field.key);
      CHECK_FALSE(field.reason.empty());
      for (const auto& item : field.rejected)
        CHECK_FALSE((item.option.empty() || item.why.empty()));
    }
  });
}

TEST_CASE("plans: what is predicted fits, and its parts add up") {
  each_plan([](const auto& facts, const auto&, const auto&, const Plan& plan) {
    const auto& memory = plan.memory;
    CHECK(memory.fits);
    CHECK(memory.total <= memory.budget);
    CHECK(memory.budget == facts.budget_bytes);
    CHECK(memory.weights + memory.gradients + memory.optimizer + memory.activations +
              memory.workspace ==
          memory.total);
  });
}

TEST_CASE("plans: CUDA-only features are off elsewhere") {
  each_plan([](const auto& facts, const auto&, const auto&, const Plan& plan) {
    if (facts.kind == device::Kind::Cuda) return;
    CHECK_FALSE(plan.pinned_memory.value);
    CHECK_FALSE(plan.non_blocking.value);
    CHECK_FALSE(plan.graph_capture.value);
    CHECK_FALSE(plan.tf32.value);
    CHECK_FALSE(plan.autotune.value);
  });
}

TEST_CASE("plans: flash attention on CUDA only in half precision from sm80 on, never on Metal") {
  each_plan([](const auto& facts, const auto&, const auto&, const Plan& plan) {
    if (plan.attention.value != Attention::Flash) return;
    CHECK(facts.kind != device::Kind::Mps);
    if (facts.kind == device::Kind::Cuda) {
      CHECK(facts.capability >= 80);
      CHECK(is_half(plan.dtype.value));
    }
  });
}

TEST_CASE("plans: a scaler comes with f16 training and with nothing else") {
  each_plan([](const auto&, const auto&, const auto& wishes, const Plan& plan) {
    const bool wanted = wishes.mode == Mode::Train && plan.dtype.value == DType::F16;
    CHECK(plan.grad_scaler.value == wanted);
  });
}

TEST_CASE("batch: more memory never makes it smaller") {
  const auto half_proven =
      probed({pass("matmul", DType::F32), pass("matmul", DType::BF16), pass("matmul", DType::F16),
              pass("linear", DType::F32), pass("linear", DType::BF16), pass("linear", DType::F16)});
  for (const auto& name : kModels) {
    const auto needs = model_named(name);
    for (const auto mode : {Mode::Train, Mode::Run}) {
      if (mode == Mode::Train && !needs.can_train()) continue;
      Wishes wishes;
      wishes.mode = mode;
      for (const char* id : {"m1-16g", "m4-max-128g", "rtx4090", "t4", "cpu-desktop"}) {
        for (const auto& report : {probe::Report{}, half_proven}) {
          std::int64_t before = 0;
          for (double gib = 0.25; gib < 300; gib *= 1.07) {
            const auto facts = with_memory(machine(id), static_cast<std::int64_t>(gib * (1 << 30)));
            const auto batch = batch_in(facts, report, needs, wishes);
            CAPTURE(name);
            CAPTURE(id);
            CAPTURE(gib);
            REQUIRE(batch >= before);
            before = batch;
          }
          CHECK(before > 0);
        }
      }
    }
  }
}

TEST_CASE("memory: a larger batch never needs less, checkpointing never more") {
  for (const auto& name : kModels) {
    const auto needs = model_named(name);
    if (!needs.can_train()) continue;
    MemoryChoice choice{Mode::Train, device::Kind::Mps, DType::F32, Attention::Math, false, 1};
    std::int64_t before = 0;
    for (choice.batch = 1; choice.batch < 100; choice.batch += 7) {
      choice.checkpointing = false;
      const auto plain = predict_memory(needs, choice, 0).total;
      choice.checkpointing = true;
      CAPTURE(name);
      CHECK(plain > before);
      CHECK(predict_memory(needs, choice, 0).total <= plain);
      before = plain;
    }
  }
}
