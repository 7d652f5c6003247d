// SPDX-License-Identifier: Apache-2.0
// What the families' demos share. A demo runs the commands that a person would type, one after
// another.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ubique/engine/contract/family.h"
#include "ubique/engine/walk/train_walk.h"

namespace ubique::engine {

using DemoFlags = std::vector<std::pair<std::string, std::string>>;

/// A command's own request: its flags and output, the person's wishes for the plan, progress style
/// and stop. Work that needs no device (`on_device` off) gets no wishes.
Request demo_request(const Request& request, const DemoFlags& flags,
                     const std::filesystem::path& output, bool on_device = true);

/// Trains what `make_task` makes of `own`, whose output is the run folder; resumes a run that is
/// there.
TrainResult train_demo(Request own, const MakeTask& make_task);

/// What is said of a demo that was stopped.
Outcome interrupted_demo();

}  // namespace ubique::engine
