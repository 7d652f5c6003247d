// SPDX-License-Identifier: Apache-2.0
// Planted faults: each reproduces a fault of real devices, so that the probes can be tested. To add
// one, add an entry in mutations.cpp.
#pragma once

#include <ATen/core/ivalue.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace torch {
class Library;
}

namespace ubique::backend::sham {

using Arguments = std::span<c10::IValue>;
using Results = std::span<c10::IValue>;

/// An entry changes the arguments of its ops (before), their results (after), or the registered
/// kernels (install). Without these, the device's own kernels check for it by name. `before` and
/// `after` get CPU views of the device's memory.
struct Mutation {
  std::string_view name;
  int fault;              ///< row of the README's table of faults
  std::string_view what;  ///< description for users
  std::vector<std::string_view> ops = {};
  void (*before)(const std::string& op, Arguments arguments) = nullptr;
  void (*after)(const std::string& op, Arguments arguments, Results results) = nullptr;
  void (*install)(std::vector<torch::Library>& libraries) = nullptr;
};

std::span<const Mutation> mutations();
/// The mutation of wrong=op:NAME: changes every result of that op.
const Mutation& bent_result();

/// Registers the kernels for the current settings, and removes those of earlier settings.
void apply_overrides();

}  // namespace ubique::backend::sham
