// SPDX-License-Identifier: Apache-2.0
// Limits of the device: float64, the largest tensor, and out-of-memory errors that can be
// recognised.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include "ubique/base/text/text.h"
#include "ubique/device/runtime.h"
#include "ubique/probe/probes/groups.h"
#include "ubique/probe/probes/operation.h"

namespace ubique::probe {
namespace {

constexpr std::int64_t kAbsurdBytes = std::int64_t{1} << 50;

/// Refused where there is no float64; a device that accepts it must really compute in it.
std::vector<Probe> float64_probes() {
  OperationProbes what{.op = "float64", .dtypes = {DType::F64}};
  what.operation.operands = {{.name = "left", .shape = {17, 33}, .gradient_path = {64, 2}},
                             {.name = "right", .shape = {33, 9}, .gradient_path = {64, 2}}};
  what.operation.forward = [](const Tensors& in) {
    return Tensors{at::matmul(in[0], in[1]).mul(0.1).tanh()};
  };
  what.operation.path = {33, 4};
  return make_probes(what);
}

Finding refuses_at(const Site& site, std::int64_t bytes) {
  try {
    at::empty({bytes}, at::TensorOptions(site.device).dtype(at::kByte));
  } catch (const c10::Error& error) {
    return {.detail = fmt::format("a tensor of {} is refused", human_bytes(bytes))};
  }
  return not_run(Outcome::Fail,
                 fmt::format("a tensor of {} was given, though that is over the stated limit",
                             human_bytes(bytes)));
}

/// The limit that the planner applies to tensors. Tried on a pretend device only: real ones may
/// abort the process.
Finding tensor_size_rule(const Site& site) {
  const auto limit = site.facts.max_tensor_bytes;
  if (limit <= 0) return {.detail = "no limit known"};
  if (site.facts.pretend) return refuses_at(site, limit);
  return {.detail =
              fmt::format("one tensor must be smaller than {}; not tried", human_bytes(limit))};
}

Finding works_afterwards(const Site& site) {
  const auto values = make_operand({"values", {1000}}, DType::F32, site.random);
  const auto difference = compare(values.to(site.device) + 1, values.to(at::kDouble) + 1);
  return judge(difference.error, tolerance(DType::F32, {}),
               "the device computes wrongly after running out of memory: " + difference.to_text());
}

Finding recognised_out_of_memory(const Site& site) {
  try {
    at::empty({kAbsurdBytes}, at::TensorOptions(site.device).dtype(at::kByte));
  } catch (const c10::Error& error) {
    if (device::is_out_of_memory(error)) return works_afterwards(site);
    const std::string message = error.what_without_backtrace();
    return not_run(Outcome::Fail, fmt::format("not recognised as out of memory: {}",
                                              message.substr(0, message.find('\n'))));
  }
  return not_run(Outcome::Fail, fmt::format("{} were given out", human_bytes(kAbsurdBytes)));
}

}  // namespace

std::vector<Probe> limit_probes() {
  auto probes = float64_probes();
  probes.push_back(
      {"limits.tensor_bytes", "", DType::F32, Layout::Contiguous, false, tensor_size_rule});
  probes.push_back(
      {"memory.oom", "", DType::F32, Layout::Contiguous, false, recognised_out_of_memory});
  return probes;
}

}  // namespace ubique::probe
