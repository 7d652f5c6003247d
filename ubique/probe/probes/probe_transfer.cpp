// SPDX-License-Identifier: Apache-2.0
// Non-blocking copies. Probed is the contract that transfers rely on: data is right after
// synchronize(), pageable memory may be overwritten once the call returns, pinned memory may not,
// and a device tensor may be freed while its copy to the host is running.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include "ubique/device/runtime.h"
#include "ubique/probe/probes/groups.h"
#include "ubique/probe/probes/operation.h"

namespace ubique::probe {
namespace {

constexpr std::int64_t kCopiedElements = 1 << 20;  // 4 MiB: still copying when the call returns

at::Tensor host_values(const Site& site) {
  return make_operand({.name = "values", .shape = {kCopiedElements}}, DType::F32, site.random);
}

Finding same(const at::Tensor& value, const at::Tensor& expected, const char* what) {
  const auto difference = compare(value, expected);
  return judge(difference.error, 0, fmt::format("{}: {}", what, difference.to_text()));
}

at::Tensor to_device_async(const at::Tensor& host, c10::Device device) {
  return host.to(device, host.scalar_type(), /*non_blocking=*/true, /*copy=*/true);
}

at::Tensor to_host_async(const at::Tensor& tensor) {
  return tensor.to(at::kCPU, tensor.scalar_type(), /*non_blocking=*/true, /*copy=*/true);
}

Finding from_ordinary_memory(const Site& site) {
  auto source = host_values(site);
  const auto expected = source.clone();
  const auto copy = to_device_async(source, site.device);
  source.fill_(-1);
  device::synchronize(site.device);
  return same(copy, expected, "overwriting the source changed the copy on the device");
}

Finding from_pinned_memory(const Site& site) {
  if (site.facts.kind != device::Kind::Cuda) {
    return not_run(Outcome::Skipped, "pinned memory is used with CUDA only");
  }
  const auto source = host_values(site).pin_memory();
  const auto copy = to_device_async(source, site.device);
  device::synchronize(site.device);
  return same(copy, source, "the copy on the device differs");
}

Finding to_host(const Site& site) {
  const auto expected = host_values(site);
  const auto tensor = expected.to(site.device).mul(2);
  const auto copy = to_host_async(tensor);
  device::synchronize(site.device);
  return same(copy, expected * 2, "the copy on the host differs after synchronize");
}

Finding to_host_from_dropped(const Site& site) {
  const auto expected = host_values(site);
  const auto source = expected.to(site.device);
  auto doubled = source * 2;
  const auto copy = to_host_async(doubled);
  doubled = at::Tensor();
  const auto other = at::full_like(source, -1);  // may reuse the memory that was just freed
  device::synchronize(site.device);
  return same(copy, expected * 2, "dropping the source changed the copy on the host");
}

Finding into_place(const Site& site) {
  const auto expected = host_values(site);
  const auto target = at::zeros_like(expected, expected.options().device(site.device));
  target.copy_(expected, /*non_blocking=*/true);
  auto back = at::zeros_like(expected);
  back.copy_(target, /*non_blocking=*/true);
  device::synchronize(site.device);
  return same(back, expected, "a round trip changed the values");
}

}  // namespace

std::vector<Probe> transfer_probes() {
  const auto probe = [](const char* tag, Finding (*run)(const Site&)) {
    return Probe{"transfer.non_blocking", tag, DType::F32, Layout::Contiguous, false, run};
  };
  return {probe("from_ordinary", from_ordinary_memory), probe("from_pinned", from_pinned_memory),
          probe("to_host", to_host), probe("to_host_dropped", to_host_from_dropped),
          probe("into_place", into_place)};
}

}  // namespace ubique::probe
