// SPDX-License-Identifier: Apache-2.0
// Rules about batches, accumulation and checkpointing, and models that do not fit.
#include "tests/plan/table.h"

using namespace ubique;
using namespace ubique::plan;

namespace {

constexpr std::int64_t kMiB = 1 << 20;

/// 100 MiB a sample in f32 with checkpointing to a tenth; all else is small.
Needs hungry_model() {
  auto needs = linear_model();
  needs.activations.saved = 25 * kMiB;
  needs.checkpointing = {.supported = true, .kept = 0.1, .extra = 0.33, .levels = {}};
  needs.effective_batch = 16;
  return needs;
}

device::Facts cpu_with(std::int64_t mib) { return with_memory(machine("cpu-laptop"), mib * kMiB); }

Needs normed_model() {
  auto needs = hungry_model();
  needs.ops.push_back("batch_norm2d");
  return needs;
}

}  // namespace

TEST_CASE("batch: the largest divisor of the effective batch that fits, the rest is accumulated") {
  check_rows({
      {"all of it", cpu_with(4000), unmeasured, hungry_model(), "", "micro_batch=16",
       "all that is wanted"},
      {"half", cpu_with(1500), unmeasured, hungry_model(), "", "micro_batch=8", "16: more memory"},
      {"accumulated", cpu_with(1500), unmeasured, hungry_model(), "", "accumulation=2",
       "keeps the effective batch at 16"},
      {"one", cpu_with(250), unmeasured, hungry_model(), "", "micro_batch=1", "largest that fits"},
      {"sixteen times", cpu_with(250), unmeasured, hungry_model(), "", "accumulation=16", ""},
      {"constant", cpu_with(250), unmeasured, hungry_model(), "", "effective_batch=16",
       "the same on every machine"},
      {"batch norm is told", cpu_with(1500), unmeasured, normed_model(), "", "accumulation=2",
       "batch norm sees 8"},
  });
}

TEST_CASE("batch: wishes") {
  auto limited = hungry_model();
  limited.max_batch = 4;
  check_rows({
      {"micro batch", cpu_with(4000), unmeasured, hungry_model(), "batch: 2", "accumulation=8",
       "2 x 8"},
      {"more than recommended", cpu_with(9000), unmeasured, hungry_model(), "batch: 32",
       "effective_batch=32", "more than the recommended 16"},
      {"effective", cpu_with(4000), unmeasured, hungry_model(), "effective_batch: 12",
       "micro_batch=12", ""},
      {"product", cpu_with(4000), unmeasured, hungry_model(), "{batch: 3, accumulation: 5}",
       "effective_batch=15", "batch x accumulation"},
      {"accumulation alone", cpu_with(9000), unmeasured, hungry_model(), "accumulation: 2",
       "effective_batch=32", "2 x the model's batch"},
      {"processes share", "h200", unmeasured, hungry_model(), "world_size: 4", "micro_batch=4", ""},
      {"processes count", "h200", unmeasured, hungry_model(), "world_size: 4", "effective_batch=16",
       ""},
      {"processes share unevenly", "h200", unmeasured, hungry_model(), "world_size: 3",
       "effective_batch=16", ""},
      {"the model's limit", cpu_with(9000), unmeasured, limited, "", "micro_batch=4", ""},
      {"old keys multiply", cpu_with(4000), unmeasured, hungry_model(),
       "optimization: {batch_size: 1, gradient_accumulation_steps: 8}", "micro_batch=8", ""},
      {"global batch size", cpu_with(4000), unmeasured, hungry_model(), "global_batch_size: 4",
       "effective_batch=4", "as asked"},
      {"a global batch in two parts", cpu_with(4000), unmeasured, hungry_model(),
       "{global_batch_size: 4, accumulation: 2}", "micro_batch=2", ""},
      {"a global batch, one at once", cpu_with(4000), unmeasured, hungry_model(),
       "{global_batch_size: 4, batch: 1}", "accumulation=4", ""},
      {"inference", cpu_with(4000), unmeasured, hungry_model(), "{mode: run, batch: 7}",
       "micro_batch=7", "as asked"},
  });
  CHECK(contains(refusal(ErrorKind::Usage, cpu_with(4000), {}, hungry_model(), "batch: 3"),
                 "split evenly"));
  CHECK(contains(refusal(ErrorKind::Usage, cpu_with(4000), {}, hungry_model(),
                         "{batch: 2, accumulation: 2, effective_batch: 5}"),
                 "contradict"));
  CHECK(contains(refusal(ErrorKind::Usage, machine("h200"), {}, hungry_model(), "world_size: 17"),
                 "more processes than samples"));
  CHECK(contains(refusal(ErrorKind::Usage, cpu_with(4000), {}, limited, "batch: 8"), "at most 4"));
  CHECK(contains(refusal(ErrorKind::Usage, cpu_with(4000), {}, hungry_model(),
                         "{batch: 1000000000, accumulation: 1000000000}"),
                 "too large"));
}

