// SPDX-License-Identifier: Apache-2.0
// Ranks that are threads of a test, over real connections.
#pragma once

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "ubique/dist/world.h"

namespace ubique::test {

/// Runs `work` as each rank of a world of `size`; an error of a rank becomes its text.
inline std::vector<std::string> as_thread_ranks(
    int size, const std::function<void(const dist::World&)>& work) {
  std::vector<std::string> errors(static_cast<std::size_t>(size));
  const int port = dist::free_port();
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        dist::Place place;
        place.rank = place.local_rank = rank;
        place.size = place.local_size = size;
        place.host = "127.0.0.1";
        place.port = port;
        work(dist::World(place, dist::connect_gloo(place, {60, 60})));
      } catch (const std::exception& error) {
        errors[static_cast<std::size_t>(rank)] = error.what();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  return errors;
}

}  // namespace ubique::test
