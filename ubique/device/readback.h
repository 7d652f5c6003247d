// SPDX-License-Identifier: Apache-2.0
// A tensor's values on the host, waited for later: the device goes on with what comes after.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

namespace ubique::device {

class Readback {
 public:
  Readback();
  ~Readback();
  Readback(Readback&& other) noexcept;
  Readback& operator=(Readback&& other) noexcept;

  /// Copies the values behind the work that is queued for the tensor's device, always of the same
  /// shape. Does not wait.
  void begin(const at::Tensor& from);
  /// The values of the last begin(), on the host, until the next one.
  const at::Tensor& wait();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ubique::device
