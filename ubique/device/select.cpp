// SPDX-License-Identifier: Apache-2.0
// The order of `auto`, the functional check of each backend, and --fallback.
#include "ubique/device/select.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "ubique/base/error.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/text.h"
#include "ubique/device/backend.h"
#include "ubique/device/budget.h"
#include "ubique/device/profile.h"

namespace ubique::device {
namespace {

std::vector<std::string> request_words() {
  std::vector<std::string> words = {"auto", "gpu", "metal"};
  for (auto& name : backend_names()) words.push_back(std::move(name));
  return words;
}

/// Devices that people ask for and that no backend here is for.
std::string why_unsupported(const std::string& name) {
  if (name == "tpu" || name == "xla") return "TPUs are not supported";
  if (name == "rocm" || name == "hip" || name == "amd") {
    return "AMD GPUs (ROCm) are not supported; the backend cuda is for NVIDIA's driver";
  }
  if (name == "directml" || name == "vulkan" || name == "opencl") return name + " is not supported";
  return {};
}

/// As people call it: Metal is "mps" to LibTorch only.
std::string spoken_name(const std::string& backend) {
  return backend == "mps" ? "metal (mps)" : backend;
}

/// Runs a matrix product with a known result on the device. Empty = works.
std::string functional_fault(c10::Device device) {
  try {
    const auto x = at::arange(16, at::kFloat).view({4, 4});
    const auto result = at::matmul(x.to(device), x.to(device)).add(1).to(at::kCPU);
    const auto expected = at::matmul(x, x).add(1);
    if (at::equal(result, expected)) return {};  // small integers: exact in every arithmetic
    return "a 4x4 product came back with wrong numbers";
  } catch (const c10::Error& error) {
    return split(error.what_without_backtrace(), '\n').front();
  } catch (const std::exception& error) {
    return error.what();
  }
}

Candidate examine(Backend& backend) {
  Candidate candidate{.backend = backend.name(), .devices = {}, .functional = false, .reason = {}};
  auto found = backend.detect();
  candidate.devices = std::move(found.devices);
  candidate.reason = std::move(found.reason);
  if (candidate.devices.empty()) return candidate;
  for (auto& facts : candidate.devices) {
    const auto budget = memory_budget(facts);
    facts.budget_bytes = budget.bytes;
    facts.budget_reason = budget.reason;
    add_datasheet_rates(facts);
  }
  const auto fault = functional_fault(backend.torch_device(0));
  candidate.functional = fault.empty();
  if (!fault.empty()) candidate.reason = "found but not functional: " + fault;
  return candidate;
}

/// Each backend is examined once per process: detection loads libraries.
const Candidate& examined(Backend& backend) {
  static std::map<std::string, Candidate> known;
  const auto name = backend.name();
  auto found = known.find(name);
  if (found == known.end()) found = known.emplace(name, examine(backend)).first;
  return found->second;
}

Selection make_selection(Backend& backend, const Candidate& candidate, int index,
                         std::string reason) {
  const auto& facts = candidate.devices[static_cast<std::size_t>(index)];
  return {.facts = facts, .torch_device = backend.torch_device(index), .reason = std::move(reason)};
}

Selection select_cpu(std::string reason) {
  auto* cpu = find_backend("cpu");
  return make_selection(*cpu, examined(*cpu), 0, std::move(reason));
}

/// The first functional device in auto's order; `only_accelerators` for "gpu".
Selection select_first(bool only_accelerators, bool fallback) {
  std::vector<std::string> passed_over;
  for (auto* backend : backends()) {
    if (backend->auto_order() == 0) continue;
    if (only_accelerators && backend->kind() == Kind::Cpu) continue;
    const auto& candidate = examined(*backend);
    if (candidate.functional) {
      const auto before = join(passed_over, "; ");
      return make_selection(*backend, candidate, 0,
                            before.empty() ? "first in the order CUDA, MPS, XPU, CPU" : before);
    }
    passed_over.push_back(fmt::format("no {} ({})", backend->name(), candidate.reason));
  }
  const auto why = join(passed_over, "; ");
  check(fallback, ErrorKind::Device,
        "[device.select] no GPU can be used; got {}. Use --device cpu, or --fallback to go on "
        "with the CPU.",
        why);
  return select_cpu("fallback: " + why);
}

std::string missing_reason(const Request& request, const Candidate& candidate) {
  if (candidate.devices.empty() || !candidate.functional) return candidate.reason;
  return fmt::format("index {} is out of range: there {} {} device{} (0 to {})", request.index,
                     candidate.devices.size() == 1 ? "is" : "are", candidate.devices.size(),
                     candidate.devices.size() == 1 ? "" : "s", candidate.devices.size() - 1);
}

Selection find_device(const Request& request, bool fallback) {
  if (request.backend == "auto") return select_first(/*only_accelerators=*/false, fallback);
  if (request.backend == "gpu") return select_first(/*only_accelerators=*/true, fallback);
  auto* backend = find_backend(request.backend);
  check(backend != nullptr, ErrorKind::Device,
        "[device.select] no backend '{}' in this build; expected one of {}.", request.backend,
        join(backend_names(), ", "));
  const auto& candidate = examined(*backend);
  const int index = std::max(request.index, 0);
  if (candidate.functional && index < static_cast<int>(candidate.devices.size())) {
    return make_selection(*backend, candidate, index, "asked for");
  }
  const auto why = missing_reason(request, candidate);
  const auto name = spoken_name(request.backend);
  check(fallback, ErrorKind::Device,
        "[device.select] {} is not available; got \"{}\", expected a working device. Use --device "
        "auto, or --fallback to go on with the CPU.",
        name, why);
  log::warn("[device.select] {} is not available ({}); going on with the CPU", name, why);
  return select_cpu(fmt::format("fallback: {} is not available ({})", name, why));
}

}  // namespace

Request parse_request(std::string_view text) {
  Request request;
  const auto colon = text.find(':');
  request.backend = lowercase(trim(text.substr(0, colon)));
  if (colon != std::string_view::npos) {
    const auto digits = text.substr(colon + 1);
    const auto end = digits.data() + digits.size();
    const auto parsed = std::from_chars(digits.data(), end, request.index);
    check(!digits.empty() && parsed.ec == std::errc() && parsed.ptr == end && request.index >= 0,
          ErrorKind::Usage,
          "[device.parse] '{}' is no device; got index '{}', expected a number such as cuda:0.",
          text, digits);
  }
  if (request.backend == "metal") request.backend = "mps";
  const auto words = request_words();
  const auto unsupported = why_unsupported(request.backend);
  check(unsupported.empty(), ErrorKind::Usage,
        "[device.parse] {}; got '{}', expected one of {} (or cuda:N).", unsupported, text,
        join(words, ", "));
  check(std::find(words.begin(), words.end(), request.backend) != words.end(), ErrorKind::Usage,
        "[device.parse] unknown device; got '{}', expected one of {} (or cuda:N).{}", text,
        join(words, ", "), hint(request.backend, words));
  check(request.index < 0 || (request.backend != "auto" && request.backend != "gpu"),
        ErrorKind::Usage, "[device.parse] '{}' takes no index; name the device, e.g. cuda:{}.",
        request.backend, request.index);
  return request;
}

const std::vector<Candidate>& survey() {
  static const std::vector<Candidate> kSurvey = [] {
    std::vector<Candidate> candidates;
    for (auto* backend : backends()) {
      if (backend->auto_order() > 0) candidates.push_back(examined(*backend));
    }
    return candidates;
  }();
  return kSurvey;
}

Selection select(const Request& request, bool fallback) {
  auto selection = find_device(request, fallback);
  log::debug("selected {}: {}", selection.facts.label(), selection.reason);
  return selection;
}

std::string device_of_process(const Request& asked, int local_rank, int local_size) {
  const bool open = asked.backend == "auto" || asked.backend == "gpu" || asked.backend == "cuda";
  if (local_size <= 1 || !open || asked.index >= 0) return {};  // nothing is looked for
  return device_of_process(asked, local_rank, local_size, survey());
}

std::string device_of_process(const Request& asked, int local_rank, int local_size,
                              const std::vector<Candidate>& candidates) {
  if (local_size <= 1 || asked.index >= 0) return {};
  const auto cuda = std::ranges::find(candidates, "cuda", &Candidate::backend);
  if (cuda == candidates.end() || !cuda->functional || cuda->devices.size() < 2) return {};
  const auto count = static_cast<int>(cuda->devices.size());
  check(local_rank < count, ErrorKind::Device,
        "[device.select] more processes than CUDA devices on this machine; got {} and {}, expected "
        "one process for each device.",
        local_size, count);
  return fmt::format("cuda:{}", local_rank);
}

}  // namespace ubique::device
