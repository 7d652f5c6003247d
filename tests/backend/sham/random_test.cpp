// SPDX-License-Identifier: Apache-2.0
// The device's random generator: a separate stream, reproducible by seed and state.
#include <doctest/doctest.h>

#include "device.h"

using namespace ubique::test;

TEST_CASE("sham: one seed gives other numbers than on the CPU, and the same ones again") {
  const auto device = sham_device();
  at::manual_seed(7);
  const auto here = at::randn({32}), there = at::randn({32}, device).cpu();
  CHECK_FALSE(at::equal(here, there));
  at::manual_seed(7);
  CHECK(at::equal(there, at::randn({32}, device).cpu()));
  at::manual_seed(8);
  CHECK_FALSE(at::equal(there, at::randn({32}, device).cpu()));
}

TEST_CASE("sham: drawing on the device does not advance the CPU's generator") {
  const auto device = sham_device();
  at::manual_seed(7);
  const auto expected = at::randn({8});
  at::manual_seed(7);
  const auto ones = at::ones({64}, device);
  (void)at::rand({5}, device);
  (void)at::randint(10, {5}, device);
  (void)at::randperm(9, at::device(device));
  (void)at::multinomial(ones, 3);
  (void)at::bernoulli(ones * 0.5);
  (void)at::dropout(ones, 0.5, true);
  (void)at::native_dropout(ones, 0.5, true);
  (void)at::alpha_dropout(ones, 0.5, true);
  CHECK(at::equal(at::randn({8}), expected));
}

TEST_CASE("sham: restoring a generator's state repeats its numbers") {
  const auto device = sham_device();
  auto generator = at::globalContext().defaultGenerator(device);
  const auto state = generator.get_state();
  const auto first = at::rand({16}, device);
  CHECK_FALSE(at::equal(at::rand({16}, device), first));
  generator.set_state(state);
  CHECK(at::equal(at::rand({16}, device), first));
}

TEST_CASE("sham: a new device generator works, one of the CPU is refused") {
  const auto device = sham_device();
  const auto draw = [&](at::Generator generator) {
    return at::empty({16}, device).normal_(0, 1, std::move(generator));
  };
  auto generator = at::globalContext().getAcceleratorHooksInterface().getNewGenerator(0);
  generator.set_current_seed(5);
  CHECK(generator.current_seed() == 5);
  CHECK(generator.device().type() == device.type());
  const auto copy = generator.clone();
  const auto first = draw(generator);
  CHECK(at::equal(draw(copy), first));
  CHECK_FALSE(at::equal(draw(generator), first));
  const auto cpu = at::globalContext().defaultGenerator(at::kCPU);
  CHECK(error_of([&] { (void)draw(cpu); }).find("generator") != std::string::npos);
}

TEST_CASE("sham: native_dropout keeps and scales as dropout does") {
  const auto device = sham_device();
  const auto ones = at::ones({1000}, device);
  const auto [kept, mask] = at::native_dropout(ones, 0.25, true);
  CHECK(at::allclose(kept, mask.to(at::kFloat) / 0.75));
  const auto share = mask.to(at::kFloat).mean().item<float>();
  CHECK(share > 0.65F);
  CHECK(share < 0.85F);
  CHECK(at::equal(std::get<0>(at::native_dropout(ones, 0.25, false)), ones));
}
