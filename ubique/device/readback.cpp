// SPDX-License-Identifier: Apache-2.0
// Copies into pinned memory, and an event behind the copy.
#include "ubique/device/readback.h"

#include <ATen/ATen.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <optional>

namespace ubique::device {

struct Readback::State {
  at::Tensor host;
  std::optional<c10::Event> copied;  // nothing on a CPU, which copies at once
};

Readback::Readback() : state_(std::make_unique<State>()) {}
Readback::~Readback() = default;
Readback::Readback(Readback&& other) noexcept = default;
Readback& Readback::operator=(Readback&& other) noexcept = default;

void Readback::begin(const at::Tensor& from) {
  const auto device = from.device();
  auto& host = state_->host;
  if (!host.defined()) {
    host = at::empty(from.sizes(), from.options().device(at::kCPU).pinned_memory(!device.is_cpu()));
  }
  host.copy_(from, /*non_blocking=*/true);
  if (device.is_cpu()) return;
  if (!state_->copied) state_->copied.emplace(device.type());
  state_->copied->record(c10::impl::VirtualGuardImpl(device.type()).getStream(device));
}

const at::Tensor& Readback::wait() {
  if (state_->copied) state_->copied->synchronize();
  return state_->host;
}

}  // namespace ubique::device
