// SPDX-License-Identifier: Apache-2.0
// NCCL's interface, through a library of our own whose ranks are threads and whose data is on the
// host; and the real one on a card, for one rank.
#include "ubique/backend/cuda/collectives/nccl.h"
#include "tests/backend/cuda/card.h"
#include "tests/dist/as_ranks.h"
#include "ubique/dist/background_sum.h"
#include "ubique/dist/device_transport.h"

using namespace ubique;
using namespace ubique::test;
using backend::cuda::Nccl;

namespace {

const doctest::skip kNcclNeedsGloo(!dist::has_gloo());

const Nccl& fake() {
  static const Nccl kLibrary(FAKE_NCCL);
  return kLibrary;
}

/// The library with cards as a test wants them, one for each rank.
class Cards final : public device::CollectivesLibrary {
 public:
  explicit Cards(std::string card) : card_(std::move(card)) {}
  std::string name() const override { return fake().name(); }
  std::string card(c10::Device /*device*/) const override { return card_; }
  std::string new_meeting() const override { return fake().new_meeting(); }
  std::unique_ptr<device::Collectives> join(c10::Device device, const std::string& meeting,
                                            int rank, int size) const override {
    return fake().join(device, meeting, rank, size);
  }

 private:
  std::string card_;
};

void expect(bool good, const char* what) {
  check(good, ErrorKind::Internal, "[test] another {}", what);
}

/// Every exchange of one rank among `size`.
void check_exchanges(device::Collectives& nccl, c10::Device device, int rank, int size) {
  const auto options = at::TensorOptions(at::kFloat).device(device);
  const auto wait = [&] {
    while (!nccl.done()) {
    }
  };
  const auto mine = at::full({3}, rank + 0.5, options);
  const auto all = at::zeros({size, 3}, options);
  nccl.gather(all, mine);
  wait();
  expect(at::equal(all, (at::arange(size, options) + 0.5).unsqueeze(1).expand({size, 3})), "rows");

  // Rank r gets r + 1 rows of everyone: those of rank s have the value s.
  std::vector<std::int64_t> to_each;
  for (int i = 0; i < size; ++i) to_each.push_back(i + 1);
  const auto sent = at::full({size * (size + 1) / 2, 2}, rank, options);
  const auto received = at::full({size * (rank + 1), 2}, -1, options);
  nccl.exchange(received, sent, std::vector<std::int64_t>(size, rank + 1), to_each);
  wait();
  const auto expected = at::arange(size, options).repeat_interleave(rank + 1).unsqueeze(1);
  expect(at::equal(received, expected.expand({size * (rank + 1), 2})), "exchange");

  const auto tensor = at::full({4}, rank, options);
  nccl.broadcast(tensor, size - 1);
  wait();
  expect(at::equal(tensor, at::full_like(tensor, size - 1)), "broadcast");
}

}  // namespace

TEST_CASE("nccl: rows are gathered, exchanged and broadcast between ranks") {
  REQUIRE(fake().loaded());
  CHECK(fake().name() == "NCCL 2.28.9");
  for (const int size : {1, 2, 3}) {
    const auto meeting = fake().new_meeting();
    std::vector<std::string> errors(size);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < size; ++rank) {
      threads.emplace_back([&, rank] {
        try {
          const auto nccl = fake().join(at::kCPU, meeting, rank, size);
          check_exchanges(*nccl, at::kCPU, rank, size);
        } catch (const std::exception& error) {
          errors[rank] = error.what();
        }
      });
    }
    for (auto& thread : threads) thread.join();
    check_all_well(errors);
  }
}

TEST_CASE("nccl: a library that is missing, or lacks a function, is no surprise") {
  CHECK_FALSE(Nccl("libno_such_nccl.so").loaded());
  const Nccl other("libc.so.6");
  try {
    other.new_meeting();
    FAIL("expected an error");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::Device);
    CHECK(std::string(error.what()).find("a function is missing") != std::string::npos);
  }
}

TEST_CASE("nccl: sums of gradients from device to device have the bits of one process" *
          kNcclNeedsGloo) {
  const auto rows = at::randn({3, 1001}).mul(at::logspace(-6, 6, 3).unsqueeze(1));
  const auto expected = rows[0] + rows[1] + rows[2];
  check_all_well(as_ranks(3, 60, [&](dist::World& world) {
    const Cards cards("card " + std::to_string(world.rank()));
    auto transport = dist::connect_devices(world, world.beside(at::kCPU), at::kCPU, &cards);
    dist::BackgroundSum sums(world.rank(), world.size(), std::move(transport), at::kCPU);
    sums.begin({{at::kFloat, 1001}}, {{1, 0}, {1, 0}, {1, 0}});
    sums.push(0, 0, {{rows[world.rank()], 1001}});
    expect(at::equal(sums.finish().front(), expected), "sum");
  }));
}

TEST_CASE("nccl: ranks that share a card exchange through the host's memory" * kNcclNeedsGloo) {
  check_all_well(as_ranks(2, 60, [&](dist::World& world) {
    const Cards cards("the only card");
    auto host = world.beside(at::kCPU);
    const auto* given = host.get();
    const auto transport = dist::connect_devices(world, std::move(host), at::kCPU, &cards);
    expect(transport.get() == given, "transport");
  }));
}

TEST_CASE("nccl: a rank without the library sends all ranks to the host" * kNcclNeedsGloo) {
  check_all_well(as_ranks(2, 60, [&](dist::World& world) {
    const Cards cards("card " + std::to_string(world.rank()));
    auto host = world.beside(at::kCPU);
    const auto* given = host.get();
    const auto transport = dist::connect_devices(world, std::move(host), at::kCPU,
                                                 world.is_first() ? &cards : nullptr);
    expect(transport.get() == given, "transport");
  }));
}

TEST_CASE("nccl: a rank that does not come to an exchange is an error, not an endless wait" *
          kNcclNeedsGloo) {
  std::string said;
  check_all_well(as_ranks(2, 60, [&](dist::World& world) {
    const Cards cards("card " + std::to_string(world.rank()));
    const auto transport = dist::connect_devices(world, world.beside(at::kCPU), at::kCPU, &cards);
    try {
      if (world.is_first()) transport->broadcast(at::zeros({2}), 1);
    } catch (const Error& error) {
      said = error.what();
    }
    world.gather("rank 1 waits here");
  }));
  CHECK_MESSAGE(said.find("remote process exited") != std::string::npos, said);
}

TEST_CASE("nccl: one rank on a card hears itself") {
  if (!card()) return;
  const auto* library = device::collectives_of(*card());
  REQUIRE_MESSAGE(library != nullptr, "LibTorch's CUDA wheel brings libnccl.so.2");
  MESSAGE(library->name(), " on ", library->card(*card()));
  const auto nccl = library->join(*card(), library->new_meeting(), 0, 1);
  check_exchanges(*nccl, *card(), 0, 1);
}
