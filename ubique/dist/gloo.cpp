// SPDX-License-Identifier: Apache-2.0
// LibTorch's process group over Gloo, and its TCP store for the meeting and the signs of life. The
// wheel has the library but not Gloo's headers: without those of the system nothing is built here.
#include <fmt/format.h>

#include <cstdlib>

#include "ubique/base/error.h"
#include "ubique/base/text/text.h"
#include "ubique/dist/transport.h"

#ifdef UBIQUE_HAS_GLOO
#define USE_C10D_GLOO 1  // the headers ask for it
#include <netdb.h>

#include <atomic>
#include <chrono>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "ubique/dist/signs_of_life.h"
#endif

namespace ubique::dist {

Patience read_patience(const Environment& environment) {
  const auto seconds = [&](const char* name, double usual) {
    const auto text = environment(name);
    if (!text || text->empty()) return usual;
    const auto value = parse_number(*text);
    check(value && *value >= 1, ErrorKind::Usage,
          "[dist.patience] {} is not a time; got '{}', expected seconds, 1 or more.", name, *text);
    return *value;
  };
  const Patience usual;
  return {seconds("UBIQUE_DIST_TIMEOUT", usual.silence),
          seconds("UBIQUE_DIST_JOIN_TIMEOUT", usual.joining)};
}

#ifdef UBIQUE_HAS_GLOO

namespace {

using namespace std::chrono_literals;
using Milliseconds = std::chrono::milliseconds;

constexpr Milliseconds kBetweenLooks = 1s, kToFinish = 2s;
// Longer than a validation or the writing of a checkpoint on rank 0 alone.
constexpr Milliseconds kLongestExchange = 2h;

Milliseconds milliseconds(double seconds) {
  return Milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

std::string text_of(const std::exception& error) {
  const auto* known = dynamic_cast<const c10::Error*>(&error);
  const std::string text = known != nullptr ? known->what_without_backtrace() : error.what();
  return text.substr(0, text.find('\n'));
}

void check_resolves(const Place& place) {
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(place.host.c_str(), nullptr, nullptr, &found);
  if (found != nullptr) ::freeaddrinfo(found);
  check(error == 0, ErrorKind::Usage,
        "[dist.join] the machine of rank 0 cannot be found; got MASTER_ADDR '{}' ({}), expected a "
        "name or an address that resolves here.",
        place.host, ::gai_strerror(error));
}

/// Why the meeting failed, in words.
[[noreturn]] void fail_to_meet(const Place& place, const std::string& error) {
  const bool in_use = error.find("EADDRINUSE") != std::string::npos;
  check(!in_use, ErrorKind::Usage,
        "[dist.join] rank 0 cannot listen: port {} is in use; expected a free one. Set another "
        "MASTER_PORT for all ranks.",
        place.port);
  fail(ErrorKind::Device,
       "[dist.join] the {} ranks did not all meet at {}:{}; got \"{}\" on rank {}. See that all "
       "were started, with the same MASTER_ADDR and MASTER_PORT, and that no firewall is between.",
       place.size, place.host, place.port, error, place.rank);
}

c10::intrusive_ptr<c10d::Store> make_store(const Place& place, Milliseconds timeout, bool serve) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(place.port);
  options.isServer = serve;
  options.waitWorkers = false;
  options.timeout = timeout;
  return c10::make_intrusive<c10d::PrefixStore>(
      fmt::format("ubique/{}", place.attempt),
      c10::make_intrusive<c10d::TCPStore>(place.host, options));
}

/// Gloo's own connections leave by the interface that the user names, else by the one that leads to
/// rank 0. (This machine's own name often stands for its loopback.)
std::shared_ptr<::gloo::transport::Device> make_device(const Place& place) {
  using Group = c10d::ProcessGroupGloo;
  const auto interface = process_environment("GLOO_SOCKET_IFNAME");
  if (interface && !interface->empty()) return Group::createDeviceForInterface(*interface);
  if (place.local_size == place.size) return Group::createDeviceForHostname("127.0.0.1");
  if (const auto own = own_address_towards(place.host)) return Group::createDeviceForHostname(*own);
  return Group::createDefaultDevice();
}

Notes notes_in(const c10::intrusive_ptr<c10d::Store>& store) {
  const auto bytes = [](const std::string& text) {
    return std::vector<std::uint8_t>(text.begin(), text.end());
  };
  return {[store, bytes](const std::string& key, const std::string& value) {
            store->set(key, bytes(value));
          },
          [store](const std::string& key) -> std::optional<std::string> {
            if (!store->check({key})) return std::nullopt;
            const auto value = store->get(key);
            return std::string(value.begin(), value.end());
          }};
}

/// Where the ranks met: what all connections of a rank share.
struct Meeting {
  Meeting(const Place& its_place, const Patience& patience)
      : place(its_place),
        joining(milliseconds(patience.joining)),
        store(make_store(place, joining, place.rank == 0 && !place.launcher_listens)) {}

  /// Signs of life may wait for a store that does not answer: then the end of the process ends
  /// them.
  ~Meeting() {
    if (life && !life->finish(kToFinish)) [[maybe_unused]]
      auto* kept = life.release();
  }
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;

  void watch(double silence) {
    const auto notes = make_store(place, milliseconds(silence), false);
    life = std::make_unique<SignsOfLife>(place.rank, place.size, silence, notes_in(notes));
  }

