// SPDX-License-Identifier: Apache-2.0
// Keys from the configuration files of the projects that this one grew from. Most are preferences:
// such a file says "fp16" because it was written for one card, and is then used on another. A
// forced device and a named attention backend are requests.
#include <optional>
#include <string>
#include <vector>

#include "ubique/base/error.h"
#include "ubique/plan/wishes.h"

namespace ubique::plan {
namespace {

/// A value and its key, so that an error about two keys that disagree can name both.
template <typename T>
struct Adopted {
  std::string key;
  T value;
};

template <typename T>
std::optional<T> agreed(const Config& config, const std::vector<Adopted<T>>& found,
                        const char* own_key) {
  if (found.empty()) return std::nullopt;
  for (const auto& other : found) {
    check(other.value == found.front().value, ErrorKind::Usage,
          "[plan.wishes] {} and {} disagree; got {} and {}, expected one value. Set '{}' instead.",
          found.front().key, other.key, config.where(found.front().key), config.where(other.key),
          own_key);
  }
  return found.front().value;
}

template <typename T>
std::optional<T> first_of(const Config& config, const std::vector<std::string>& keys,
                          const char* own_key) {
  std::vector<Adopted<T>> found;
  for (const auto& key : keys) {
    if (const auto value = config.find<T>(key)) found.push_back({key, *value});
  }
  return agreed(config, found, own_key);
}

/// "16-mixed", "bf16-mixed" and "32" (Lightning's names), or any dtype's name.
std::optional<DType> dtype_word(const Config& config, const std::string& key) {
  const auto text = config.find<std::string>(key);
  if (!text || *text == "auto") return std::nullopt;
  if (*text == "no" || *text == "32" || *text == "32-true") return DType::F32;
  if (*text == "16" || *text == "16-mixed") return DType::F16;
  if (*text == "bf16-mixed") return DType::BF16;
  return parse_wished_dtype(*text, config.where(key));
}

void adopt_dtype(const Config& config, Wishes& wishes) {
  std::vector<Adopted<DType>> found;
  for (const char* key : {"model.torch_dtype", "optimization.mixed_precision",
                          "training.autocast_dtype", "arch.forward_dtype", "precision"}) {
    if (const auto dtype = dtype_word(config, key)) found.push_back({key, *dtype});
  }
  for (const char* key : {"training.use_fp16", "model.use_fp16", "use_fp16"}) {
    if (const auto on = config.find<bool>(key); on && *on) found.push_back({key, DType::F16});
  }
  if (const auto on = config.find<bool>("model.use_bf16"); on && *on) {
    found.push_back({"model.use_bf16", DType::BF16});
  }
  bool full_precision = false;  // "no mixed precision" overrides a dtype that is named elsewhere
  for (const char* key : {"training.use_mixed_precision", "optimization.use_mixed_precision"}) {
    if (const auto on = config.find<bool>(key); on && !*on) full_precision = true;
  }
  for (const char* key : {"training.use_fp16", "use_fp16"}) {
    if (const auto on = config.find<bool>(key); on && !*on && found.empty()) full_precision = true;
  }
  const auto prefer_f16 = config.find<bool>("model.mps_prefer_fp16").value_or(false);
  if (wishes.dtype) return;
  wishes.preferred_dtype = full_precision ? DType::F32 : agreed(config, found, "dtype");
  if (prefer_f16 && !full_precision) wishes.preferred_on_mps = DType::F16;
}

/// The batch keys of older files multiply to the effective batch; how much of it goes through the
/// device at once is the plan's to choose.
void adopt_batch(const Config& config, Wishes& wishes) {
  const auto accumulation = first_of<std::int64_t>(
      config,
      {"optimization.gradient_accumulation_steps", "training.gradient_accumulation_steps",
       "gradient_accumulation_steps", "accumulate_grad_batches"},
      "accumulation");
  const auto batch = first_of<std::int64_t>(
      config,
      {"optimization.batch_size", "training.batch_size", "training.batch_size_reference",
       "training.batch_size_large", "training.batch_size_medium", "training.batch_size_small"},
      "effective_batch");
  const auto global = config.find<std::int64_t>("global_batch_size");
  for (const auto& value : {accumulation, batch, global}) {
    check(!value || (*value > 0 && *value <= kMostSamples), ErrorKind::Usage,
          "[plan.wishes] a batch size or accumulation count is out of range; got {}, expected 1 to "
          "{}.",
          value.value_or(0), kMostSamples);
  }
  // Our own keys take precedence. One of batch and accumulation alone divides a global batch.
  const auto factor = accumulation.value_or(1);
  if (wishes.effective_batch > 0 || (wishes.batch > 0 && wishes.accumulation > 0)) return;
  if (global) wishes.effective_batch = *global * factor;
  if (global || wishes.batch > 0 || wishes.accumulation > 0) return;
  if (batch) wishes.effective_batch = *batch * factor;
  if (!batch && accumulation) wishes.accumulation = *accumulation;
}

}  // namespace

void read_adopted_keys(const Config& config, Wishes& wishes) {
  const auto device = config.find<std::string>("device_backend.force_device");
  if (wishes.device == "auto" && device) wishes.device = *device;
  const auto attention = parse_attention(config, "device_backend.attention_backend");
  if (!wishes.attention) wishes.attention = attention;
  const auto gigabytes =
      first_of<double>(config, {"device_backend.max_vram_gb", "max_vram_gb"}, "memory");
  check(!gigabytes || (*gigabytes > 0 && *gigabytes < 1e9), ErrorKind::Usage,
        "[plan.wishes] max_vram_gb is out of range; got {}, expected GB of memory to use at most, "
        "such as 8.",
        gigabytes.value_or(0));
  if (wishes.memory == 0 && gigabytes) wishes.memory = static_cast<std::int64_t>(*gigabytes * 1e9);
  adopt_dtype(config, wishes);
  adopt_batch(config, wishes);
  const auto checkpointing = first_of<bool>(
      config, {"optimization.gradient_checkpointing", "training.use_gradient_checkpointing"},
      "checkpointing");
  // "on" in such a file says that the model may be checkpointed, which the plan decides anyway.
  if (wishes.checkpointing == Toggle::Auto && checkpointing && !*checkpointing) {
    wishes.checkpointing = Toggle::Off;
  }
  const auto pin = config.find<bool>("training.pin_memory");
  if (wishes.pin_memory == Toggle::Auto && pin && !*pin) wishes.pin_memory = Toggle::Off;
  const auto deterministic = config.find<bool>("training.deterministic_mode");
  if (deterministic && *deterministic) wishes.deterministic = true;
  const auto workers =
      first_of<int>(config, {"training.num_workers", "num_workers"}, "prefetch_threads");
  if (wishes.prefetch_threads < 0 && workers && *workers >= 0) wishes.prefetch_threads = *workers;
}

}  // namespace ubique::plan
