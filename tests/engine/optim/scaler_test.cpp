// SPDX-License-Identifier: Apache-2.0
// The loss scaler against torch's own update on the CPU.
#include "ubique/engine/optim/scaler.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "ubique/base/numbers/random.h"
#include "ubique/base/text/json.h"

using namespace ubique;
using namespace ubique::engine;

TEST_CASE("scaler: grows and backs off exactly as torch's own does") {
  const ScalerOptions options{.initial = 65536, .growth = 2, .backoff = 0.5, .interval = 5};
  GradScaler scaler(c10::Device(c10::kCPU), true, options);
  auto scale = at::full({1}, 65536.0);
  auto tracker = at::zeros({1}, at::kInt);
  const Random random(17);
  for (std::uint64_t step = 0; step < 300; ++step) {
    const auto bad = at::full({}, random.bernoulli(step, 0.1) ? 1.0 : 0.0);
    at::_amp_update_scale_(scale, tracker, bad.reshape({1}), 2, 0.5, 5);
    scaler.update(bad);
    CAPTURE(step);
    REQUIRE(scaler.scale().item<double>() == scale.item<double>());
  }
  CHECK(scale.item<double>() != 65536);
}

TEST_CASE("scaler: the scale never becomes infinite") {
  GradScaler scaler(c10::Device(c10::kCPU), true, {.initial = 0x1p126, .interval = 1});
  for (int i = 0; i < 5; ++i) scaler.update(at::zeros({}));
  CHECK(scaler.scale().item<double>() == 0x1p127);
}

TEST_CASE("scaler: scaling and its inverse are exact, and a disabled one does nothing") {
  const c10::Device cpu(c10::kCPU);
  const GradScaler on(cpu, true), off(cpu, false);
  const auto loss = at::full({}, 0.3);
  CHECK(at::equal(on.scaled(loss) * on.inverse(), loss));
  CHECK(off.scaled(loss).is_same(loss));
  CHECK_FALSE(off.inverse().defined());
  CHECK(off.scale().item<double>() == 1);
}

TEST_CASE("scaler: its state survives a resume in the middle of an interval") {
  const c10::Device cpu(c10::kCPU);
  const ScalerOptions options{.interval = 4};
  GradScaler whole(cpu, true, options), part(cpu, true, options);
  const auto good = at::zeros({});
  for (int i = 0; i < 3; ++i) whole.update(good);
  part.load(parse_json(whole.state().dump(), "state"));
  whole.update(good);
  part.update(good);
  CHECK(whole.scale().item<double>() == 2 * 65536);
  CHECK(part.scale().item<double>() == 2 * 65536);
}
