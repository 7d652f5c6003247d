// SPDX-License-Identifier: Apache-2.0
// While one of these lives, the CPU has the ops of a decoding step, in plain ops.
#pragma once

namespace ubique::test {

struct FakeDecodeKernels {
  FakeDecodeKernels();
  ~FakeDecodeKernels();
  static int steps();  ///< that were made so far
};

}  // namespace ubique::test
