// SPDX-License-Identifier: Apache-2.0
// While a StrictNumerics exists, float32 means float32: TF32 and reduced-precision accumulation
// that LibTorch may use for float32 or half results are off. The destructor restores the old
// settings.
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
