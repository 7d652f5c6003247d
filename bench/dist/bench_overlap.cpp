// SPDX-License-Identifier: Apache-2.0
// What exchanging gradients during the backward pass hides. The pass waits in place of computing,
// so that only the connections are measured: eight weights of 1 MiB, a gradient every WAIT ms.
// Updates that exchange after the pass and such that do it during the pass, in turns. Started with
// torchrun's variables; rank 0 prints one JSON line.
//   bench_overlap [ROUNDS] [WAIT]
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "ubique/base/text/json.h"
#include "ubique/engine/ranks/gradient_exchange.h"

namespace {

using namespace ubique;
using Clock = std::chrono::steady_clock;

constexpr int kWeights = 8;
constexpr std::int64_t kLength = 1 << 18;

engine::NamedTensors weights() {
  engine::NamedTensors list;
  for (int i = 0; i < kWeights; ++i) {
    list.emplace_back(std::to_string(i), at::zeros({kLength}).requires_grad_());
  }
  return list;
}

/// One update from its first wait until all gradients are there, in milliseconds.
double update(engine::GradientExchange& exchange, const engine::NamedTensors& weights, int wait) {
  const auto& world = dist::world();
  exchange.reset();
  for (const auto& [name, weight] : weights) weight.mutable_grad().reset();
  world.gather("together");
  const auto begin = Clock::now();
  exchange.start(std::vector<dist::RowsOfRank>(world.size(), {1, 0}));
  exchange.before_passes(true);
  for (auto item = weights.rbegin(); item != weights.rend(); ++item) {
    std::this_thread::sleep_for(std::chrono::milliseconds(wait));
    item->second.sum().backward();
  }
  exchange.after_passes();
  exchange.flush();
  std::vector<Json> news;
  for (const auto& text : world.gather(exchange.news().dump())) news.push_back(Json::parse(text));
  exchange.finish(news);
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

double median(std::vector<double> times) {
  std::ranges::sort(times);
  return times[times.size() / 2];
}

void run(int rounds, int wait) {
  dist::join(dist::read_place(dist::process_environment));
  const auto list = weights();
  engine::GradientExchange exchange(dist::world(), list);
  std::vector<double> after, during;
  for (int round = 0; round < rounds; ++round) {
    exchange.relearn();  // in its first update nothing leaves during the pass
    after.push_back(update(exchange, list, wait));
    during.push_back(update(exchange, list, wait));
  }
  if (dist::world().is_first()) {
    fmt::print("{{\"pass_ms\": {}, \"exchange_after_ms\": {:.1f}, \"during_ms\": {:.1f}}}\n",
               kWeights * wait, median(after), median(during));
  }
  dist::world().gather("done");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc > 1 ? std::stoi(argv[1]) : 7, argc > 2 ? std::stoi(argv[2]) : 20);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_overlap: {}\n", error.what());
    return 1;
  }
  return 0;
}
