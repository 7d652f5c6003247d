// SPDX-License-Identifier: Apache-2.0
// What a process asks of its machine when several processes share it.
#pragma once

#include "ubique/dist/place.h"
#include "ubique/plan/wishes.h"

namespace ubique::engine {

/// Of several devices of one kind, this process takes its own; the cores are shared out, unless a
/// number of threads was asked for.
void share_machine(const dist::Place& place, plan::Wishes& wishes);

}  // namespace ubique::engine
