// SPDX-License-Identifier: Apache-2.0
// While one lives, float32 means float32: TF32, bf16 and half-precision reductions that LibTorch
// may use behind a float32 or half result are off. The old settings come back when it dies.
#pragma once

#include <memory>

namespace ubique::probe {

class StrictNumerics {
 public:
  StrictNumerics();
  ~StrictNumerics();
  StrictNumerics(const StrictNumerics&) = delete;
  StrictNumerics& operator=(const StrictNumerics&) = delete;

 private:
  struct Saved;
  std::unique_ptr<Saved> saved_;
};

}  // namespace ubique::probe
