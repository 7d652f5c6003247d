// SPDX-License-Identifier: Apache-2.0
// Reads CPUID, and keeps oneDNN from AMX that cannot be used.
#include "ubique/device/cpu/amx.h"

#include <cstdlib>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace ubique::device {
namespace {

/// oneDNN reads this variable at its first use, so it is set when the library is loaded: programs
/// that only link Ubique need it as well. What the user has set is kept.
const bool kLimited = [] {
  const auto report = read_amx_report();
  if (!report.announced || is_usable(report)) return false;
  return ::setenv("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_FP16", /*overwrite=*/0) == 0;
}();

}  // namespace

AmxReport read_amx_report() {
  AmxReport report;
#if defined(__x86_64__)
  constexpr unsigned kFeatures = 0x7, kTiles = 0x1D, kTileBit = 1U << 24U;
  unsigned a = 0, b = 0, c = 0, d = 0;
  report.announced = __get_cpuid_count(kFeatures, 0, &a, &b, &c, &d) != 0 && (d & kTileBit) != 0;
  if (__get_cpuid_count(kTiles, 0, &a, &b, &c, &d) != 0) report.palettes = static_cast<int>(a);
#endif
  return report;
}

bool is_usable(const AmxReport& report) { return report.announced && report.palettes > 0; }

}  // namespace ubique::device
