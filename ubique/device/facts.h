// SPDX-License-Identifier: Apache-2.0
// What is known about one device, as plain data: detected on this machine, or read from the profile
// of another. The planner sees nothing else of a device. No torch in here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/base/numbers/dtype.h"

namespace ubique::device {

/// Which family of rules a device follows. A pretend device has the kind that it imitates.
enum class Kind { Cpu, Cuda, Mps, Xpu };

std::string_view to_string(Kind kind);  ///< "cpu", "cuda", "mps", "xpu"

struct Facts {
  std::string backend;  ///< what --device takes: "cpu", "cuda", "mps", "sham"
  Kind kind = Kind::Cpu;
  int index = 0;
  int count = 1;         ///< devices of this backend on the machine
  std::string name;      ///< "NVIDIA H200", "Apple M3 Max", "AMD EPYC"
  std::string profile;   ///< profile id when not detected here, else empty
  bool pretend = false;  ///< computes on the CPU and imitates an accelerator
  std::string untested;  ///< set if we never checked results on it ("ROCm", "XPU"), else empty

  std::int64_t total_bytes = 0;  ///< device memory; RAM for CPU and Apple
  std::int64_t free_bytes = 0;
  std::int64_t recommended_bytes = 0;  ///< Apple's recommended working set; 0 = unknown
  std::int64_t budget_bytes = 0;       ///< what a plan may use, see budget.h
  std::string budget_reason;
  std::int64_t max_tensor_bytes = 0;  ///< one tensor must be smaller; 0 = no limit known

  int capability = 0;  ///< CUDA: 10 * major + minor (75, 80, 86, 89, 90); else 0
  std::string chip;    ///< "turing", "ampere", "ada", "hopper", "apple-m3", "x86-64", "arm64"
  std::vector<DType> native_dtypes;  ///< computed in hardware, not emulated
  int cores = 0;  ///< CPU cores this process may use; GPU cores or SMs for accelerators
  std::vector<std::string>
      instruction_sets;    ///< CPU: "avx2", "avx512", "avx512_bf16", "amx", "neon"
  double memory_gbps = 0;  ///< memory bandwidth in GB/s; 0 = unknown
  double tflops_f32 = 0;   ///< peak rates; 0 = unknown
  double tflops_half = 0;

  std::string platform;       ///< "Linux", "Darwin"
  std::string os_version;     ///< "Debian GNU/Linux 12", "macOS 26.3"
  std::string torch_version;  ///< "2.11.0"
  std::string driver;         ///< "CUDA 13.0, driver 580.159"; empty for CPU

  bool has_dtype(DType dtype) const;
  bool has_instruction_set(std::string_view name) const;
  /// How reports name it: "NVIDIA H200 (cuda:0)", "sham (pretend Metal on CPU)".
  std::string label() const;
};

}  // namespace ubique::device
