// SPDX-License-Identifier: Apache-2.0
// What a song needs: counted parameters, stages, lengths and machines.
#include "ubique/models/acestep/net/needs.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/models/acestep/random_codec.h"
#include "ubique/base/error.h"
#include "ubique/device/profile.h"
#include "ubique/device/runtime.h"
#include "ubique/models/acestep/net/adapter.h"
#include "ubique/models/acestep/net/train_needs.h"
#include "ubique/models/acestep/use/sound/decode_stream.h"
#include "ubique/plan/memory.h"
#include "ubique/plan/plan.h"

using namespace ubique;

namespace {

plan::Plan planned(const char* machine, const acestep::SongSize& song, std::int64_t memory = 0) {
  plan::Wishes wishes;
  wishes.mode = plan::Mode::Run;
  wishes.memory = memory;
  return plan::make_plan(device::load_profile(machine).facts, {}, acestep::song_needs({}, song),
                         wishes);
}

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

/// Predicted GB of an update of adapters of rank 16 on a minute, in bf16 on a card.
double adapter_gb(std::optional<kernels::QuantFormat> form, bool checkpointing) {
  const acestep::NetworkConfigs networks;
  auto config = networks.transformer;
  config.projectors = false;
  acestep::TrainUse use{.size = {.frames = 645, .context = 301}};
  use.adapters = nn::count_values(acestep::adapter_shapes(config, {}));
  use.text = nn::count_values(acestep::parameter_shapes(networks.text));
  if (form) {
    use.quantized.numbers = acestep::quantized_values(config, *form);
    use.quantized.bytes = static_cast<std::int64_t>(static_cast<double>(use.quantized.numbers) *
                                                    kernels::bytes_each(*form, true));
    use.quantized.largest = config.hidden() * 2 * config.inner();
  }
  const plan::MemoryChoice choice{.kind = device::Kind::Cuda,
                                  .dtype = DType::BF16,
                                  .attention = plan::Attention::Efficient,
                                  .checkpointing = checkpointing};
  const auto needs = acestep::train_needs(config, use);
  return static_cast<double>(plan::predict_memory(needs, choice, 100 * kGiB).total) / 1e9;
}

}  // namespace

TEST_CASE("acestep needs: the parts of the released model have the sizes of its files") {
  const auto needs = acestep::song_needs({}, {});
  REQUIRE(needs.stages.size() == 3);
  CHECK(needs.stages[0].parameters[0].count == 281'861'376 - 256'384 * 768);
  const auto transformer = needs.stages[1].parameters[0].count;
  CHECK(transformer > 2'580'000'000);
  CHECK(transformer < 2'600'000'000);
  CHECK(needs.stages[2].parameters.size() == 2);
}

TEST_CASE(
    "acestep needs: four minutes fit into 7 GiB in bf16, into 6 with parts in turn, into 5 in 8 "
    "bits") {
  CHECK_FALSE(planned("rtx3090", {.seconds = 240}, 7 * kGiB).in_turn.value);
  const auto large = planned("rtx3090", {.seconds = 240}, 6 * kGiB);
  CHECK(large.in_turn.value);
  CHECK(large.longest.fits == acestep::kLongestPlanned);
  CHECK_THROWS_AS((void)planned("rtx3090", {.seconds = 240}, 5 * kGiB), plan::DoesNotFit);
  const auto small =
      planned("rtx3090", {.seconds = 240, .weights = kernels::QuantFormat::Int8}, 5 * kGiB);
  CHECK(small.memory.total < 5 * kGiB);
  CHECK_FALSE(planned("rtx3090", {.seconds = 60}).in_turn.value);
}

TEST_CASE("acestep needs: decoding needs what a tile needs, whatever the length") {
  const auto minute = acestep::song_needs({}, {.seconds = 60});
  const auto four = acestep::song_needs({}, {.seconds = 240});
  CHECK(minute.stages[2].run_f32 == four.stages[2].run_f32);
  const auto more = static_cast<double>(four.stages[1].run - minute.stages[1].run);
  CHECK(more > 179 * minute.stages[1].run_each);
  CHECK(more < 181 * minute.stages[1].run_each);
}

TEST_CASE("acestep needs: short convolutions are asked for on an old Metal, and kept") {
  auto facts = device::load_profile("m1-16g").facts;
  facts.platform = "Darwin";
  facts.os_version = "14.5";
  plan::Wishes wishes;
  wishes.mode = plan::Mode::Run;
  acestep::SongSize song{.seconds = 10};
  const auto plan =
      plan::make_plan(facts, {}, acestep::song_needs(acestep::tiny_networks(), song), wishes);
  CHECK(std::ranges::any_of(plan.workarounds,
                            [](const auto& known) { return known.id == "tile_conv1d"; }));
}

TEST_CASE("acestep needs: absurd settings of plan are refused") {
  const auto refused = [](const char* key, const char* value) {
    Config config;
    config.set_flag(key, value);
    CHECK_THROWS_AS((void)acestep::read_song_needs(config), Error);
  };
  refused("seconds", "0");
  refused("seconds", "36000");
  refused("steps", "0");
  refused("weights", "int3");
}

TEST_CASE("acestep needs: updates of adapters take what was measured on an H200, within 10 %") {
  CHECK(adapter_gb({}, false) == doctest::Approx(7.55).epsilon(0.1));
  CHECK(adapter_gb({}, true) == doctest::Approx(6.5).epsilon(0.1));
  CHECK(adapter_gb(kernels::QuantFormat::Nf4, true) < 3.5 * 1.073741824);
}

TEST_CASE("acestep needs: updates are recorded, unless the host reads lengths of features") {
  const acestep::DitConfig config;
  CHECK(acestep::train_needs(config, {}).train_capturable);
  CHECK(acestep::train_needs(config, {}).shapes_repeat);
  CHECK_FALSE(acestep::train_needs(config, {.size = {.features = true}}).train_capturable);
}
