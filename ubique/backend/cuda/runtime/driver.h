// SPDX-License-Identifier: Apache-2.0
// Queries NVIDIA's driver directly (libcuda.so.1, opened at run time): whether it is there and
// works, and its cards. Its interface is stable and needs neither toolkit nor headers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ubique::backend::cuda {

struct Card {
  std::string name;
  int capability = 0;  ///< 10 * major + minor
  int processors = 0;  ///< streaming multiprocessors
  std::int64_t total_bytes = 0;
  double memory_gbps = 0;
};

struct Driver {
  std::string fault;           ///< why no card can be used; empty = usable
  int cuda_version = 0;        ///< newest CUDA the driver supports, 13000 = 13.0
  std::string driver_version;  ///< "580.159.03"; empty if unknown
  std::vector<Card> cards;
};

Driver ask_driver();

}  // namespace ubique::backend::cuda
