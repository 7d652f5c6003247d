// SPDX-License-Identifier: Apache-2.0
// Signal handlers that write the id of the running probe to a file, and tell the person.
#include "ubique/probe/core/crash_note.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <fstream>
#include <string_view>

namespace ubique::probe {
namespace {

constexpr std::array<int, 5> kFatalSignals = {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE};

// Plain memory: a signal handler may neither allocate nor lock.
std::array<char, 4096> note_path{};
std::array<char, 512> note_line{};
volatile std::sig_atomic_t note_length = 0;  // 0 = no probe is running

template <std::size_t N>
bool keep_text(std::array<char, N>& buffer, const std::string& text) {
  if (text.size() + 1 > N) return false;
  std::copy(text.begin(), text.end(), buffer.begin());
  buffer[text.size()] = '\0';
  return true;
}

void put(int file, std::string_view text) {
  const auto written = ::write(file, text.data(), text.size());
  static_cast<void>(written);  // nothing can be done about it here
}

/// Said here, for nobody above comes to speak: the process ends with this signal.
void say_which(std::string_view id) {
  put(STDERR_FILENO, "ubique: error: [probe.crash] LibTorch or its driver crashed in the check ");
  put(STDERR_FILENO, id);
  put(STDERR_FILENO, ". Type the command again: the check counts as failed from now on.\n");
}

/// Installed with SA_RESETHAND: after it returns, the signal's default action follows.
void leave_note(int /*signal*/) {
  const auto length = note_length;
  note_length = 0;
  if (length <= 0) return;
  const int file = ::open(note_path.data(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) return;
  const std::string_view line(note_line.data(), static_cast<std::size_t>(length));
  put(file, line);
  ::close(file);
  say_which(line.substr(0, line.size() - 1));
}

}  // namespace

struct CrashNote::Handlers {
  std::array<struct sigaction, kFatalSignals.size()> old{};
};

CrashNote::CrashNote(const std::filesystem::path& path) {
  if (path.empty() || !keep_text(note_path, path.string())) return;
  handlers_ = std::make_unique<Handlers>();
  struct sigaction action {};
  action.sa_handler = leave_note;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (std::size_t i = 0; i < kFatalSignals.size(); ++i) {
    ::sigaction(kFatalSignals[i], &action, &handlers_->old[i]);
  }
}

CrashNote::~CrashNote() {
  end();
  if (handlers_ == nullptr) return;
  for (std::size_t i = 0; i < kFatalSignals.size(); ++i) {
    ::sigaction(kFatalSignals[i], &handlers_->old[i], nullptr);
  }
}

void CrashNote::begin(const std::string& id) {
  if (handlers_ != nullptr && keep_text(note_line, id + "\n")) {
    note_length = static_cast<std::sig_atomic_t>(id.size() + 1);
  }
}

void CrashNote::end() { note_length = 0; }

std::set<std::string> read_crash_note(const std::filesystem::path& path) {
  std::set<std::string> ids;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) ids.insert(line);
  }
  return ids;
}

}  // namespace ubique::probe
