// SPDX-License-Identifier: Apache-2.0
// What moves gradients between the processes of a training: the wire, and the library that uses it.
#pragma once

#include <string>
#include <vector>

namespace ubique::plan {

struct Interconnect {
  std::string id;                ///< "ib400"
  std::string what;              ///< "InfiniBand NDR"
  double gbytes_per_second = 0;  ///< of one process, in one direction
  double latency_us = 0;         ///< of one message
  std::string source;            ///< of the two figures
  bool one_machine = false;      ///< all processes share its cores
};

const std::vector<Interconnect>& interconnects();

/// Usage error with the list for an unknown one.
const Interconnect& find_interconnect(const std::string& id);

/// What a process gets of a wire through this library ("gloo", "nccl"): Gloo copies and adds on the
/// host, which is slower than most wires.
Interconnect through(const Interconnect& wire, const std::string& library);

}  // namespace ubique::plan
