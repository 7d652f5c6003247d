// SPDX-License-Identifier: Apache-2.0
// Variables that LibTorch and its OpenMP read while they are loaded, too early for a program that
// is linked to them.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace ubique::cli {

using Environment = std::function<std::optional<std::string>(const std::string&)>;

/// What to set before LibTorch is loaded. A variable that the user has set is kept. Pure.
inline std::map<std::string, std::string> start_environment(bool is_mac,
                                                            const Environment& environment) {
  std::map<std::string, std::string> variables;
  // Ops that Metal lacks run on the CPU instead of failing.
  if (is_mac) variables["PYTORCH_ENABLE_MPS_FALLBACK"] = "1";
  // Threads that wait for others spin 300,000 times by default. Beside another program the one
  // waited for may not run at all, and spinning takes the core that it needs: training got tenfold
  // slower. 10,000 times are nearly as fast on a quiet machine, 1,000 are not.
  if (!environment("OMP_WAIT_POLICY")) variables["GOMP_SPINCOUNT"] = "10000";
  std::erase_if(variables, [&](const auto& variable) { return environment(variable.first); });
  return variables;
}

}  // namespace ubique::cli
