// SPDX-License-Identifier: Apache-2.0
// Wishes from our own keys and from those of older projects.
#include "ubique/plan/wishes.h"

#include "tests/plan/table.h"

using namespace ubique;
using namespace ubique::plan;

namespace {

std::string wishes_error(const std::string& yaml) {
  return test::refusal_of(ErrorKind::Usage, [&] { wishes_from(yaml); });
}

}  // namespace

TEST_CASE("wishes: a batch or a number of threads may be left to the plan by name") {
  const auto wishes = wishes_from("{batch: auto, threads: auto, prefetch_threads: auto}");
  CHECK(wishes.batch == 0);
  CHECK(wishes.threads == 0);
  CHECK(wishes.prefetch_threads == -1);
}

TEST_CASE("wishes: defaults") {
  const auto wishes = wishes_from("");
  CHECK(wishes.mode == Mode::Train);
  CHECK(wishes.device == "auto");
  CHECK_FALSE(wishes.dtype.has_value());
  CHECK_FALSE(wishes.attention.has_value());
  CHECK(wishes.batch == 0);
  CHECK(wishes.checkpointing == Toggle::Auto);
  CHECK(wishes.numerics == Numerics::Balanced);
  CHECK(wishes.world_size == 1);
  CHECK(wishes.prefetch_threads == -1);
}

TEST_CASE("wishes: our own keys") {
  const auto wishes = wishes_from(R"(
mode: run
device: cuda:1
dtype: bfloat16
attention: efficient
batch: 4
effective_batch: 64
accumulation: 16
checkpointing: on
channels_last: off
graph_capture: auto
fused: yes
pin_memory: no
memory: 8GiB
deterministic: true
numerics: strict
world_size: 2
threads: 3
prefetch_threads: 5
)");
  CHECK(wishes.mode == Mode::Run);
  CHECK(wishes.device == "cuda:1");
  CHECK(wishes.dtype == DType::BF16);
  CHECK(wishes.attention == Attention::Efficient);
  CHECK(wishes.batch == 4);
  CHECK(wishes.checkpointing == Toggle::On);
  CHECK(wishes.channels_last == Toggle::Off);
  CHECK(wishes.graph_capture == Toggle::Auto);
  CHECK(wishes.fused == Toggle::On);
  CHECK(wishes.pin_memory == Toggle::Off);
  CHECK(wishes.memory == std::int64_t{8} << 30);
  CHECK(wishes.deterministic);
  CHECK(wishes.numerics == Numerics::Strict);
  CHECK(wishes.prefetch_threads == 5);
}

TEST_CASE("wishes: flags override the environment, which overrides the file") {
  auto config = Config::from_text("{dtype: f32, batch: 2, numerics: fast}", "wishes.yaml");
  config.set_environment({{"UBIQUE_DTYPE", "f16"}, {"UBIQUE_BATCH", "4"}});
  config.set_flag("dtype", "bf16");
  const auto wishes = read_wishes(config);
  config.finish();
  CHECK(wishes.dtype == DType::BF16);
  CHECK(wishes.batch == 4);
  CHECK(wishes.numerics == Numerics::Fast);
}

TEST_CASE("wishes: the keys of older files are preferences") {
  CHECK(wishes_from("training: {use_fp16: true}").preferred_dtype == DType::F16);
  CHECK(wishes_from("training: {use_fp16: false}").preferred_dtype == DType::F32);
  CHECK(wishes_from("use_fp16: true").preferred_dtype == DType::F16);
  CHECK(wishes_from("use_fp16: false").preferred_dtype == DType::F32);
  CHECK(wishes_from("model: {use_bf16: true}").preferred_dtype == DType::BF16);
  CHECK_FALSE(
      wishes_from("model: {use_bf16: false, torch_dtype: auto}").preferred_dtype.has_value());
  CHECK(wishes_from("model: {torch_dtype: float16}").preferred_dtype == DType::F16);
  CHECK(wishes_from("model: {mps_prefer_fp16: true}").preferred_on_mps == DType::F16);
  CHECK(wishes_from("optimization: {mixed_precision: fp16, use_mixed_precision: true}")
            .preferred_dtype == DType::F16);
  CHECK(wishes_from("optimization: {mixed_precision: fp16, use_mixed_precision: false}")
            .preferred_dtype == DType::F32);
  CHECK(wishes_from("precision: bf16-mixed").preferred_dtype == DType::BF16);
  CHECK(wishes_from("precision: 32").preferred_dtype == DType::F32);
  CHECK(wishes_from("precision: 16-mixed").preferred_dtype == DType::F16);
  CHECK(wishes_from("arch: {forward_dtype: bfloat16}").preferred_dtype == DType::BF16);
  CHECK_FALSE(wishes_from("{dtype: f32, training: {use_fp16: true}}").preferred_dtype.has_value());
}

