// SPDX-License-Identifier: Apache-2.0
// Everything that routes work with.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "ubique/serve/http/figures.h"
#include "ubique/serve/jobs/commands.h"
#include "ubique/serve/library/items.h"
#include "ubique/serve/library/presets.h"
#include "ubique/serve/library/references.h"
#include "ubique/serve/machine/activity.h"
#include "ubique/serve/queue/job_store.h"
#include "ubique/serve/store/folders.h"

namespace ubique::serve {

/// Facts that do not change while the server runs.
struct ServerFacts {
  std::string version, program;
  std::vector<std::pair<std::string, std::string>> families;  ///< name, summary
  bool loopback = true, has_pull = false, has_openai = false;
  std::int64_t upload_bytes = 0;
  int event_streams = 100;  ///< most that may be open
};

struct Services {
  const ServerFacts& facts;
  const CommandTable& table;
  const Folders& folders;
  Database& database;
  EventLog& events;
  JobStore& jobs;
  Library& library;
  Uploads& uploads;
  Models& models;
  Presets& presets;
  const SharedFolders& shared;
  const References& references;
  ActivityMeter& activity;
  Figures& figures;
  /// What `ubique info --json` prints; asked once, later calls are quick.
  std::function<Json()> info;
  /// ModelPool::loaded() of language models; may be absent.
  std::function<Json()> loaded_models = {};

  /// The device of --device auto: "cpu", "cuda:0".
  std::string usual_lane() const;
  /// {kind, name} of that device; nulls if it cannot be told.
  Json usual_device() const;
};

}  // namespace ubique::serve
