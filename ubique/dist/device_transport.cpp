// SPDX-License-Identifier: Apache-2.0
// The meeting over the host's connections, and waiting that ends when a rank is lost.
#include "ubique/dist/device_transport.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <future>
#include <thread>

#include "ubique/base/error.h"
#include "ubique/base/terminal/log.h"

namespace ubique::dist {
namespace {

using namespace std::chrono_literals;

/// Why the devices cannot exchange data themselves; empty if they can. All ranks get the same.
std::string obstacle(const World& world, const std::string& my_card) {
  const auto cards = world.gather(my_card);
  for (int i = 0; i < world.size(); ++i) {
    if (cards[i].empty()) return fmt::format("rank {} has no library for it", i);
    for (int other = 0; other < i; ++other) {
      if (cards[other] != cards[i]) continue;
      return fmt::format("ranks {} and {} share a card, which it refuses", other, i);
    }
  }
  return {};
}

using Joined = std::unique_ptr<device::Collectives>;

/// Joining waits for the others without an end: by a thread that is left behind if one is lost.
Joined join_watched(const World& world, Transport& host, c10::Device device,
                    const device::CollectivesLibrary& library) {
  const auto meeting = world.from_first(world.is_first() ? library.new_meeting() : "");
  std::packaged_task<Joined()> task(
      [&library, device, meeting, rank = world.rank(), size = world.size()] {
        return library.join(device, meeting, rank, size);
      });
  auto joined = task.get_future();
  std::thread(std::move(task)).detach();
  while (joined.wait_for(50ms) != std::future_status::ready) host.check_others();
  return joined.get();
}

class DeviceTransport final : public Transport {
 public:
  DeviceTransport(std::unique_ptr<Transport> host, c10::Device device, Joined collectives)
      : host_(std::move(host)), device_(device), collectives_(std::move(collectives)) {}

  c10::Device device() const override { return device_; }

  void gather(at::Tensor all, at::Tensor mine) override {
    finish([&] { collectives_->gather(all, mine); });
  }
  void exchange(at::Tensor received, at::Tensor sent, const std::vector<std::int64_t>& from_each,
                const std::vector<std::int64_t>& to_each) override {
    finish([&] { collectives_->exchange(received, sent, from_each, to_each); });
  }
  void broadcast(at::Tensor tensor, int from) override {
    finish([&] { collectives_->broadcast(tensor, from); });
  }

  std::unique_ptr<Transport> beside() override { return host_->beside(); }
  void abandon() override { host_->abandon(); }
  void check_others() override { host_->check_others(); }
  void note_step(std::int64_t step) override { host_->note_step(step); }
  std::vector<std::int64_t> steps() const override { return host_->steps(); }
  void while_waiting(std::function<void()> look) override { look_ = std::move(look); }
  void leave(const std::string& why) override { host_->leave(why); }

 private:
  template <typename Start>
  void finish(const Start& start) {
    try {
      start();
      while (!collectives_->done()) {
        host_->check_others();
        if (look_) look_();
        std::this_thread::sleep_for(50us);
      }
    } catch (...) {
      collectives_->abort();  // or the device would wait for ever
      throw;
    }
  }

  std::unique_ptr<Transport> host_;
  c10::Device device_;
  Joined collectives_;
  std::function<void()> look_;
};

}  // namespace

std::unique_ptr<Transport> connect_devices(const World& world, std::unique_ptr<Transport> host,
                                           c10::Device device,
                                           const device::CollectivesLibrary* library) {
  const auto why = obstacle(world, library != nullptr ? library->card(device) : "");
  if (!why.empty()) {
    if (world.is_first()) {
      log::warn("[dist.devices] gradients go through the host's memory, not from card to card: {}",
                why);
    }
    return host;
  }
  auto collectives = join_watched(world, *host, device, *library);
  log::info("gradients go from card to card by {}", library->name());
  return std::make_unique<DeviceTransport>(std::move(host), device, std::move(collectives));
}

}  // namespace ubique::dist
