// SPDX-License-Identifier: Apache-2.0
// Decides about the restart and replaces the process with itself.
#include "ubique/device/startup.h"

#include <unistd.h>

#include <cstdlib>

#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif

namespace ubique::device {
namespace {

constexpr const char* kFallback = "PYTORCH_ENABLE_MPS_FALLBACK";
constexpr const char* kGuard =
    "UBIQUE_RESTARTED";  // set by the first start, prevents a second restart

std::optional<std::string> process_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

#ifdef __APPLE__

constexpr const char* kPlatform = "Darwin";

std::string own_path() {
  char path[4096];
  std::uint32_t size = sizeof path;
  return _NSGetExecutablePath(path, &size) == 0 ? path : "";
}

#else

constexpr const char* kPlatform = "Linux";

std::string own_path() { return "/proc/self/exe"; }

#endif

}  // namespace

std::map<std::string, std::string> restart_environment(const std::string& platform,
                                                       const Environment& environment) {
  if (platform != "Darwin") return {};
  if (environment(kFallback) || environment(kGuard))
    return {};  // the user's choice, or done already
  return {{kFallback, "1"}, {kGuard, "1"}};
}

void restart_process(char** arguments, const std::map<std::string, std::string>& variables) {
  for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  execv(own_path().c_str(), arguments);
}

void prepare_process(char** arguments) {
  const auto variables = restart_environment(kPlatform, process_environment);
  if (!variables.empty()) restart_process(arguments, variables);
}

}  // namespace ubique::device