TEST_CASE("batch: inference takes the largest batch that fits, up to the model's limit") {
  auto needs = linear_model();
  needs.activations.run = 25 * kMiB;
  needs.run_batch = 16;
  check_rows({
      {"all", cpu_with(4000), unmeasured, needs, "mode: run", "micro_batch=16", ""},
      {"some", cpu_with(1000), unmeasured, needs, "mode: run", "micro_batch=9",
       "more memory than there is"},
      {"nothing to accumulate", cpu_with(1000), unmeasured, needs, "mode: run", "accumulation=1",
       "no gradients"},
  });
}

TEST_CASE("checkpointing: only if memory requires it and its probe passed") {
  auto with_dropout = hungry_model();
  with_dropout.dropout = true;
  auto unsupported = hungry_model();
  unsupported.checkpointing.supported = false;
  auto busy = hungry_model();
  busy.busy_batch = 4;
  const auto wrong_mask =
      probed({pass("matmul", DType::F32), fault("checkpoint.dropout", DType::F32)});
  check_rows({
      {"not needed", cpu_with(4000), unmeasured, hungry_model(), "", "checkpointing=off",
       "enough fits without it"},
      {"needed", cpu_with(150), unmeasured, hungry_model(), "", "checkpointing=on",
       "33 % more work"},
      {"asked", cpu_with(4000), unmeasured, hungry_model(), "checkpointing: on", "checkpointing=on",
       "as asked"},
      {"unasked", cpu_with(4000), unmeasured, hungry_model(), "checkpointing: off",
       "checkpointing=off", "as asked"},
      {"for a busy device", cpu_with(350), unmeasured, busy, "", "checkpointing=on",
       "without it 2 samples"},
      {"and no more than that", cpu_with(350), unmeasured, busy, "", "micro_batch=4", "busy"},
      {"dropout that is right", cpu_with(150),
       probed({pass("matmul", DType::F32), pass("checkpoint.dropout", DType::F32)}), with_dropout,
       "", "checkpointing=on", ""},
      {"a fault that concerns only dropout", cpu_with(150), wrong_mask, hungry_model(), "",
       "checkpointing=on", ""},
      {"dropout that is wrong", cpu_with(4000), wrong_mask, with_dropout, "", "checkpointing=off",
       "checkpoint.dropout"},
      {"inference", cpu_with(4000), unmeasured, hungry_model(), "mode: run", "checkpointing=off",
       "no backward pass"},
  });
  CHECK(contains(
      refusal(ErrorKind::Device, cpu_with(4000), wrong_mask, with_dropout, "checkpointing: on"),
      "checkpoint.dropout/f32/contiguous failed"));
  CHECK(contains(refusal(ErrorKind::Device, cpu_with(4000), {}, unsupported, "checkpointing: on"),
                 "cannot be checkpointed"));
}

TEST_CASE("too large: the error names both numbers and what to change") {
  auto message = refusal(ErrorKind::Device, cpu_with(80), {}, hungry_model(), "");
  CHECK(contains(message, "does not fit"));
  CHECK(contains(message, "has 80.0 MiB"));
  CHECK(contains(message, "with gradient checkpointing"));
  CHECK(contains(message, "ubique plan --on all"));
  message = refusal(ErrorKind::Device, cpu_with(4000), {}, hungry_model(), "memory: 80MiB");
  CHECK(contains(message, "--memory 3.9 GiB or none"));
  message = refusal(ErrorKind::Device, cpu_with(150), {}, hungry_model(), "checkpointing: off");
  CHECK(contains(message, "--checkpointing auto"));
  message = refusal(ErrorKind::Device, cpu_with(700), {}, hungry_model(),
                    "{batch: 8, checkpointing: off}");
  CHECK(contains(message, "a smaller --batch"));
  CHECK(contains(message, "--dtype bf16"));
}

TEST_CASE("too large: the suggested dtype is one that the device has") {
  const auto m1 = with_memory(machine("m1-16g"), 700 * kMiB);
  CHECK(contains(refusal(ErrorKind::Device, m1, {}, hungry_model(),
                         "{dtype: f32, batch: 8, checkpointing: off}"),
                 "--dtype f16"));
}

TEST_CASE("too large: a single tensor beyond the device's limit") {
  auto needs = conv_model(3);
  needs.activations.largest = std::int64_t{64} * 256 * 256 * 256;  // exactly 2^32 bytes in f32
  needs.effective_batch = 1;
  auto message = refusal(ErrorKind::Device, machine("m4-max-128g"), {}, needs, "dtype: f32");
  CHECK(contains(message, "largest tensor"));
  CHECK(contains(message, "less than 4.0 GiB"));
  check_rows({
      {"half of it fits", "m4-max-128g", unmeasured, needs, "", "dtype=bf16", "f32 does not fit"},
  });
  needs.activations.largest /= 4;
  needs.effective_batch = 8;
  check_rows({
      {"the batch is limited too", "m4-max-128g", unmeasured, needs, "dtype: f32", "micro_batch=2",
       ""},
      {"not on CUDA", "h200", unmeasured, needs, "dtype: f32", "micro_batch=8", ""},
  });
  auto unknown = machine("m4-max-128g");
  unknown.max_tensor_bytes = 0;
  check_rows({
      {"Metal's limit holds unless stated otherwise", unknown, unmeasured, needs, "dtype: f32",
       "micro_batch=2", ""},
  });
}
