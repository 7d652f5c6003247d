// SPDX-License-Identifier: Apache-2.0
// The pretend device as the tests use it: loaded once per process, told other settings at will.
#pragma once

#include <ATen/ATen.h>

#include <string>

#include "ubique/device/backend.h"

namespace ubique::test {

device::Backend& sham_backend();  ///< of the name of this folder
std::string settings_variable();  ///< "UBIQUE_SHAM"

/// Loads the device at the first call; every test begins with it, before any other torch call.
c10::Device sham_device();

/// Settings as in UBIQUE_SHAM, for as long as this lives. Throws with the message if they are
/// wrong.
class Told {
 public:
  explicit Told(const std::string& text);
  ~Told();
};

/// The error message that these settings give; empty = none. They hold only if there is none.
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

/// Normal values from a generator of their own, made on the CPU.
at::Tensor values(at::IntArrayRef shape, std::uint64_t seed = 1);

}  // namespace ubique::test
