// SPDX-License-Identifier: Apache-2.0
// Runnable threads of the machine, less this process's own.
#include "ubique/device/threads/cpu_load.h"

#include <charconv>
#include <filesystem>
#include <fstream>

namespace ubique::device {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> first_line_of(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

int own_runnable() {
  int count = 0;
  std::error_code gone;  // a thread may end while we look
  for (const auto& task : fs::directory_iterator("/proc/self/task", gone)) {
    const auto stat = first_line_of(task.path() / "stat");
    if (stat && is_runnable(*stat)) ++count;
  }
  return count;
}

}  // namespace

std::optional<int> runnable_in(const std::string& loadavg) {
  const auto slash = loadavg.find('/');
  if (slash == std::string::npos) return std::nullopt;
  const auto space = loadavg.rfind(' ', slash);
  const auto begin = space == std::string::npos ? 0 : space + 1;
  int count = 0;
  const auto [end, error] = std::from_chars(loadavg.data() + begin, loadavg.data() + slash, count);
  if (error != std::errc() || end != loadavg.data() + slash || count < 0) return std::nullopt;
  return count;
}

bool is_runnable(const std::string& stat) {
  const auto name_end = stat.rfind(')');
  return name_end != std::string::npos && stat.compare(name_end, 3, ") R") == 0;
}

std::optional<int> running_elsewhere() {
  const int own = own_runnable();
  const auto line = first_line_of("/proc/loadavg");
  const auto all = line ? runnable_in(*line) : std::nullopt;
  if (!all) return std::nullopt;
  return std::max(0, *all - own);
}

}  // namespace ubique::device
