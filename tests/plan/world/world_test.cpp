// SPDX-License-Identifier: Apache-2.0
// What is predicted of many processes: bytes, times, memory, and where sharding pays.
#include "ubique/plan/world/world_plan.h"

#include "tests/plan/table.h"
#include "ubique/plan/world/world_report.h"

using namespace ubique;
using namespace ubique::plan;

namespace {

const Interconnect kSimple{"simple", "for the test", 1, 1000, "made up"};

WorldPlan world_of(const device::Facts& facts, const Needs& needs, const std::string& yaml,
                   const WorldWishes& world = {}) {
  const auto wishes = wishes_from(yaml);
  const auto plan = make_plan(facts, {}, needs, wishes);
  return plan_world(facts, {}, needs, wishes, plan, world);
}

/// A billion parameters, whose states are most of what it takes.
Needs large_model() {
  auto needs = small_model();
  needs.parameters = {{.name = "all", .count = 1'000'000'000, .in_blocks = 1'000'000'000}};
  needs.blocks = 40;
  needs.activations = {.saved = 1'000'000'000, .run = 100'000, .largest = 10'000};
  needs.checkpointing.supported = true;
  needs.checkpointing.kept = 0.1;
  return needs;
}

}  // namespace

TEST_CASE("world: a process sends its rows of gradients and the sums, one alone nothing") {
  CHECK(predict_exchange(1000, 4, 1, kSimple).sent == 0);
  CHECK(predict_exchange(1000, 4, 1, kSimple).ms == 0);
  const auto two = predict_exchange(1'000'000, 1, 2, kSimple);
  CHECK(two.gradient_bytes == 4'000'000);
  CHECK(two.sent == doctest::Approx(4e6));  // as a ring all-reduce: 2 (N - 1) / N
  CHECK(two.rounds == 2 + 8 * 2);
  CHECK(two.ms == doctest::Approx(18 * 1.0 + 4.0));
  CHECK(predict_exchange(1'000'000, 3, 4, kSimple).sent == doctest::Approx(4e6 * 4 * 3 / 4));
  CHECK(predict_exchange(5'000'000, 3, 2, kSimple).rounds == 2 + 8 * 4);
  CHECK(predict_exchange(1000, 1, 2, kSimple).rounds == 2 + 2);  // one bucket
}

TEST_CASE("world: where copies for all micro-batches take too much, one row of sums is sent") {
  CHECK(predict_exchange(100'000'000, 2, 2, kSimple).rows == 2);
  CHECK(predict_exchange(100'000'000, 3, 2, kSimple).rows == 1);
}

TEST_CASE("world: what passes behind the backward pass is hidden, and never more than there is") {
  CHECK(hidden_ms(10, 20, 0) == 0);
  CHECK(hidden_ms(10, 8, 0.5) == 4);
  CHECK(hidden_ms(10, 100, 0.5) == 10);
}

TEST_CASE("world: an unknown interconnect is refused with the list; known ones name a source") {
  const auto text = test::refusal_of(ErrorKind::Usage, [] { find_interconnect("ib40"); });
  CHECK(contains(text, "loopback, 1gbe"));
  CHECK(contains(text, "Did you mean 'ib400'?"));
  for (const auto& wire : interconnects()) {
    CHECK(wire.gbytes_per_second > 0);
    CHECK(wire.latency_us > 0);
    CHECK_FALSE(wire.source.empty());
    CHECK(through(wire, "gloo").gbytes_per_second <= wire.gbytes_per_second);
    CHECK(through(wire, "nccl").gbytes_per_second == wire.gbytes_per_second);
  }
}

TEST_CASE("world: the same batch is shared out until a process would have no micro-batch") {
  const auto world = world_of(machine("h200"), linear_model(), "world_size: 4",
                              {.interconnect = "ib400", .samples_per_second = 100});
  REQUIRE(world.sizes.size() == 10);
  CHECK(world.sizes[0].update_ms == doctest::Approx(80));  // 8 samples
  CHECK(world.sizes[0].speed_up == doctest::Approx(1));
  CHECK(world.world.processes == 4);
  const auto shown = world.world.exchange.ms * (1 - world.world.hidden_share);
  CHECK(world.world.update_ms == doctest::Approx(20 + shown));
  CHECK(world.sizes[2].update_ms == doctest::Approx(world.world.update_ms));
  CHECK(world.sizes[3].possible);
  CHECK_FALSE(world.sizes[4].possible);
  CHECK(world.sizes[9].grown_update_ms >= 80);  // what is exchanged is hidden
  CHECK(world.world.memory < world.sizes[0].memory);
  CHECK(world.world.hidden_share == world.could_hide);  // the exchange is shorter than the pass
  CHECK(world.could_hide > 0);
}

TEST_CASE("world: weights that are used again and again are exchanged after the backward pass") {
  auto needs = linear_model();
  needs.family = "trm";
  const auto world = world_of(machine("h200"), needs, "world_size: 4",
                              {.interconnect = "ib400", .samples_per_second = 100});
  CHECK(world.world.hidden_share == 0);
  CHECK(world.could_hide > 0);
}

TEST_CASE("world: processes of one machine share its cores") {
  const auto time = [](const char* wire, const char* size) {
    return world_of(
               machine("ci-2core"), linear_model(),
               std::string("{batch: 1, effective_batch: 4, threads: 1, world_size: ") + size + "}",
               {.interconnect = wire, .samples_per_second = 10})
        .world;
  };
  const auto compute = [](const WorldSize& world) {
    return world.update_ms - world.exchange.ms * (1 - world.hidden_share);
  };
  CHECK(compute(time("loopback", "2")) == doctest::Approx(200));
  CHECK(compute(time("loopback", "4")) == doctest::Approx(200));
  CHECK(compute(time("10gbe", "4")) == doctest::Approx(100));
}

TEST_CASE("world: without a known rate times are unknown, and bytes are not") {
  const auto world = world_of(machine("cpu-laptop"), linear_model(), "world_size: 2");
  CHECK(world.pace.sample_ms == 0);
  CHECK(world.world.update_ms == 0);
  CHECK(world.world.exchange.sent > 0);
  const auto json = to_json(world);
  CHECK(json["world"]["update_ms"].is_null());
  CHECK(json["world"]["sent_bytes"] == 4e6);
  CHECK(contains(world_text("cpu-laptop", world), "--samples-per-second"));
}

TEST_CASE("world: sharding pays where it lets samples go through at once, else nowhere") {
  const auto few = world_of(with_memory(machine("h200"), std::int64_t{26} << 30), large_model(),
                            "world_size: 4");
  CHECK(few.shardings[0].fits_from == 4);
  CHECK(few.shardings[1].fits_from == 2);
  CHECK(few.sharding_pays_from == 2);
  CHECK(few.shardings[1].traffic == doctest::Approx(1.5));  // one row, the sums, the weights
  CHECK(few.shardings[2].state_bytes < few.shardings[0].state_bytes / 2);
  const auto much = world_of(machine("h200"), large_model(), "world_size: 4");
  CHECK(much.sharding_pays_from == 0);
  CHECK(contains(world_text("h200", much), "pays nowhere"));
  CHECK(contains(world_text("h200", few), "pays from 2 processes on"));
}
