// SPDX-License-Identifier: Apache-2.0
// What the workers work with.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "ubique/serve/jobs/commands.h"
#include "ubique/serve/library/items.h"
#include "ubique/serve/library/references.h"
#include "ubique/serve/queue/job_store.h"
#include "ubique/serve/store/folders.h"
#include "ubique/serve/worker/process.h"

namespace ubique::serve {

/// Memory of a lane's device.
struct LaneMemory {
  std::int64_t free_bytes = 0, total_bytes = 0;
};

struct WorkerContext {
  JobStore& jobs;
  EventLog& events;
  Library& library;
  const References& references;
  const CommandTable& table;
  const Folders& folders;
  const LifeLine& life;
  std::string program;  ///< path of this program
  /// Bytes that the plan predicts for a job; nothing if it cannot tell.
  std::function<std::optional<std::int64_t>(const Job&)> predict = {};
  std::function<std::optional<LaneMemory>(const std::string& lane)> memory = {};
};

/// Where an attempt at a job works. Trainings go on in the folder of the attempt before.
std::filesystem::path attempt_folder(const Folders& folders, const Job& job, const CommandRow& row);

}  // namespace ubique::serve
