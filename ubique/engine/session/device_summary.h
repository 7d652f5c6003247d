// SPDX-License-Identifier: Apache-2.0
// The "Device Backend Summary": what is used, why, and what it can do. `info` prints it, `train -v`
// logs it.
#pragma once

#include <string>
#include <vector>

#include "ubique/device/select.h"

namespace ubique::engine {

const char* yes_no(bool value);  ///< "True", "False", as Python's scripts print it
std::vector<std::string> dtype_names(const std::vector<DType>& dtypes);

/// What the planner would choose for causal attention here, from the probes if they have been run.
std::string attention_backend(const device::Facts& facts);
bool supports_bf16(const device::Facts& facts);

/// `verbose` adds memory, bandwidth, probes and folders.
std::string summary_block(const device::Selection& selection, bool verbose);

}  // namespace ubique::engine
