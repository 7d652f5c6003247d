// SPDX-License-Identifier: Apache-2.0
// Threads take pieces of files until all are complete.
#include "ubique/io/hub/download.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "ubique/base/error.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"
#include "ubique/io/hub/http.h"
#include "ubique/io/hub/part_file.h"
#include "ubique/io/hub/retry.h"

namespace ubique::io {
namespace {

namespace fs = std::filesystem;

/// "bytes 5-9/100": where it begins and how large the whole file is, -1 if unknown.
struct ContentRange {
  std::int64_t first = -1, total = -1;
};

ContentRange parse_content_range(const std::string& text) {
  ContentRange range;
  const auto space = text.find(' '), dash = text.find('-'), slash = text.find('/');
  if (!text.starts_with("bytes") || space == std::string::npos || dash == std::string::npos ||
      slash == std::string::npos || dash < space || slash < dash) {
    return range;
  }
  const auto number = [&](std::size_t begin, std::size_t end) {
    const auto value = parse_number(text.substr(begin, end - begin));
    return value && *value >= 0 && *value < 9e15 ? static_cast<std::int64_t>(*value) : -1;
  };
  range.first = number(space + 1, dash);
  if (text.substr(slash + 1) != "*") range.total = number(slash + 1, text.size());
  return range;
}

/// What became of a piece.
enum class PieceEnd { Complete, Stopped, NoRanges };

/// A file with its pieces. Guarded by the Downloads' mutex, but for the bytes of a piece that a
/// thread has taken.
struct Job {
  const DownloadFile* file = nullptr;
  std::unique_ptr<PartFile> part = {};
  std::vector<bool> taken = {};
  int in_flight = 0;
  bool whole = false;       // the server knows no ranges: in one go from the start
  bool ignored = false;     // it has just ignored one: as soon as no thread has a piece, anew
  bool resumed = false;     // some bytes come from an earlier run
  bool began_anew = false;  // after a digest that did not match
  bool done = false;
};

class Downloads {
 public:
  Downloads(const std::vector<DownloadFile>& files, const DownloadOptions& options,
            const FileDone& done)
      : options_(options), done_(done) {
    for (const auto& file : files) jobs_.push_back({.file = &file});
  }

  bool run() {
    std::vector<std::jthread> threads;
    const auto count = std::max(1, options_.connections);
    for (int i = 0; i < count; ++i) {
      threads.emplace_back([this] { work(); });
    }
    threads.clear();
    if (thrown_) std::rethrow_exception(thrown_);
    return !stopped();
  }

 private:
  struct Taken {
    Job* job;
    std::size_t piece;
  };

  bool stopped() const { return options_.stop_requested && options_.stop_requested(); }

  /// For the transfers: the person wants to stop, or another thread has failed.
  bool give_up() {
    const std::lock_guard lock(mutex_);
    return failed_ || stopped();
  }

  void work() {
    try {
      HttpClient client({.stop_requested = [this] { return give_up(); },
                         .stall_seconds = options_.stall_seconds});
      while (const auto taken = take()) {
        const auto end = fetch(client, *taken);
        put_back(*taken, end);
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!thrown_) thrown_ = std::current_exception();
      failed_ = true;
      changed_.notify_all();
    }
  }

  /// The next piece; waits while others may give theirs back. Nothing if the work is over.
  std::optional<Taken> take() {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (failed_ || stopped()) return std::nullopt;
      bool waiting = false;
      for (auto& job : jobs_) {
        if (job.done) continue;
        waiting = true;
        if (job.ignored) continue;
        open(job);
        if (const auto piece = free_piece(job)) {
          job.taken[*piece] = true;
          ++job.in_flight;
          return Taken{&job, *piece};
        }
      }
      if (!waiting) return std::nullopt;
      changed_.wait_for(lock, std::chrono::milliseconds(100));
    }
  }

  void open(Job& job) const {
    if (job.part) return;
    const auto& file = *job.file;
    job.part =
        std::make_unique<PartFile>(part_path(file.destination), file.file.bytes, options_.piece);
    job.resumed = job.part->done() > 0;
    job.taken.assign(job.part->pieces(), false);
    if (job.resumed && options_.advanced) options_.advanced(job.part->done());
  }

  /// A piece that nobody has taken. A complete file has one too: somebody must check it.
  static std::optional<std::size_t> free_piece(const Job& job) {
    for (std::size_t i = 0; i < job.taken.size(); ++i) {
      if (!job.taken[i] && job.part->done(i) < job.part->size_of(i)) return i;
    }
    const bool untouched = job.in_flight == 0 && !job.taken.empty() &&
                           std::ranges::none_of(job.taken, [](bool taken) { return taken; });
    return untouched ? std::optional<std::size_t>(0) : std::nullopt;
  }

  void put_back(const Taken& taken, PieceEnd end) {
    std::unique_lock lock(mutex_);
    auto& job = *taken.job;
    --job.in_flight;
    if (end == PieceEnd::Stopped) job.taken[taken.piece] = false;
    if (end == PieceEnd::NoRanges) job.ignored = true;
    if (job.in_flight == 0 && job.ignored) {
      job.ignored = false;
      begin_anew(job, /*whole=*/true);
    } else if (job.in_flight == 0 && !job.done && job.part->complete()) {
      ++job.in_flight;  // nobody else takes it meanwhile
      lock.unlock();
      const bool right = verify(job);
      lock.lock();
      --job.in_flight;
      if (right) {
        job.done = true;
      } else {
        begin_anew(job, job.whole);
      }
    }
    changed_.notify_all();
  }

