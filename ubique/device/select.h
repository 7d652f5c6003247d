// SPDX-License-Identifier: Apache-2.0
// Parses --device and selects one device that has passed a small computation.
#pragma once

#include <c10/core/Device.h>

#include <string>
#include <string_view>
#include <vector>

#include "ubique/device/facts.h"

namespace ubique::device {

/// A parsed --device: "auto", "cpu", "cuda", "cuda:1", "mps", "metal" (= mps), "gpu" (= cuda, or
/// mps on a Mac), "sham".
struct Request {
  std::string backend = "auto";
  int index = -1;  ///< -1 = not given
};

/// Usage error with a "did you mean" for anything else.
Request parse_request(std::string_view text);

/// One device that auto looked at, with the reason if it cannot be used.
struct Candidate {
  std::string backend;
  std::vector<Facts> devices;  ///< empty if there is none
  bool functional = false;     ///< a small computation on it gave the right numbers
  std::string reason;          ///< why not, or a remark
};

/// Looks for every device that auto may pick, CUDA -> MPS -> (XPU) -> CPU. Cached per process.
const std::vector<Candidate>& survey();

struct Selection {
  Facts facts;
  c10::Device torch_device{c10::DeviceType::CPU};
  std::string reason;  ///< why this one
};

/// Device error if an explicitly named device is missing, unless fallback is set (then CPU, and the
/// reason says so).
Selection select(const Request& request, bool fallback = false);

/// Of several CUDA devices each process of a machine takes its own: "cuda:1" for local rank 1.
/// Empty if there is nothing to choose (one device, which CUDA_VISIBLE_DEVICES may have left, or
/// another kind was asked for). Device error for more processes than devices.
std::string device_of_process(const Request& asked, int local_rank, int local_size);
std::string device_of_process(const Request& asked, int local_rank, int local_size,
                              const std::vector<Candidate>& candidates);

}  // namespace ubique::device
