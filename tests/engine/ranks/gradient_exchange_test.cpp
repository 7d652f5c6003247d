// SPDX-License-Identifier: Apache-2.0
// Gradients that are exchanged while backward passes run, of two ranks over real connections.
#include "ubique/engine/ranks/gradient_exchange.h"

#include <ATen/ATen.h>

#include "tests/dist/as_ranks.h"
#include "ubique/base/error.h"
#include "ubique/base/text/json.h"

using namespace ubique;
using namespace ubique::test;
using engine::GradientExchange, engine::NamedTensors;

namespace {

const doctest::skip kExchangeNeedsGloo(!dist::has_gloo());
constexpr std::int64_t kLarge = 1 << 17;  // each a bucket of its own

NamedTensors three_parameters() {
  NamedTensors parameters;
  for (const auto* name : {"first", "second", "third"}) {
    parameters.emplace_back(name, at::zeros({kLarge}).requires_grad_());
  }
  return parameters;
}

at::Tensor numbers(int rank, int step, int which) {
  return at::arange(kLarge, at::kFloat).mul(0.7 + 100 * rank + 10 * step + which).sin();
}

/// Passes of `rank` in which parameter i gets the gradient numbers(rank, step, i), one after the
/// other, the last parameter first; `pieces` of the last one.
void passes(const NamedTensors& parameters, int rank, int step, int pieces) {
  for (int i = 2; i >= 0; --i) {
    const int times = i == 2 ? pieces : 1;
    for (int piece = 0; piece < times; ++piece) {
      parameters[i].second.mul(numbers(rank, step, i) / times).sum().backward();
    }
  }
}

/// One update of this rank; gets the news of both.
std::vector<Json> update(const dist::World& world, GradientExchange& exchange,
                         const NamedTensors& parameters, int step, int pieces = 1) {
  exchange.reset();
  exchange.start({{1, 0}, {1, 0}});
  exchange.before_passes(true);
  passes(parameters, world.rank(), step, pieces);
  exchange.after_passes();
  exchange.flush();
  std::vector<Json> news;
  for (const auto& text : world.gather(exchange.news().dump())) news.push_back(Json::parse(text));
  exchange.finish(news);
  return news;
}

void check_sums(const NamedTensors& parameters, int step, bool exact) {
  for (int i = 0; i < 3; ++i) {
    const auto expected = numbers(0, step, i) + numbers(1, step, i);
    auto& gradient = parameters[i].second.mutable_grad();
    const bool same =
        exact ? at::equal(gradient, expected) : at::allclose(gradient, expected, 1e-5, 1e-6);
    check(same, ErrorKind::Internal, "[test] another gradient of {} at step {}",
          parameters[i].first, step);
    gradient.reset();
  }
}

}  // namespace

TEST_CASE("gradient exchange: from the second update on buckets leave during the passes" *
          kExchangeNeedsGloo) {
  check_all_well(as_ranks(2, 60, [](dist::World& world) {
    const auto parameters = three_parameters();
    GradientExchange exchange(world, parameters);
    update(world, exchange, parameters, 0);
    check_sums(parameters, 0, true);
    exchange.reset();
    exchange.start({{1, 0}, {1, 0}});
    exchange.before_passes(true);
    parameters[2].second.mul(numbers(world.rank(), 1, 2)).sum().backward();
    parameters[1].second.mul(numbers(world.rank(), 1, 1)).sum().backward();
    // A bucket leaves with its gradients, which are then no longer with their parameters.
    check(!parameters[2].second.grad().defined(), ErrorKind::Internal, "[test] did not leave");
    parameters[0].second.mul(numbers(world.rank(), 1, 0)).sum().backward();
    exchange.after_passes();
    std::vector<Json> news;
    for (const auto& text : world.gather(exchange.news().dump())) news.push_back(Json::parse(text));
    exchange.finish(news);
    check_sums(parameters, 1, true);
  }));
}

TEST_CASE("gradient exchange: a gradient that comes after its bucket left is added all the same" *
          kExchangeNeedsGloo) {
  check_all_well(as_ranks(2, 60, [](dist::World& world) {
    const auto parameters = three_parameters();
    GradientExchange exchange(world, parameters);
    update(world, exchange, parameters, 0);
    check_sums(parameters, 0, true);
    const int pieces = world.is_first() ? 3 : 1;
    const auto news = update(world, exchange, parameters, 1, pieces);
    check(news[0]["too_late"] == Json{2}, ErrorKind::Internal, "[test] it was not too late");
    check_sums(parameters, 1, false);
    const auto later = update(world, exchange, parameters, 2, pieces);
    check(later[0]["too_late"].empty(), ErrorKind::Internal, "[test] too late again");
    check_sums(parameters, 2, false);
  }));
}

TEST_CASE("gradient exchange: an update that failed on one rank is followed by the next" *
          kExchangeNeedsGloo) {
  check_all_well(as_ranks(2, 60, [](dist::World& world) {
    const auto parameters = three_parameters();
    GradientExchange exchange(world, parameters);
    update(world, exchange, parameters, 0);
    check_sums(parameters, 0, true);
    exchange.reset();
    exchange.start({{1, 0}, {2, 0}});
    exchange.before_passes(true);
    if (world.is_first()) passes(parameters, 0, 1, 1);
    if (world.is_first()) exchange.after_passes();
    exchange.flush();  // rank 1 computed nothing of its two rows
    update(world, exchange, parameters, 2);
    check_sums(parameters, 2, true);
  }));
}

TEST_CASE("gradient exchange: buckets hold one dtype and at most so many bytes") {
  const NamedTensors parameters = {{"a", at::zeros({10})},
                                   {"b", at::zeros({10})},
                                   {"c", at::zeros({10}, at::kDouble)},
                                   {"d", at::zeros({1000})}};
  const auto buckets = engine::make_buckets(parameters, {3, 2, 1, 0}, 100);
  REQUIRE(buckets.size() == 3);
  CHECK(buckets[0].members == std::vector<std::size_t>{3});
  CHECK((buckets[1].size.dtype == at::kDouble));
  CHECK(buckets[2].members == std::vector<std::size_t>{1, 0});
  CHECK(buckets[2].size.length == 20);
  CHECK(engine::early_ones({2, 0, 2, 1}, "0001") == std::vector<std::size_t>{0, 2, 1});
  CHECK(engine::other_ones({0, 2}, 4) == std::vector<std::size_t>{3, 1});
}
