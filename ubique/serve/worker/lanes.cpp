// SPDX-License-Identifier: Apache-2.0
// Threads of the lanes, admission, and recovery after a kill.
#include "ubique/serve/worker/lanes.h"

#include <fmt/format.h>

#include <chrono>

#include "ubique/base/error.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/text.h"
#include "ubique/serve/worker/attempt.h"
#include "ubique/serve/worker/publish.h"

namespace ubique::serve {
namespace {

namespace fs = std::filesystem;

constexpr double kOrphanSeconds = 20;                  // to save a checkpoint
constexpr std::uintmax_t kRoomToBegin = 64ULL << 20U;  // bytes of the disk

/// "12-3", "12-run": the job of an attempt's folder; 0 for anything else.
std::int64_t job_of_folder(const fs::path& folder) {
  const auto name = folder.filename().string();
  return id_of(name.substr(0, name.find('-')));
}

}  // namespace

void Lanes::recover() {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(context_.folders.work, ignored)) {
    end_orphan(entry.path(), kOrphanSeconds);
  }
  for (const auto& job : context_.jobs.list({.states = {state::kRunning}, .most = 100000})) {
    if (register_left_over(context_, job)) continue;
    context_.jobs.put_back(job.id, false);
  }
  for (const auto& entry : fs::directory_iterator(context_.folders.work, ignored)) {
    const auto id = job_of_folder(entry.path());
    if (id == 0) continue;  // of no job: the logs of language models
    const auto job = context_.jobs.find(id);
    // The log of a job without a result stays with it; a training goes on in its folder.
    const bool wanted = job && !job->item;
    if (!wanted) fs::remove_all(entry.path(), ignored);
  }
  for (const auto& entry : fs::directory_iterator(context_.folders.temporary, ignored)) {
    fs::remove_all(entry.path(), ignored);
  }
  context_.library.clean();
}

void Lanes::start() {
  supervisor_ = std::thread([this] { supervise(); });
}

void Lanes::stop() {
  stopping_ = true;
  context_.events.notify();
  if (supervisor_.joinable()) supervisor_.join();
  for (auto& [lane, thread] : threads_) thread.join();
  threads_.clear();
}

void Lanes::supervise() {
  auto seen = context_.events.changes();
  while (!stopping_) {
    try {
      for (const auto& job : context_.jobs.queued("")) {
        if (threads_.contains(job.lane)) continue;
        threads_[job.lane] = std::thread([this, lane = job.lane] { serve(lane); });
      }
    } catch (const std::exception& error) {
      log::warn_once("serve.lanes", error.what());
    }
    seen = context_.events.wait(seen, std::chrono::seconds(1));
  }
}

void Lanes::serve(const std::string& lane) {
  auto seen = context_.events.changes();
  std::string said;  // once, not at every turn of a disk that stays full
  while (!stopping_) {
    bool ran = false;
    try {
      ran = !context_.jobs.held() && run_next(lane);
      said.clear();
    } catch (const std::exception& error) {
      if (said != error.what()) log::error("{}", error.what());
      said = error.what();
    }
    if (!ran && !stopping_) seen = context_.events.wait(seen, std::chrono::seconds(2));
  }
}

/// On a full disk a job could only fail.
bool Lanes::has_disk(const Job& job) {
  std::error_code error;
  const auto space = fs::space(context_.folders.work, error);
  if (error || space.available >= kRoomToBegin) return true;
  context_.jobs.set_waiting(job.id, fmt::format("the disk is nearly full; {} must be free",
                                                human_bytes(std::int64_t{kRoomToBegin})));
  return false;
}

/// A job that does not fit now lets smaller ones go first; one that never fits fails.
bool Lanes::admitted(const Job& job) {
  if (!has_disk(job)) return false;
  if (!context_.predict || !context_.memory) return true;
  auto bytes = job.predicted_bytes;
  if (!bytes) {
    bytes = context_.predict(job).value_or(0);
    context_.jobs.set_predicted(job.id, *bytes);
  }
  const auto memory = *bytes > 0 ? context_.memory(job.lane) : std::nullopt;
  if (!memory) return true;
  if (*bytes > memory->total_bytes) {
    if (!context_.jobs.start(job.id)) return false;
    context_.jobs.end(
        job.id, {.state = state::kFailed,
                 .error_kind = "device",
                 .error_message = fmt::format(
                     "[serve.admission] the job does not fit on {}; the plan predicts {}, the "
                     "device has {}.",
                     job.lane, human_bytes(*bytes), human_bytes(memory->total_bytes))});
    return false;
  }
  if (*bytes <= memory->free_bytes) return true;
  context_.jobs.set_waiting(job.id,
                            fmt::format("needs {} of memory; {} are free", human_bytes(*bytes),
                                        human_bytes(memory->free_bytes)));
  return false;
}

bool Lanes::run_next(const std::string& lane) {
  for (const auto& job : context_.jobs.queued(lane)) {
    if (stopping_) return false;
    if (!admitted(job) || !context_.jobs.start(job.id)) continue;
    run_attempt(context_, context_.jobs.get(job.id), [this] { return stopping_.load(); });
    return true;
  }
  return false;
}

}  // namespace ubique::serve
