// SPDX-License-Identifier: Apache-2.0
// Exchanges between ranks that are threads here, over real connections.
#include "ubique/dist/world.h"

#include <ATen/ATen.h>

#include "tests/dist/as_ranks.h"
#include "ubique/base/error.h"

using namespace ubique;
using namespace ubique::test;
using dist::World;

namespace {

const doctest::skip kNeedsGloo(!dist::has_gloo());

}  // namespace

TEST_CASE("world: one process alone hears itself only") {
  const World alone;
  CHECK(alone.is_alone());
  CHECK(alone.is_first());
  CHECK(alone.gather("a") == std::vector<std::string>{"a"});
  CHECK(alone.from_first("b") == "b");
  const auto rows = at::arange(6, at::kFloat).view({3, 2});
  CHECK(at::equal(alone.gather_rows(rows), rows));
}

TEST_CASE("world: texts, long ones too, come in the order of ranks" * kNeedsGloo) {
  for (const int size : {2, 3}) {
    check_all_well(as_ranks(size, 60, [&](World& world) {
      const auto mine = std::string(world.rank() * 3000, 'a') + std::to_string(world.rank());
      const auto all = world.gather(mine);
      std::vector<std::string> expected;
      for (int i = 0; i < size; ++i)
        expected.push_back(std::string(i * 3000, 'a') + std::to_string(i));
      if (all != expected) fail(ErrorKind::Internal, "[test] other texts");
      const auto first = world.from_first("from " + std::to_string(world.rank()));
      if (first != "from 0") fail(ErrorKind::Internal, "[test] got '{}'", first);
    }));
  }
}

TEST_CASE("world: tensors of several types come from one rank or from all, rows in order" *
          kNeedsGloo) {
  check_all_well(as_ranks(3, 60, [](World& world) {
    for (const auto dtype : {at::kFloat, at::kDouble, at::kLong, at::kBFloat16, at::kBool}) {
      const auto tensor = at::full({2, 3}, world.rank() == 1 ? 1 : 0, at::TensorOptions(dtype));
      world.broadcast(tensor, 1);
      if (!at::equal(tensor, at::ones_like(tensor))) fail(ErrorKind::Internal, "[test] broadcast");
      const auto mine = at::full({world.rank(), 2}, world.rank() == 1, at::TensorOptions(dtype));
      const auto all = world.gather_rows(mine);
      const auto expected = at::cat({at::ones({1, 2}), at::zeros({2, 2})}).to(dtype);
      if (!at::equal(all, expected)) fail(ErrorKind::Internal, "[test] rows");
    }
  }));
}

TEST_CASE("world: a rank that leaves is named by the others with its reason" * kNeedsGloo) {
  const auto errors = as_ranks(3, 60, [](World& world) {
    world.gather("start");
    world.note_step(7);
    if (world.rank() == 2) {
      world.leave("rank 2 ended: its disk is full");
      return;
    }
    world.gather("on");
  });
  CHECK(errors[2] == "");
  for (const int rank : {0, 1}) {
    CHECK_MESSAGE(errors[rank].find("rank 2 ended: its disk is full") != std::string::npos,
                  errors[rank]);
  }
}

TEST_CASE("world: a rank that is gone without a word is named" * kNeedsGloo) {
  const auto errors = as_ranks(3, 60, [](World& world) {
    world.gather("start");
    if (world.rank() == 1) return;  // its connections close
    world.gather("on");
  });
  CHECK(errors[1] == "");
  for (const int rank : {0, 2}) {
    CHECK_MESSAGE(errors[rank].find("rank 1 is lost") != std::string::npos, errors[rank]);
  }
}

TEST_CASE("world: a port in use and a host that does not resolve are said in words" * kNeedsGloo) {
  const auto refusal = [](const std::string& host, int port) {
    dist::Place place;
    place.size = 2;
    place.host = host;
    place.port = port;
    try {
      dist::connect_gloo(place, {60, 2});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("connected");
  };
  CHECK(refusal("no.such.host.invalid", 29500).find("'no.such.host.invalid'") != std::string::npos);
  check_all_well(as_ranks(2, 60, [&](World& world) {
    if (!world.is_first()) return;
    const auto text = refusal("127.0.0.1", world.place().port);
    if (text.find("is in use") == std::string::npos) fail(ErrorKind::Internal, "[test] {}", text);
  }));
}
