// SPDX-License-Identifier: Apache-2.0
// Puts the parts together, in the order in which they need each other.
#include "ubique/serve/studio.h"

#include <fmt/format.h>

#include <mutex>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/text.h"
#include "ubique/serve/aceforge/routes.h"
#include "ubique/serve/machine/ask.h"
#include "ubique/serve/pages/pages.h"
#include "ubique/serve/routes/routes.h"
#include "ubique/serve/store/schema.h"
#include "ubique/serve/worker/lanes.h"
#include "ubique/serve/worker/predict.h"

namespace ubique::serve {

constexpr double kInfoSeconds = 60;

struct AccessToken {
  std::string text;
  bool is_new = false;
};

/// `ubique info --json`, asked once.
class AskedInfo {
 public:
  explicit AskedInfo(std::string program) : program_(std::move(program)) {}
  Json get() {
    const std::lock_guard lock(mutex_);
    if (known_.is_null()) known_ = ask_json(program_, {"info"}, kInfoSeconds);
    return known_;
  }

 private:
  std::string program_;
  std::mutex mutex_;
  Json known_;
};

namespace {

SharedFolders shared_folders(const std::vector<std::filesystem::path>& allowed) {
  SharedFolders shared;
  for (const auto& path : allowed) {
    std::error_code error;
    const auto full = std::filesystem::canonical(path, error);
    check(!error && std::filesystem::is_directory(full, error), ErrorKind::Usage,
          "[serve.start] --allow names no folder; got '{}'.", path.string());
    auto name = safe_name(full.filename().string());
    for (int i = 2; shared.contains(name); ++i) {
      name = fmt::format("{}-{}", safe_name(full.filename().string()), i);
    }
    shared[name] = full;
  }
  return shared;
}

/// The one given, the one kept in the data folder, or a new one; none on a loopback address unless
/// it was given.
AccessToken access_token(const StudioSettings& settings, const Folders& folders) {
  if (!settings.token.empty()) return {settings.token};
  if (is_loopback(settings.host)) return {};
  const auto path = folders.root / "token";
  std::error_code error;
  if (std::filesystem::exists(path, error)) return {std::string(trim(read_file(path, 4096)))};
  const auto made = random_name();
  write_file(path, made + "\n");
  std::filesystem::permissions(
      path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write, error);
  return {made, true};
}

ServerFacts facts_of(const StudioSettings& settings, const StudioParts& parts,
                     const CommandTable& table) {
  return {.version = settings.version,
          .program = settings.program,
          .families = settings.families,
          .loopback = is_loopback(settings.host),
          .has_pull = table.has_verb("pull"),
          .has_openai = parts.has_openai,
          .upload_bytes = settings.upload_bytes,
          .event_streams = settings.event_streams};
}

}  // namespace

/// Everything behind the lock of the data folder.
struct Opened {
  Opened(const StudioSettings& settings, const StudioParts& parts, const Folders& folders)
      : table(parts.commands),
        facts(facts_of(settings, parts, table)),
        database(open_database(folders.root)),
        events(*database),
        jobs(*database, events, table),
        library(*database, events, folders),
        uploads(*database, folders),
        models(*database, folders, parts.recognize, parts.more_models),
        presets(*database),
        shared(shared_folders(settings.allowed)),
        references(uploads, library, models, shared),
        info(settings.program),
        services{facts,  table,      folders,  *database, events,
                 jobs,   library,    uploads,  models,    presets,
                 shared, references, activity, figures,   [this] { return info.get(); }},
        token(access_token(settings, folders)),
        guard({.token = token.text,
               .names = settings.names,
               .changes_per_second = settings.changes_per_second,
               .changes_at_once = settings.changes_at_once}),
        listener(router, guard, figures,
                 {.temporary = folders.temporary, .upload_bytes = settings.upload_bytes}),
        lanes({jobs, events, library, references, table, folders, life, settings.program,
               [this](const Job& job) { return predicted_memory(job, services); },
               [this](const std::string& lane) { return memory_of_lane(lane, activity.now()); }}) {}

  CommandTable table;
  ServerFacts facts;
  std::unique_ptr<Database> database;
  EventLog events;
  JobStore jobs;
  Library library;
  Uploads uploads;
  Models models;
  Presets presets;
  SharedFolders shared;
  References references;
  ActivityMeter activity;
  Figures figures;
  AskedInfo info;
  Services services;
  AccessToken token;
  Router router;
  Guard guard;
  LifeLine life;
  Listener listener;
  Lanes lanes;
};

struct Studio::Inside {
  explicit Inside(StudioSettings given)
      : settings(std::move(given)), folders(settings.data), lock(folders) {}

  StudioSettings settings;
  Folders folders;
  FolderLock lock;
  std::unique_ptr<Opened> opened;
  int port = 0;
};

Studio::Studio(StudioSettings settings, StudioParts parts)
    : inside_(std::make_unique<Inside>(std::move(settings))) {
  auto& own = *inside_;
  if (!own.lock.held()) return;
  own.opened = std::make_unique<Opened>(own.settings, parts, own.folders);
  auto& opened = *own.opened;
  for (const auto add : {add_session_routes, add_job_routes, add_event_routes, add_upload_routes,
                         add_library_routes, add_model_routes, add_machine_routes, add_run_routes,
                         add_generate_routes, add_song_routes}) {
    add(opened.router, opened.services);
  }
  if (parts.more_routes) parts.more_routes(opened.router, opened.services);
  opened.router.set_pages(page_handler(packed_pages()));
  opened.lanes.recover();
  opened.uploads.clean();
  own.port = opened.listener.bind(own.settings.host, own.settings.port);
  own.lock.write_note(address() + "\n");
}

Studio::~Studio() = default;

std::optional<std::string> Studio::other_address() const {
  if (inside_->opened) return std::nullopt;
  return std::string(trim(inside_->lock.note()));
}

std::string Studio::address() const {
  auto host = inside_->settings.host;
  if (host == "0.0.0.0" || host == "::") host = "localhost";  // every address of this machine
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  return fmt::format("http://{}:{}", host, inside_->port);
}

std::string Studio::token() const { return inside_->opened->token.text; }
bool Studio::token_is_new() const { return inside_->opened->token.is_new; }
int Studio::port() const { return inside_->port; }
std::string Studio::answer_bytes(std::string_view requests) {
  return inside_->opened->listener.answer_bytes(requests);
}
const Router& Studio::router() const { return inside_->opened->router; }
Services& Studio::services() { return inside_->opened->services; }

void Studio::run() {
  auto& opened = *inside_->opened;
  if (inside_->settings.workers) opened.lanes.start();
  opened.listener.listen();
  opened.lanes.stop();
}

void Studio::stop() { inside_->opened->listener.stop(); }

}  // namespace ubique::serve
