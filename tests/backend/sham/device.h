// SPDX-License-Identifier: Apache-2.0
// The pretend device in tests: loaded once per process, with settings that can be changed.
#pragma once

#include <ATen/ATen.h>

#include <string>

#include "ubique/device/backend.h"

namespace ubique::test {

device::Backend& sham_backend();  ///< named like this folder
std::string settings_variable();  ///< "UBIQUE_SHAM"

/// Loads the device at the first call; every test begins with it, before any other torch call.
c10::Device sham_device();

/// Settings as in UBIQUE_SHAM while this object lives. Throws with the message if they are invalid.
class Told {
 public:
  explicit Told(const std::string& text);
  ~Told();
};

/// The error message for these settings; empty = valid, and they are then in effect.
std::string settings_error(const std::string& text);

std::int64_t ledger_total(const std::string& what);
void reset_ledger();

/// What the call threw, without its backtrace; empty = nothing.
template <typename Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return {};
}

/// Normally distributed values from a separate generator, created on the CPU.
at::Tensor values(at::IntArrayRef shape, std::uint64_t seed = 1);

}  // namespace ubique::test
