// SPDX-License-Identifier: Apache-2.0
// The results of probes as plain data: read by the planner, kept in the cache, shared between
// users. No torch in here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ubique/base/numbers/dtype.h"

namespace ubique::probe {

enum class Outcome {
  Pass,
  Fail,     ///< ran, and the numbers are wrong
  Refused,  ///< the device said no with an error (an unsupported op or dtype)
  Skipped,  ///< does not apply here; detail says why
};

enum class Layout { Contiguous, ChannelsLast };

std::string_view to_string(Outcome outcome);  ///< "pass", "fail", "refused", "skipped"
std::string_view to_string(Layout layout);    ///< "contiguous", "channels_last"

/// The result of one probe. `id` is unique in a report:
/// "conv3d.dilated/bf16/channels_last/gradient".
struct Verdict {
  std::string id;
  std::string op;  ///< first part of id: "conv3d.dilated", "attention.causal_fused"
  DType dtype = DType::F32;
  Layout layout = Layout::Contiguous;
  bool gradient = false;
  Outcome outcome = Outcome::Skipped;
  double error = 0;      ///< largest error, in the unit of tolerance
  double tolerance = 0;  ///< from the error model
  double device_ms = 0;  ///< median time on the device; 0 = not timed
  double cpu_ms = 0;     ///< the same work on this machine's CPU; 0 = not timed
  std::string detail;    ///< why it failed, was refused or skipped

  bool slower_than_cpu() const { return cpu_ms > 0 && device_ms > cpu_ms; }
};

/// All verdicts about one device, with the device and versions that they are valid for.
struct Report {
  std::string device;  ///< Facts::name
  std::string backend;
  std::string torch_version, os_version, driver, chip;
  int probe_version = 0;
  bool from_cache = false;
  double seconds = 0;
  std::vector<Verdict> verdicts;

  bool empty() const { return verdicts.empty(); }
  const Verdict* find(std::string_view id) const;
  /// Verdicts of an op ("conv3d") or of the ops under it ("conv3d." matches "conv3d.dilated").
  std::vector<const Verdict*> of_op(std::string_view op) const;
};

}  // namespace ubique::probe
