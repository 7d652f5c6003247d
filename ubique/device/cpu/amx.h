// SPDX-License-Identifier: Apache-2.0
// AMX, the matrix units of newer Intel processors, as virtual machines present them: some announce
// it without describing its tiles. oneDNN, which LibTorch uses for products in bf16, then fails to
// create them, and after a first failure also those in f32.
#pragma once

namespace ubique::device {

/// What the processor says of AMX (CPUID).
struct AmxReport {
  bool announced = false;  ///< the feature flag
  int palettes = 0;        ///< descriptions of tiles; none can be configured without one
};

AmxReport read_amx_report();

/// Can products be computed with it?
bool is_usable(const AmxReport& report);

}  // namespace ubique::device
