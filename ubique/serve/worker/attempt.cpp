// SPDX-License-Identifier: Apache-2.0
// Watches the child: its progress, wishes to stop it, its end.
#include "ubique/serve/worker/attempt.h"

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/json.h"
#include "ubique/serve/http/message.h"
#include "ubique/serve/jobs/command_line.h"
#include "ubique/serve/worker/progress_reader.h"
#include "ubique/serve/worker/publish.h"

namespace ubique::serve {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kMostCrashes = 5;
constexpr double kGraceSeconds = 30;  // for a checkpoint that is being written
constexpr std::int64_t kLargestOut = 64LL << 20U;
constexpr int kKilled = 128;
constexpr std::uintmax_t kNoRoom = 1 << 20U;  // bytes: below, a disk counts as full

enum class StopWish { None, Cancel, Pause, ServerEnds };

bool is_full(const fs::path& folder) {
  std::error_code error;
  const auto space = fs::space(folder, error);
  return !error && space.available < kNoRoom;
}

/// Says once what stands in the way, and tries again until it is done: a full disk must not lose a
/// state. Gives up only when the server ends; the next start settles it.
template <typename Work, typename Held>
void insist(const std::function<bool()>& stopping, Work work, Held held) {
  for (bool told = false;; told = true) {
    try {
      work();
      return;
    } catch (const std::exception& error) {
      if (!told) log::error("[serve.worker] cannot settle a job yet: {}", error.what());
      if (!told) held();
    }
    for (int i = 0; i < 20; ++i) {
      if (stopping()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }
}

std::string kind_of_exit(int code) {
  switch (code) {
    case 2:
      return "usage";
    case 3:
    case 5:
      return "input";
    case 4:
      return "device";
    default:
      return "internal";
  }
}

class Attempt {
 public:
  Attempt(WorkerContext& context, const Job& job, const std::function<bool()>& stopping)
      : context_(context),
        job_(job),
        row_(context.table.find(job.request.verb, job.request.family, job.request.name)),
        stopping_(stopping),
        folder_(attempt_folder(context.folders, job, row_)) {}

  void run() {
    const auto words = prepare();
    WorkerProcess process({words, folder_, folder_ / kOutFile, folder_ / kLogFile}, context_.life);
    const int code = watch(process);
    read_progress(process);
    settle(code);
  }

 private:
  std::vector<std::string> prepare() {
    std::error_code ignored;
    if (!row_.resumes()) fs::remove_all(folder_, ignored);
    make_folder(folder_);
    fs::remove(folder_ / kOutFile, ignored);
    const bool resume =
        row_.resumes() && fs::exists(folder_ / "out" / "checkpoints" / "last", ignored);
    // A run that was killed before its first checkpoint starts again from nothing.
    if (row_.resumes() && !resume) fs::remove_all(folder_ / "out", ignored);
    log_from_ = fs::exists(folder_ / kLogFile, ignored)
                    ? static_cast<std::int64_t>(fs::file_size(folder_ / kLogFile, ignored))
                    : 0;
    reader_.emplace(folder_ / kLogFile, log_from_);
    auto words = command_words(
        job_.request, row_,
        [&](const std::string& reference) { return context_.references.resolve(reference); },
        resume);
    words.insert(words.begin(), context_.program);
    return words;
  }

  StopWish wish() const {
    if (stopping_()) return StopWish::ServerEnds;
    const auto now = context_.jobs.find(job_.id);
    if (!now || now->stopping == "cancel") return StopWish::Cancel;
    return now->stopping == "pause" ? StopWish::Pause : StopWish::None;
  }

  int watch(WorkerProcess& process) {
    std::optional<Clock::time_point> asked;
    const auto began = Clock::now();
    while (true) {
      if (const auto code = process.ended()) return *code;
      read_progress(process);
      const auto now = Clock::now();
      if (wish_ == StopWish::None) wish_ = wish();
      if (wish_ != StopWish::None && !asked) {
        process.signal(SIGTERM);
        asked = now;
      }
      if (asked && std::chrono::duration<double>(now - *asked).count() > kGraceSeconds) {
        process.signal(SIGKILL);
      }
      const bool young = now - began < std::chrono::seconds(2);
      std::this_thread::sleep_for(std::chrono::milliseconds(young ? 20 : 100));
    }
  }

  void read_progress(const WorkerProcess& process) {
    auto progress = reader_->read();
    const auto now = Clock::now();
    const bool due = now - told_ > std::chrono::seconds(2);
    if (!progress && !due) return;
    if (progress) latest_ = *progress;
    if (due) memory_ = memory_of_process(process.id());
    if (due) told_ = now;
    latest_.memory_bytes = memory_;
    context_.jobs.set_progress(job_.id, latest_);
  }

  std::optional<std::string> outcome() const {
    try {
      const auto text = read_file(folder_ / kOutFile, kLargestOut);
      if (text.empty()) return std::nullopt;
      return outcome_with_references(text, job_.id);
    } catch (const Error&) {  // no JSON: the command printed something else
      return std::nullopt;
    }
  }

  void settle(int code) {
    if (code != 0) why_ = reason(code);  // before anything is cleaned up
    insist(
        stopping_, [&] { settle_now(code); },
        [&] {
          const bool full = is_full(folder_);
          context_.jobs.set_progress(
              job_.id, {.stage = full ? "waiting for room on the disk, which is full"
                                      : "waiting for the data folder, which cannot be written"});
        });
  }

  /// What the command said last. On a full disk its log may have ended before that.
  std::string reason(int code) const {
    const auto& said = reader_->last_error();
    if (is_full(folder_)) {
      return "[serve.worker] the disk is full. Free some space and try again. " + said;
    }
    if (!said.empty()) return said;
    return fmt::format("[serve.worker] the command ended with exit code {} without a word.", code);
  }

  void settle_now(int code) {
    auto& jobs = context_.jobs;
    const auto made = outcome();
    const bool partial = code == 3 && made && !made->empty();
    const bool doctor = code == 5 && job_.request.verb == "doctor";
    if (code == 0 || partial || doctor) {
      Finished finished{.outcome = made};
      if (code != 0) finished.error_kind = kind_of_exit(code);
      if (code != 0) finished.error_message = why_;
      publish(context_, job_, folder_, finished);
    } else if (wish_ == StopWish::Cancel) {
      clean_up();
      jobs.end(job_.id, {.state = state::kCancelled});
    } else if (wish_ == StopWish::Pause) {
      jobs.end(job_.id, {.state = state::kPaused});
    } else if (wish_ == StopWish::ServerEnds) {
      jobs.put_back(job_.id, false);
    } else if (code >= kKilled) {
      settle_crash(code);
    } else {
      clean_up();
      jobs.end(job_.id, {.state = state::kFailed,
                         .error_kind = kind_of_exit(code),
                         .error_message = why_,
                         .outcome = made});
    }
  }

  /// Killed from outside: by the system for its memory, by a person.
  void settle_crash(int code) {
    if (job_.crashes + 1 < kMostCrashes) {
      log::warn("job {} was killed by signal {}; it starts again", job_.id, code - kKilled);
      context_.jobs.put_back(job_.id, true);
      return;
    }
    clean_up();
    context_.jobs.end(
        job_.id, {.state = state::kFailed,
                  .error_kind = "internal",
                  .error_message = fmt::format(
                      "[serve.worker] the process was killed {} times, last by signal {}. Did the "
                      "memory run out? {}",
                      kMostCrashes, code - kKilled, reader_->last_error())});
  }

  /// The log stays, for people who ask why; what was half made goes, unless a training can go on.
  /// Before the end is registered: on a full disk that needs the room.
  void clean_up() const {
    std::error_code ignored;
    if (!row_.resumes()) fs::remove_all(folder_ / "out", ignored);
  }

  WorkerContext& context_;
  const Job& job_;
  const CommandRow& row_;
  const std::function<bool()>& stopping_;
  fs::path folder_;
  std::int64_t log_from_ = 0;
  std::optional<ProgressReader> reader_;
  Progress latest_ = {.stage = "starting"};
  std::optional<std::int64_t> memory_;
  Clock::time_point told_ = {};
  StopWish wish_ = StopWish::None;
  std::string why_;  // it failed
};

}  // namespace

fs::path attempt_folder(const Folders& folders, const Job& job, const CommandRow& row) {
  if (row.resumes()) return folders.work / fmt::format("{}-run", job.id);
  return folders.work / fmt::format("{}-{}", job.id, job.attempts);
}

void run_attempt(WorkerContext& context, const Job& job, const std::function<bool()>& stopping) {
  std::string kind, message;
  try {
    Attempt(context, job, stopping).run();
    return;
  } catch (const Error& error) {
    kind = error.kind() == ErrorKind::Usage ? "usage" : "input";
    message = error.what();
  } catch (const std::exception& error) {
    kind = "internal";
    message = error.what();
  }
  const Ending ending{.state = state::kFailed, .error_kind = kind, .error_message = message};
  insist(
      stopping, [&] { context.jobs.end(job.id, ending); }, [] {});
}

}  // namespace ubique::serve
