// SPDX-License-Identifier: Apache-2.0
// Reads the results of toy runs, for comparison.
#pragma once

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "toy.h"

namespace ubique::test {

/// The loss of every step in metrics.jsonl, in order.
inline std::vector<double> losses_of(const std::filesystem::path& run) {
  std::map<std::int64_t, double> losses;
  std::ifstream file(run / "metrics.jsonl");
  for (std::string line; std::getline(file, line);) {
    const auto record = parse_json(line, "metrics.jsonl");
    if (!record.contains("loss") || !record["loss"].is_number()) continue;
    losses[record["step"].get<std::int64_t>()] = record["loss"].get<double>();
  }
  std::vector<double> list;
  for (const auto& [step, loss] : losses) list.push_back(loss);
  return list;
}

}  // namespace ubique::test