  Place place;
  Milliseconds joining;
  c10::intrusive_ptr<c10d::Store> store;
  std::unique_ptr<SignsOfLife> life;
  int groups = 0;
};

c10::intrusive_ptr<c10d::ProcessGroupGloo> make_group(Meeting& meeting) {
  auto options = c10d::ProcessGroupGloo::Options::create(meeting.joining);
  options->devices.push_back(make_device(meeting.place));
  const auto store = c10::make_intrusive<c10d::PrefixStore>(
      fmt::format("group/{}", meeting.groups++), meeting.store);
  auto group = c10::make_intrusive<c10d::ProcessGroupGloo>(store, meeting.place.rank,
                                                           meeting.place.size, options);
  group->setTimeout(kLongestExchange);
  return group;
}

class GlooTransport final : public Transport {
 public:
  explicit GlooTransport(std::shared_ptr<Meeting> meeting)
      : meeting_(std::move(meeting)), group_(make_group(*meeting_)) {}

  /// A group with an unfinished exchange would wait for it: then the end of the process ends it.
  ~GlooTransport() override {
    if (failed_) [[maybe_unused]]
      auto* kept = group_.release();
  }

  std::unique_ptr<Transport> beside() override {
    try {
      return std::make_unique<GlooTransport>(meeting_);
    } catch (const std::exception& error) {
      lose(life().explain(text_of(error)));
    }
  }

  void abandon() override { abandoned_ = true; }

  void check_others() override {
    if (const auto trouble = life().trouble()) lose(*trouble);
    if (abandoned_) give_up();
  }

  void gather(at::Tensor all, at::Tensor mine) override {
    auto flat = all.view(-1), own = mine.view(-1);
    finish([&] { return group_->_allgather_base(flat, own); });
  }

  void exchange(at::Tensor received, at::Tensor sent, const std::vector<std::int64_t>& from_each,
                const std::vector<std::int64_t>& to_each) override {
    auto from = from_each, to = to_each;
    finish([&] { return group_->alltoall_base(received, sent, from, to); });
  }

  void broadcast(at::Tensor tensor, int from) override {
    std::vector<at::Tensor> tensors = {tensor};
    c10d::BroadcastOptions options;
    options.rootRank = from;
    finish([&] { return group_->broadcast(tensors, options); });
  }

  void note_step(std::int64_t step) override { life().note_step(step); }
  std::vector<std::int64_t> steps() const override { return meeting_->life->steps(); }
  void while_waiting(std::function<void()> look) override { look_ = std::move(look); }
  void leave(const std::string& why) override { life().leave(why); }

 private:
  SignsOfLife& life() { return *meeting_->life; }

  template <typename Start>
  void finish(const Start& start) {
    if (abandoned_) give_up();
    life().note_exchange();
    std::string error;
    try {
      const auto work = start();
      while (!done(*work)) {
        check_others();
        if (look_) look_();
      }
      return;
    } catch (const Error&) {
      throw;
    } catch (const std::exception& caught) {
      error = text_of(caught);
    }
    if (abandoned_) give_up();  // another rank may have given up as well, and closed first
    lose(life().explain(error));
  }

  [[noreturn]] void give_up() {
    failed_ = true;
    fail(ErrorKind::Internal, "[dist.exchange] an exchange that was abandoned.");
  }

  [[noreturn]] void lose(const std::string& why) {
    failed_ = true;
    life().leave(why);
    fail(ErrorKind::Device,
         "[dist.exchange] {}. The run stops here; start it again: a training goes on from its last "
         "checkpoint with --resume.",
         why);
  }

  /// Waits a little. An exchange that failed throws.
  static bool done(c10d::Work& work) {
    try {
      return work.wait(kBetweenLooks);
    } catch (const std::exception&) {
      if (!work.isCompleted()) return false;
    }
    return work.wait(kBetweenLooks);  // it may have ended well just after that wait gave up
  }

  std::shared_ptr<Meeting> meeting_;
  c10::intrusive_ptr<c10d::ProcessGroupGloo> group_;
  std::function<void()> look_;
  bool failed_ = false;
  std::atomic<bool> abandoned_ = false;
};

/// c10d's recorder of exchanges writes to a table without a lock when a group is used for the first
/// time: two threads with a group each (ours, and that of gradients on their way) crash there.
void switch_off_recorder() {
  static const int done = ::setenv("TORCH_FR_BUFFER_SIZE", "0", /*replace=*/0);
  check(done == 0, ErrorKind::Internal, "[dist.join] cannot set TORCH_FR_BUFFER_SIZE.");
}

}  // namespace

bool has_gloo() { return true; }

std::unique_ptr<Transport> connect_gloo(const Place& place, const Patience& patience) {
  check_resolves(place);
  switch_off_recorder();
  try {
    const auto meeting = std::make_shared<Meeting>(place, patience);
    auto transport = std::make_unique<GlooTransport>(meeting);
    meeting->watch(patience.silence);
    return transport;
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    fail_to_meet(place, text_of(error));
  }
}

#else

bool has_gloo() { return false; }

std::unique_ptr<Transport> connect_gloo(const Place& place, const Patience& /*patience*/) {
  fail(ErrorKind::Internal, "[dist.join] built without Gloo; got {} processes, expected 1.",
       place.size);
}

#endif

}  // namespace ubique::dist