  void begin_anew(Job& job, bool whole) const {
    if (options_.advanced) options_.advanced(-job.part->done());
    job.part->restart(whole ? job.file->file.bytes : options_.piece);
    job.taken.assign(job.part->pieces(), false);
    job.whole = whole;
  }

  /// False if it has to begin anew: the bytes of an earlier run were wrong.
  bool verify(Job& job) {
    const auto& [file, url, destination] = *job.file;
    const auto got = job.part->digest(file);
    if (got == file.digest) {
      job.part->finish(destination);
      const std::lock_guard lock(done_mutex_);
      done_(*job.file);
      return true;
    }
    if (job.resumed && !job.began_anew) {
      log::warn("{}: the digest is wrong; the bytes of an earlier run may be: it begins anew",
                printable(file.path));
      job.began_anew = true;
      return false;
    }
    job.part->remove();
    fail(ErrorKind::Input,
         "[io.hub] {} is not what the hub announced; got the {} {}, expected {}. It was deleted. "
         "Something between here and the server changes files, or the server's copy is damaged.",
         printable(file.path), file.kind == ShaKind::Sha256 ? "SHA-256" : "SHA-1", got,
         file.digest);
  }

  PieceEnd fetch(HttpClient& client, const Taken& taken) {
    auto& part = *taken.job->part;
    Retry retry([this] { return give_up(); }, options_.retries, options_.first_wait);
    while (part.done(taken.piece) < part.size_of(taken.piece)) {
      const auto before = part.done(taken.piece);
      bool no_ranges = false;
      const auto reply = fetch_once(client, taken, no_ranges);
      if (no_ranges) return PieceEnd::NoRanges;
      const bool whole = taken.job->whole;  // then what came is worth nothing after a cut
      if (part.done(taken.piece) > before && !whole) retry.progressed();
      if (part.done(taken.piece) == part.size_of(taken.piece)) break;
      if (reply.stopped || give_up()) return PieceEnd::Stopped;
      check_not_longer(reply, *taken.job);
      auto cut = reply;
      if (reply.succeeded()) cut.fault = "the server sent less than it announced";
      if (!retry.again(cut, taken.job->file->file.path)) return PieceEnd::Stopped;
      if (whole && options_.advanced) options_.advanced(-part.done(taken.piece));
      if (whole) part.restart(taken.job->file->file.bytes);
    }
    return PieceEnd::Complete;
  }

  /// 416: what is asked for lies behind the end of the server's file.
  static void check_not_longer(const HttpReply& reply, const Job& job) {
    check(reply.status != 416, ErrorKind::Input,
          "[io.hub] {} is shorter on the server than its listing says; expected {} bytes.",
          printable(job.file->file.path), job.file->file.bytes);
  }

  HttpReply fetch_once(HttpClient& client, const Taken& taken, bool& no_ranges) {
    auto& [job, piece] = taken;
    auto& part = *job->part;
    const auto& file = job->file->file;
    const auto first = part.begin_of(piece) + part.done(piece);
    const auto last = part.begin_of(piece) + part.size_of(piece) - 1;
    HttpRequest request{.url = job->file->url, .token = options_.token};
    if (first > 0 || last + 1 < file.bytes) request.first = first, request.last = last;
    bool checked = false;
    return client.get(request, [&](const HttpReply& reply, std::span<const std::byte> bytes) {
      if (!std::exchange(checked, true) && !check_head(reply, file, request)) {
        no_ranges = true;
        return false;
      }
      const auto room = part.size_of(piece) - part.done(piece);
      check(static_cast<std::int64_t>(bytes.size()) <= room, ErrorKind::Input,
            "[io.hub] {}: the server sends more than it announced; expected {} bytes.",
            printable(file.path), file.bytes);
      part.append(piece, bytes);
      if (options_.advanced) options_.advanced(static_cast<std::int64_t>(bytes.size()));
      return true;
    });
  }

  /// False if the server ignores the range that was asked for. Input error for another size than
  /// the listing's.
  static bool check_head(const HttpReply& reply, const HubFile& file, const HttpRequest& request) {
    std::int64_t total = -1;
    if (reply.status == 206) {
      const auto range = parse_content_range(reply.header("content-range"));
      check(range.first == request.first.value_or(0), ErrorKind::Input,
            "[io.hub] {}: the server answers with the range '{}'; expected it from byte {}.",
            printable(file.path), printable(reply.header("content-range")),
            request.first.value_or(0));
      total = range.total;
    } else {
      const auto length = parse_number(reply.header("content-length"));
      if (length && reply.header("content-encoding").empty()) {
        total = static_cast<std::int64_t>(std::min(*length, 9e15));
      }
    }
    check(total < 0 || total == file.bytes, ErrorKind::Input,
          "[io.hub] {} has another size on the server than in its listing; got {} bytes, expected "
          "{}.",
          printable(file.path), total, file.bytes);
    return reply.status == 206 || !request.first;
  }

  const DownloadOptions& options_;
  const FileDone& done_;
  std::vector<Job> jobs_;
  std::mutex mutex_, done_mutex_;
  std::condition_variable changed_;
  bool failed_ = false;
  std::exception_ptr thrown_;
};

}  // namespace

fs::path part_path(const fs::path& destination) {
  auto path = destination;
  path += ".ubique-part";
  return path;
}

std::int64_t bytes_left_by_earlier_run(const DownloadFile& file) {
  return PartFile::left_in(part_path(file.destination), file.file.bytes);
}

bool download(const std::vector<DownloadFile>& files, const DownloadOptions& options,
              const FileDone& done) {
  return Downloads(files, options, done).run();
}

}  // namespace ubique::io
