// SPDX-License-Identifier: Apache-2.0
// Memory figures, streams and hooks of the device, through LibTorch's accelerator interface.
#include <ATen/DeviceAccelerator.h>
#include <ATen/detail/MPSHooksInterface.h>
#include <c10/core/Event.h>
#include <doctest/doctest.h>

#include "device.h"

using namespace ubique::test;

namespace {

constexpr std::int64_t kBytes = 1 << 20;

std::int64_t allocated() { return at::accelerator::getDeviceStats(0).allocated_bytes[0].current; }
std::int64_t peak() { return at::accelerator::getDeviceStats(0).allocated_bytes[0].peak; }
std::int64_t reserved() { return at::accelerator::getDeviceStats(0).reserved_bytes[0].current; }

at::Tensor megabyte(c10::Device device) {
  return at::empty({kBytes}, at::dtype(at::kByte).device(device));
}

}  // namespace

TEST_CASE("sham: current, peak and reserved bytes follow the live tensors") {
  const auto device = sham_device();
  at::accelerator::emptyCache();
  at::accelerator::resetPeakStats(0);
  const auto before = allocated(), held = reserved();
  {
    const auto a = megabyte(device), b = megabyte(device);
    CHECK(allocated() == before + 2 * kBytes);
  }
  CHECK(allocated() == before);
  CHECK(peak() == before + 2 * kBytes);
  CHECK(reserved() == held + 2 * kBytes);
  at::accelerator::emptyCache();
  CHECK(reserved() == held);
  at::accelerator::resetPeakStats(0);
  CHECK(peak() == before);
}

TEST_CASE("sham: results of kernels are counted like allocated tensors") {
  const auto device = sham_device();
  const auto input = at::ones({1, 1, 1 << 16}, device), kernel = at::ones({4, 1, 1}, device);
  const auto before = allocated();
  const auto result = at::conv1d(input, kernel);
  CHECK(allocated() == before + 4 * 4 * (1 << 16));
}

TEST_CASE("sham: freed memory is used again") {
  const auto device = sham_device();
  at::accelerator::emptyCache();
  const void* place = megabyte(device).data_ptr();
  CHECK(megabyte(device).data_ptr() == place);
}

TEST_CASE("sham: memory info and recommended size follow the settings") {
  const auto device = sham_device();
  at::accelerator::emptyCache();
  const Told told("memory=2GiB");
  const auto before = allocated();
  const auto [free, total] = at::accelerator::getMemoryInfo(0);
  CHECK(total == std::size_t{2} << 30);
  CHECK(static_cast<std::int64_t>(total - free) == before);
  const auto& hooks = at::detail::getMPSHooks();
  CHECK(hooks.getRecommendedMaxMemory() == (std::size_t{3} << 29));
  CHECK(static_cast<std::int64_t>(hooks.getCurrentAllocatedMemory()) == before);
  hooks.setMemoryFraction(0.0001);
  CHECK_THROWS_AS((void)megabyte(device), c10::OutOfMemoryError);
  hooks.setMemoryFraction(0);
}

TEST_CASE("sham: it is LibTorch's accelerator") {
  const auto device = sham_device();
  CHECK(at::accelerator::getAccelerator().value() == device.type());
  CHECK(at::accelerator::deviceCount() == 1);
  at::accelerator::setDeviceIndex(0);
  CHECK(at::accelerator::getDeviceIndex() == 0);
  CHECK(at::accelerator::getCurrentStream(0).device() == device);
  at::accelerator::synchronizeDevice(0);
  CHECK(at::hasMPS());
  CHECK_FALSE(
      at::accelerator::getDeviceCapability(0).capability_data.supported_scalar_types.has_Double);
}

TEST_CASE("sham: events are recorded, waited for and timed") {
  const auto device = sham_device();
  c10::Event start(device.type(), c10::EventFlag::BACKEND_DEFAULT);
  c10::Event end(device.type(), c10::EventFlag::BACKEND_DEFAULT);
  const auto stream = at::accelerator::getCurrentStream(0);
  start.record(stream);
  (void)at::ones({4}, device).add(1);
  end.record(stream);
  stream.wait(end);
  end.synchronize();
  CHECK(end.query());
  CHECK(start.elapsedTime(end) > 0);
}

TEST_CASE("sham: pinned memory is ordinary memory and does not count as pinned") {
  sham_device();
  const auto pinned = at::ones({4}).pin_memory();
  CHECK(pinned.is_cpu());
  CHECK_FALSE(pinned.is_pinned());
  CHECK(pinned[3].item<float>() == 1);
}

TEST_CASE("sham: copies in both directions keep the layout") {
  const auto device = sham_device();
  const auto volume = values({2, 3, 4, 5, 6}).contiguous(at::MemoryFormat::ChannelsLast3d);
  const auto there = volume.to(device);
  CHECK(there.strides() == volume.strides());
  CHECK(there.suggest_memory_format() == at::MemoryFormat::ChannelsLast3d);
  CHECK((there * 2).is_contiguous(at::MemoryFormat::ChannelsLast3d));
  CHECK(at::equal(there.cpu(), volume));
  const auto empty = at::empty({2, 3, 4, 5}, at::device(device), at::MemoryFormat::ChannelsLast);
  CHECK(empty.is_contiguous(at::MemoryFormat::ChannelsLast));
}

TEST_CASE("sham: views share memory with their base, resizing keeps the content") {
  const auto device = sham_device();
  auto x = at::zeros({2, 3, 4}, device);
  x.select(0, 1).t().slice(0, 1, 3).fill_(5);
  CHECK(x.sum().item<float>() == 30);
  x.view({6, 4}).diagonal().add_(1);
  CHECK(x.sum().item<float>() == 34);
  auto y = at::arange(4, at::dtype(at::kFloat).device(device));
  y.resize_({2, 4});
  CHECK(y.sizes() == at::IntArrayRef({2, 4}));
  CHECK(at::equal(y[0].cpu(), at::arange(4, at::kFloat)));
  auto z = at::empty({0}, device);
  at::nonzero_out(z = at::empty({0}, at::dtype(at::kLong).device(device)), y[0]);
  CHECK(at::equal(z.cpu(), at::arange(1, 4).unsqueeze(1)));
  z.set_(y.to(at::kLong));
  CHECK(z.sizes() == y.sizes());
}
