// SPDX-License-Identifier: Apache-2.0
// While one of these lives, the CPU has the ops of a decoding step, in plain ops.
#pragma once

#include <cstdint>

namespace ubique::test {

struct FakeDecodeKernels {
  FakeDecodeKernels();
  ~FakeDecodeKernels();
  static int steps();          ///< that were made so far
  static std::int64_t rows();  ///< of all of them
};

}  // namespace ubique::test
