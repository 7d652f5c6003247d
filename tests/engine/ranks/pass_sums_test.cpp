// SPDX-License-Identifier: Apache-2.0
// Rounds of ranks: sums, ranks that sit out, and one that runs out of memory while the others wait.
#include "ubique/engine/ranks/pass_sums.h"

#include <c10/util/Exception.h>
#include <doctest/doctest.h>

#include "tests/dist/as_ranks.h"
#include "ubique/base/error.h"
#include "ubique/device/runtime.h"

using namespace ubique;
using engine::PassSums;

namespace {

const doctest::skip kWithGloo(!dist::has_gloo());

void require_sums(PassSums& sums, const std::vector<double>& mine,
                  const std::vector<double>& expected) {
  const auto got = sums.add_up(mine);
  check(got == expected, ErrorKind::Internal, "another sum: {}", got.at(0));
}

}  // namespace

TEST_CASE("pass sums: a round adds up what its ranks have, and others sit out" * kWithGloo) {
  const auto errors = test::as_ranks(3, 60, [](const dist::World& world) {
    PassSums sums(world);
    const auto rank = static_cast<double>(world.rank());
    require_sums(sums, {rank, 1}, {3, 3});
    check(sums.is_first() == (world.rank() == 0), ErrorKind::Internal, "not the first");
    require_sums(sums, {1}, {3});
    sums.finish_round();
    // Rank 0 has no micro-batch in the second round.
    if (world.rank() == 0) {
      sums.sit_out();
    } else {
      for (int layer = 0; layer < 4; ++layer) require_sums(sums, {rank}, {3});
      check(sums.is_first() == (world.rank() == 1), ErrorKind::Internal, "not the first of two");
      sums.finish_round();
    }
    sums.sit_out();  // nobody computes in the third
    check(world.gather("after").size() == 3, ErrorKind::Internal, "out of step");
  });
  CHECK(errors == std::vector<std::string>(3));
}

TEST_CASE("pass sums: a rank that runs out of memory ends the update of all" * kWithGloo) {
  for (const int failing : {0, 1, 2}) {
    CAPTURE(failing);
    const auto errors = test::as_ranks(3, 60, [&](const dist::World& world) {
      PassSums sums(world);
      bool ended = world.rank() == failing;
      try {
        if (world.rank() == 2 && failing != 2) {
          sums.sit_out();
        } else {
          sums.add_up({1});
          if (world.rank() == failing) {
            sums.fail("no more memory");
          } else {
            sums.add_up({1});
          }
        }
      } catch (const std::exception& error) {
        const std::string text = error.what();
        ended = device::is_out_of_memory(error) && text.find("no more memory") != std::string::npos;
        sums.fail(text);  // said already
      }
      check(ended, ErrorKind::Internal, "rank {} went on", world.rank());
      check(world.gather("after").size() == 3, ErrorKind::Internal, "out of step");
    });
    CHECK(errors == std::vector<std::string>(3));
  }
}
