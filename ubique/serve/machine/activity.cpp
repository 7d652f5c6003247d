// SPDX-License-Identifier: Apache-2.0
// Reads /proc where there is one, and asks nvidia-smi where it is installed.
#include "ubique/serve/machine/activity.h"

#include <unistd.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

#include "ubique/base/error.h"
#include "ubique/base/files/process.h"
#include "ubique/base/files/stream.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/text.h"

namespace ubique::serve {
namespace {

constexpr std::size_t kLongestGpuList = 64 << 10U;

struct Ticks {
  std::int64_t busy = 0, all = 0;
};

Ticks processor_ticks() {
  std::ifstream file("/proc/stat");
  std::string line;
  if (!std::getline(file, line) || !line.starts_with("cpu ")) return {};
  std::istringstream fields(line.substr(4));
  Ticks ticks;
  std::int64_t value = 0;
  for (int i = 0; i < 8 && fields >> value; ++i) {
    ticks.all += value;
    if (i != 3 && i != 4) ticks.busy += value;  // idle, waiting for a disk
  }
  return ticks;
}

std::int64_t kilobytes_of(const std::string& line) {
  const auto number =
      parse_number(trim(line.substr(line.find(':') + 1, line.rfind("kB") - line.find(':') - 1)));
  return static_cast<std::int64_t>(number.value_or(0)) * 1024;
}

void look_at_memory(Activity& activity) {
  std::ifstream file("/proc/meminfo");
  std::int64_t available = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("MemTotal:")) activity.memory_total = kilobytes_of(line);
    if (line.starts_with("MemAvailable:")) available = kilobytes_of(line);
  }
  if (activity.memory_total == 0) {
    activity.memory_total =
        static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
    available = activity.memory_total;  // how much is used is not told
  }
  activity.memory_used = activity.memory_total - available;
}

std::vector<GpuActivity> ask_gpus() {
  try {
    PipedProgram tool({"nvidia-smi", "--query-gpu=name,utilization.gpu,memory.used,memory.total",
                       "--format=csv,noheader,nounits"},
                      PipeEnd::Read);
    auto lines = read_to_end(tool.descriptor(), "nvidia-smi", kLongestGpuList);
    return tool.finish() == 0 ? gpus_of(lines) : std::vector<GpuActivity>();
  } catch (const Error&) {  // it is gone
    return {};
  }
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::vector<GpuActivity> gpus_of(const std::string& lines) {
  std::vector<GpuActivity> gpus;
  for (const auto& line : split(lines, '\n')) {
    const auto fields = split(line, ',');
    if (fields.size() != 4) continue;
    const auto mebibytes = [&](std::size_t i) {
      return static_cast<std::int64_t>(parse_number(fields[i]).value_or(0)) << 20U;
    };
    gpus.push_back({.name = fields[0],
                    .busy = parse_number(fields[1]).value_or(0) / 100,
                    .memory_used = mebibytes(2),
                    .memory_total = mebibytes(3)});
  }
  return gpus;
}

Json Activity::json() const {
  auto cards = Json::array();
  for (const auto& gpu : gpus) {
    cards.push_back({{"name", gpu.name},
                     {"busy", gpu.busy},
                     {"memory_used", gpu.memory_used},
                     {"memory_total", gpu.memory_total}});
  }
  return {{"cpu", {{"busy", busy ? Json(*busy) : Json(nullptr)}, {"cores", cores}}},
          {"memory", {{"used", memory_used}, {"total", memory_total}}},
          {"gpus", std::move(cards)}};
}

ActivityMeter::ActivityMeter() : has_gpu_tool_(find_program("nvidia-smi").has_value()) {
  seen_.cores = static_cast<int>(std::thread::hardware_concurrency());
}

Activity ActivityMeter::now() {
  const std::lock_guard lock(mutex_);
  const double now = seconds_now();
  if (now - looked_ < 1) return seen_;
  looked_ = now;
  const auto ticks = processor_ticks();
  const auto passed = ticks.all - all_ticks_;
  if (all_ticks_ > 0 && passed > 0) {
    seen_.busy = static_cast<double>(ticks.busy - busy_ticks_) / static_cast<double>(passed);
  }
  busy_ticks_ = ticks.busy;
  all_ticks_ = ticks.all;
  look_at_memory(seen_);
  if (has_gpu_tool_) seen_.gpus = ask_gpus();
  return seen_;
}

std::int64_t own_memory() {
  std::ifstream file("/proc/self/statm");
  std::int64_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

}  // namespace ubique::serve
