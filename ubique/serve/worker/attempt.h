// SPDX-License-Identifier: Apache-2.0
// One attempt at a job, from its folder to its end.
#pragma once

#include <functional>

#include "ubique/serve/worker/context.h"

namespace ubique::serve {

/// Runs a job that was started (JobStore::start) until it ends, is stopped, or `stopping` says that
/// the server ends. Whatever happens, the job's state is settled when it returns.
void run_attempt(WorkerContext& context, const Job& job, const std::function<bool()>& stopping);

}  // namespace ubique::serve