TEST_CASE("wishes: device and attention by their older names") {
  CHECK(wishes_from("device_backend: {force_device: mps}").device == "mps");
  CHECK(wishes_from("device_backend: {force_device: null}").device == "auto");
  CHECK(wishes_from("{device: cpu, device_backend: {force_device: mps}}").device == "cpu");
  CHECK(wishes_from("device_backend: {attention_backend: native}").attention == Attention::Math);
  CHECK(wishes_from("attention: flash_attention_2").attention == Attention::Flash);
  for (const char* name : {"auto", "sdpa", "xformers", "metal"}) {
    CAPTURE(name);
    const auto yaml = std::string("device_backend: {attention_backend: ") + name + "}";
    CHECK_FALSE(wishes_from(yaml).attention.has_value());
  }
}

TEST_CASE("wishes: older batch keys multiply to the effective batch") {
  CHECK(wishes_from("optimization: {batch_size: 2, gradient_accumulation_steps: 8}")
            .effective_batch == 16);
  CHECK(wishes_from("training: {batch_size_reference: 1, batch_size_small: 1, "
                    "gradient_accumulation_steps: 16}")
            .effective_batch == 16);
  CHECK(wishes_from("global_batch_size: 768").effective_batch == 768);
  CHECK(wishes_from("{global_batch_size: 4, gradient_accumulation_steps: 8}").effective_batch ==
        32);
  CHECK(wishes_from("accumulate_grad_batches: 4").accumulation == 4);
  const auto own = wishes_from("{batch: 2, optimization: {batch_size: 8}}");
  CHECK(own.batch == 2);
  CHECK(own.effective_batch == 0);
}

TEST_CASE("wishes: a global batch does not change with how it is divided") {
  CHECK(wishes_from("{global_batch_size: 20, batch: 10}").effective_batch == 20);
  CHECK(wishes_from("{global_batch_size: 20, accumulation: 2}").effective_batch == 20);
  const auto both = wishes_from("{global_batch_size: 20, batch: 4, accumulation: 2}");
  CHECK(both.effective_batch == 0);  // these two say it all
}

TEST_CASE("wishes: older switches") {
  CHECK(wishes_from("optimization: {gradient_checkpointing: false}").checkpointing == Toggle::Off);
  CHECK(wishes_from("training: {use_gradient_checkpointing: true}").checkpointing == Toggle::Auto);
  CHECK(wishes_from("training: {pin_memory: true}").pin_memory == Toggle::Auto);
  CHECK(wishes_from("training: {deterministic_mode: true}").deterministic);
  CHECK(wishes_from("training: {num_workers: 2}").prefetch_threads == 2);
}

TEST_CASE("wishes: bad values name the key, what was found and what was expected") {
  struct Bad {
    const char* yaml;
    const char* word;
  };
  const Bad kBad[] = {
      {"dtype: float23", "auto, f32, bf16, f16 or f64"},
      {"dtype: int8", "not a dtype to compute in"},
      {"attention: flahs", "Did you mean 'flash'?"},
      {"numerics: exact", "strict, balanced, fast"},
      {"checkpointing: sometimes", "auto, on, off"},
      {"mode: predict", "train, run"},
      {"batch: -1", "batch is out of range"},
      {"batch: 0", "expected 1 to"},
      {"threads: 0", "threads is out of range; got 0, expected 1 to 1024, or auto"},
      {"threads: 1025", "expected 1 to 1024"},
      {"prefetch_threads: -1", "expected 0 to 1024, or auto"},
      {"batch: two", "whole number"},
      {"world_size: 0", "world_size"},
      {"memory: lots", "memory"},
      {"btach: 4", "Did you mean 'batch'?"},
      {"device_backend: {force_devise: cuda}", "force_device"},
      {"{model: {use_bf16: true}, training: {use_fp16: true}}", "disagree"},
      {"training: {batch_size_large: 8, batch_size_small: 1}", "disagree"},
      {"optimization: {batch_size: 0}", "out of range"},
      {"training: {use_fp16: perhaps}", "true or false"},
  };
  for (const auto& bad : kBad) {
    CAPTURE(bad.yaml);
    const auto message = wishes_error(bad.yaml);
    CAPTURE(message);
    CHECK(contains(message, bad.word));
  }
}
