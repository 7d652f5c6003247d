// SPDX-License-Identifier: Apache-2.0
// How busy this machine is: processors, memory and graphics cards.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ubique/base/text/json_fwd.h"

namespace ubique::serve {

struct GpuActivity {
  std::string name;
  double busy = 0;  ///< 0 to 1
  std::int64_t memory_used = 0, memory_total = 0;
};

struct Activity {
  std::optional<double> busy;  ///< of all cores together, since the last look
  int cores = 0;
  std::int64_t memory_used = 0, memory_total = 0;
  std::vector<GpuActivity> gpus;

  Json json() const;
};

/// Looks at most once a second; between that it tells what it saw.
class ActivityMeter {
 public:
  ActivityMeter();
  Activity now();

 private:
  std::mutex mutex_;
  double looked_ = -1e9;
  std::int64_t busy_ticks_ = 0, all_ticks_ = 0;
  bool has_gpu_tool_ = false;
  Activity seen_;
};

/// Lines of "nvidia-smi --query-gpu=name,utilization.gpu,memory.used,memory.total
/// --format=csv,noheader,nounits".
std::vector<GpuActivity> gpus_of(const std::string& lines);

/// Resident memory of this process, in bytes; 0 where the system does not tell.
std::int64_t own_memory();

}  // namespace ubique::serve
