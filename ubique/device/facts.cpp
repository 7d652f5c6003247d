// SPDX-License-Identifier: Apache-2.0
// Names and look-ups of Facts.
#include "ubique/device/facts.h"

#include <fmt/format.h>

#include <algorithm>

namespace ubique::device {

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::Cuda:
      return "cuda";
    case Kind::Mps:
      return "mps";
    case Kind::Xpu:
      return "xpu";
    case Kind::Cpu:
      break;
  }
  return "cpu";
}

bool Facts::has_dtype(DType dtype) const {
  return std::find(native_dtypes.begin(), native_dtypes.end(), dtype) != native_dtypes.end();
}

bool Facts::has_instruction_set(std::string_view name) const {
  return std::find(instruction_sets.begin(), instruction_sets.end(), name) !=
         instruction_sets.end();
}

std::string Facts::label() const {
  if (pretend) return fmt::format("{} (pretend Metal on CPU)", backend);
  if (!profile.empty()) return fmt::format("{} (profile {})", name, profile);
  if (count > 1) return fmt::format("{} ({}:{})", name, backend, index);
  return fmt::format("{} ({})", name, backend);
}

}  // namespace ubique::device
