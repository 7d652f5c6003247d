// SPDX-License-Identifier: Apache-2.0
// Ranks that are threads of a test, over real connections.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "ubique/dist/world.h"

namespace ubique::test {

/// Runs `work` as each rank of a world of `size`; an error of a rank becomes its text.
inline std::vector<std::string> as_ranks(int size, double silence,
                                         const std::function<void(dist::World&)>& work) {
  std::vector<std::string> errors(size);
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
        dist::World world(place, dist::connect_gloo(place, {silence, 60}));
        work(world);
      } catch (const std::exception& error) {
        errors[rank] = error.what();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  return errors;
}

inline void check_all_well(const std::vector<std::string>& errors) {
  for (const auto& error : errors) CHECK(error == "");
}

}  // namespace ubique::test
