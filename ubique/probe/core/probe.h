// SPDX-License-Identifier: Apache-2.0
// One probe: a name and a function that runs on a device and returns a finding. What the standard
// ops share (inputs, reference, comparison) is in probes/operation.h; suite.h makes the list.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "ubique/base/numbers/random.h"
#include "ubique/device/facts.h"
#include "ubique/probe/core/verdict.h"

namespace ubique::probe {

/// The device, random stream and settings that a probe runs with.
struct Site {
  c10::Device device;
  const device::Facts& facts;
  Random random;       ///< the probe's own stream: the same numbers on every device
  bool timing = true;  ///< false: timed probes only compare numbers
  int threads = 1;     ///< CPU threads for timing; numbers are compared with one thread
  std::function<bool()> stop = {};  ///< true: end soon, with whatever is known
};

struct Finding {
  Outcome outcome = Outcome::Pass;
  double error = 0, tolerance = 0;
  double device_ms = 0, cpu_ms = 0;
  std::string detail;
};

/// Pass if the error is within the tolerance (NaN never is); the detail is kept only for a failure.
Finding judge(double error, double tolerance, const std::string& detail);
/// Skipped or refused, with the reason.
Finding not_run(Outcome outcome, const std::string& reason);

struct Probe {
  std::string op;   ///< "conv3d.dilated"
  std::string tag;  ///< what tells cases of one op apart: "c5d2"; may be empty
  DType dtype = DType::F32;
  Layout layout = Layout::Contiguous;
  bool gradient = false;
  std::function<Finding(const Site&)> run;
  bool timed = false;  ///< timed as well, where time matters
  double work = 0;     ///< multiplications of its reference; 0 = hardly any

  std::string id() const;  ///< "conv3d.dilated[c5d2]/f32/contiguous/gradient"
};

/// FNV-1a, the same in every process: for stream numbers and names of cache files.
std::uint64_t name_hash(std::string_view name);

}  // namespace ubique::probe
