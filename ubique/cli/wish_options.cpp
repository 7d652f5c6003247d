// SPDX-License-Identifier: Apache-2.0
// The flags and their help texts.
#include "ubique/cli/wish_options.h"

#include "ubique/cli/verb.h"

namespace ubique::cli {
namespace {

struct WishOption {
  const char* flag;
  const char* key;
  const char* type;
  const char* help;
};

constexpr WishOption kWishOptions[] = {
    {"--dtype", "dtype", "DTYPE", "auto, f32, bf16, f16 or f64"},
    {"--numerics", "numerics", "HOW", "strict, balanced or fast"},
    {"--attention,--attention-backend", "attention", "NAME",
     "auto, flash, efficient, math or explicit_mask"},
    {"--batch", "batch", "N", "samples at once, or auto"},
    {"--effective-batch", "effective_batch", "N", "samples per optimizer step"},
    {"--accumulation", "accumulation", "N", "batches per optimizer step"},
    {"--checkpointing", "checkpointing", "WHEN", "auto, on or off: recompute activations"},
    {"--memory", "memory", "SIZE", "cap on the memory to use, e.g. 8GiB"},
    {"--channels-last", "channels_last", "WHEN", "auto, on or off"},
    {"--graph-capture", "graph_capture", "WHEN", "auto, on or off"},
    {"--fused", "fused", "WHEN", "auto, on or off: our own kernels"},
    {"--pin-memory", "pin_memory", "WHEN", "auto, on or off"},
    {"--world-size,--world", "world_size", "N", "processes of one training run"},
    {"--shard", "shard", "WHAT", "auto, none, optimizer or weights: split among processes"},
    {"--threads", "threads", "N", "compute threads on the CPU, or auto: every core"},
    {"--prefetch-threads", "prefetch_threads", "N", "threads that prepare data, or auto"},
};

}  // namespace

void add_wish_options(CLI::App& app, FlagTexts& texts) {
  for (const auto& option : kWishOptions) {
    app.add_option(option.flag, texts[option.key], option.help)
        ->type_name(option.type)
        ->group(kDeviceGroup);
  }
  app.add_flag_callback(
         "--deterministic", [&texts] { texts["deterministic"] = "true"; },
         "the same numbers every time")
      ->group(kDeviceGroup);
}

std::vector<engine::Option> wish_option_rows() {
  std::vector<engine::Option> rows = {
      {"--device", "device", "NAME", "auto, gpu, cpu, cuda, cuda:N, metal (or mps), xpu, sham",
       kDeviceGroup},
      {"--fallback", "fallback", "", "go on with the CPU if that device is missing", kDeviceGroup}};
  for (const auto& option : kWishOptions) {
    rows.push_back({option.flag, option.key, option.type, option.help, kDeviceGroup});
  }
  rows.push_back(
      {"--deterministic", "deterministic", "", "the same numbers every time", kDeviceGroup});
  return rows;
}

void add_family_variables(Config& config, const std::string& family) {
  if (family == "acestep") config.add_variable("dtype", "ACE_PIPELINE_DTYPE");
}

void set_flags(Config& config, const FlagTexts& texts) {
  for (const auto& [key, text] : texts) {
    if (!text.empty()) config.set_flag(key, text);
  }
}

}  // namespace ubique::cli
