// SPDX-License-Identifier: Apache-2.0
// The table of wrong behaviours: each plays a fault that real devices had, so that whoever checks
// devices can be checked in turn. Adding one is adding one entry in mutations.cpp.
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

/// An entry changes the arguments of its ops (before), their results (after), or which kernels are
/// registered (install). With none of them, the device's own kernels ask for it by its name.
/// Tensors that before and after see are CPU tensors on the device's memory.
struct Mutation {
  std::string_view name;
  int fault;              ///< row of the README's table of faults
  std::string_view what;  ///< what goes wrong, for people
  std::vector<std::string_view> ops = {};
  void (*before)(const std::string& op, Arguments arguments) = nullptr;
  void (*after)(const std::string& op, Arguments arguments, Results results) = nullptr;
  void (*install)(std::vector<torch::Library>& libraries) = nullptr;
};

std::span<const Mutation> mutations();
/// What wrong=op:NAME does to every result of that op.
const Mutation& bent_result();

/// Registers what the settings' refused ops and mutations need, and takes back what earlier
/// settings had registered.
void apply_overrides();

}  // namespace ubique::backend::sham
