// SPDX-License-Identifier: Apache-2.0
// Recorded passes of the transformer on a CPU that records: the same velocities, and recordings
// that are dropped when they would read other weights.
#include "ubique/models/acestep/net/pass_recorder.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/InferenceMode.h>
#include <doctest/doctest.h>

#include "tests/models/acestep/golden.h"
#include "tests/models/acestep/small_model.h"
#include "tests/recording_cpu.h"
#include "ubique/models/acestep/net/adapter.h"
#include "ubique/models/acestep/use/sample.h"

using namespace ubique;
using test::CpuRecords, test::distance, test::random_tensor;

namespace {

struct SmallDit {
  SmallDit() : dit(small_config()) {
    const at::NoGradGuard no_gradients;
    std::uint64_t seed = 1;
    for (auto& parameter : dit.parameters()) {
      parameter.copy_(random_tensor(parameter.sizes(), seed++) / 4);
      parameter.requires_grad_(false);
    }
  }

  static acestep::DitConfig small_config() {
    auto config = test::smallest_networks().transformer;
    config.projectors = false;
    return config;
  }

  acestep::SongContexts contexts(std::int64_t lyrics, std::uint64_t seed) const {
    const auto ids = at::arange(1, lyrics + 1, at::kLong).unsqueeze(0);
    const auto context = [&](std::uint64_t own) {
      const auto text_mask = at::ones({1, 3}, at::kLong);
      return dit.encode({.text = random_tensor({1, 3, dit.config().text_size}, own),
                         .text_mask = text_mask,
                         .speaker = random_tensor({1, dit.config().speaker_size}, own + 1),
                         .lyric_ids = ids,
                         .lyric_mask = at::ones_like(ids)});
    };
    return {.cond = context(seed), .null = context(seed + 10)};
  }

  at::Tensor song(const acestep::SongContexts& contexts, acestep::PassRecorder* recorder,
                  std::int64_t frames = 9) const {
    const auto noise = random_tensor({1, 8, 16, frames}, 77);
    return acestep::sample_latents(dit, contexts, noise, {.steps = 8, .recorder = recorder});
  }

  acestep::Dit dit;
};

}  // namespace

TEST_CASE("acestep: a song of recorded passes is the song of plain ones, and the next song too") {
  if (!test::kDevice.is_cpu()) return;
  const SmallDit small;
  const CpuRecords records;
  const at::NoGradGuard no_gradients;
  acestep::PassRecorder recorder;
  const auto first = small.contexts(5, 100), second = small.contexts(40, 200);
  CHECK(distance(small.song(first, &recorder), small.song(first, nullptr)) < 1e-4);
  CHECK(records.replays() == 8);       // some of two branches, some of one
  const c10::InferenceMode inference;  // as make_song() has it
  const auto other = small.song(second, &recorder);
  CHECK(distance(other, small.song(second, nullptr)) < 1e-4);
  CHECK(distance(other, small.song(first, nullptr)) > 1e-3);
  CHECK(distance(small.song(first, &recorder, 12), small.song(first, nullptr, 12)) < 1e-4);
  CHECK(records.replays() == 24);
}

TEST_CASE("acestep: other adapters are recorded anew") {
  if (!test::kDevice.is_cpu()) return;
  SmallDit small;
  const CpuRecords records;
  const at::NoGradGuard no_gradients;
  acestep::PassRecorder recorder;
  const auto plain = small.song(small.contexts(5, 100), &recorder);
  const auto adapter = acestep::make_adapter(small.dit, {.rank = 2, .alpha = 4});
  std::uint64_t seed = 900;
  for (auto& parameter : adapter->parameters()) {
    parameter.copy_(random_tensor(parameter.sizes(), seed++));
  }
  adapter->attach();
  const auto contexts = small.contexts(5, 100);
  const auto adapted = small.song(contexts, &recorder);
  CHECK(distance(adapted, small.song(contexts, nullptr)) < 1e-4);
  CHECK(distance(adapted, plain) > 1e-3);
  adapter->attach(0.25);  // the same tensors with another strength
  const auto weaker_contexts = small.contexts(5, 100);
  const auto weaker = small.song(weaker_contexts, &recorder);
  CHECK(distance(weaker, small.song(weaker_contexts, nullptr)) < 1e-4);
  CHECK(distance(weaker, adapted) > 1e-3);
}

TEST_CASE("acestep: a device that cannot record, or has no memory for it, launches kernels") {
  if (!test::kDevice.is_cpu()) return;
  const SmallDit small;
  const at::NoGradGuard no_gradients;
  const auto contexts = small.contexts(5, 100);
  const auto expected = small.song(contexts, nullptr);
  acestep::PassRecorder without;
  CHECK(distance(small.song(contexts, &without), expected) < 1e-4);
  const CpuRecords full(/*room=*/0);
  acestep::PassRecorder recorder;
  CHECK(distance(small.song(contexts, &recorder), expected) < 1e-4);
  CHECK(full.replays() == 0);
}
