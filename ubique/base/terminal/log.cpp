// SPDX-License-Identifier: Apache-2.0
// The only file that uses spdlog. The logger is our own, not spdlog's default one: that belongs to
// the program that uses this library, and it writes to stdout.
#include "ubique/base/terminal/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/ansicolor_sink.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>

#include "ubique/base/terminal/progress.h"
#include "ubique/base/text/printable.h"

namespace ubique::log {
namespace {

constexpr std::size_t kLongestMessage = 1U << 14U;

spdlog::level::level_enum spdlog_level(Severity severity) {
  switch (severity) {
    case Severity::Debug:
      return spdlog::level::debug;
    case Severity::Info:
      return spdlog::level::info;
    case Severity::Warning:
      return spdlog::level::warn;
    case Severity::Error:
      break;
  }
  return spdlog::level::err;
}

/// "ubique: warning: MESSAGE"; only the part before the message is coloured.
class ShortFormatter : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& line) override {
    std::string_view prefix = "ubique: ";
    if (message.level >= spdlog::level::err) {
      prefix = "ubique: error: ";
    } else if (message.level >= spdlog::level::warn) {
      prefix = "ubique: warning: ";
    } else if (message.level <= spdlog::level::debug) {
      prefix = "ubique: debug: ";
    }
    message.color_range_start = line.size();
    line.append(prefix.data(), prefix.data() + prefix.size());
    message.color_range_end = line.size();
    line.append(message.payload.data(), message.payload.data() + message.payload.size());
    line.push_back('\n');
  }
  std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<ShortFormatter>();
  }
};

spdlog::logger& logger() {
  static spdlog::logger instance = [] {
    auto sink = std::make_shared<spdlog::sinks::ansicolor_stderr_sink_mt>();
    sink->set_color_mode(colour_wanted(STDERR_FILENO) ? spdlog::color_mode::always
                                                      : spdlog::color_mode::never);
    spdlog::logger made("ubique", std::move(sink));
    made.set_formatter(std::make_unique<ShortFormatter>());
    made.flush_on(spdlog::level::trace);
    return made;
  }();
  return instance;
}

bool is_first(const std::string& key) {
  static std::mutex mutex;
  static std::set<std::string> known;
  const std::lock_guard lock(mutex);
  return known.insert(key).second;
}

}  // namespace

void configure(Level level) {
  switch (level) {
    case Level::Quiet:
      logger().set_level(spdlog::level::err);
      break;
    case Level::Normal:
      logger().set_level(spdlog::level::info);
      break;
    case Level::Verbose:
      logger().set_level(spdlog::level::debug);
      break;
  }
}

bool colour_wanted(int file_descriptor) {
  const char* refused = std::getenv("NO_COLOR");
  if (refused != nullptr && *refused != '\0') return false;
  const char* terminal = std::getenv("TERM");
  if (terminal != nullptr && std::string_view(terminal) == "dumb") return false;
  return ::isatty(file_descriptor) == 1;
}

bool wanted(Severity severity) { return logger().should_log(spdlog_level(severity)); }

void write(Severity severity, std::string_view message) {
  if (!wanted(severity)) return;
  // Every message passes here, so that no caller can forget to escape a file's name.
  const auto text = printable_lines(message, kLongestMessage);
  Progress::without_bars([&] {
    logger().log(spdlog_level(severity), spdlog::string_view_t(text.data(), text.size()));
  });
}

void info_once(const std::string& message) {
  if (is_first(message)) write(Severity::Info, message);
}

void warn_once(const std::string& key, const std::string& message) {
  if (is_first(key)) write(Severity::Warning, message);
}

}  // namespace ubique::log
