// SPDX-License-Identifier: Apache-2.0
// Drawing of bars and lines, and the list of live bars that a log line must not overwrite.
#include "ubique/base/terminal/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <ostream>
#include <string_view>
#include <vector>

#include "ubique/base/text/json.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"

namespace ubique {
namespace {

constexpr std::string_view kClearLine = "\r\x1b[K";
constexpr std::size_t kLongestNote = 400;  // bytes

std::size_t terminal_columns() {
  const char* variable = std::getenv("COLUMNS");
  const auto columns = variable != nullptr ? parse_number(variable) : std::nullopt;
  if (columns && *columns >= 1 && *columns <= 10000) return static_cast<std::size_t>(*columns);
  for (const int descriptor : {STDERR_FILENO, STDOUT_FILENO}) {
    winsize size{};
    if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  }
  return 80;
}

/// "0:03", "12:34", "1:02:03".
std::string clock_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::clamp(std::ceil(seconds), 0.0, 3.6e9));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string rate_text(double rate, const std::string& unit) {
  if (rate >= 1e6) return fmt::format("{:.1f}M {}/s", rate / 1e6, unit);
  if (rate >= 1e4) return fmt::format("{:.1f}k {}/s", rate / 1e3, unit);
  if (rate >= 100) return fmt::format("{:.0f} {}/s", rate, unit);
  return fmt::format("{:.{}f} {}/s", rate, rate >= 10 ? 1 : 2, unit);
}

std::string first_columns(const std::string& text, std::size_t columns) {
  std::size_t end = 0;
  for (std::size_t width = 0; end < text.size(); ++end) {
    const bool starts = (static_cast<unsigned char>(text[end]) & 0xC0U) != 0x80U;
    if (starts && ++width > columns) break;
  }
  return text.substr(0, end);
}

std::string bar_cells(double share, std::size_t cells) {
  const auto full = static_cast<std::size_t>(share * static_cast<double>(cells));
  std::string bar = "▕";
  for (std::size_t i = 0; i < cells; ++i) bar += i < full ? "█" : "░";
  return bar + "▏";
}

}  // namespace

struct Progress::State {
  State(Options given, std::ostream& stream, Clock given_clock)
      : options(std::move(given)), out(stream), clock(std::move(given_clock)) {
    if (!clock) clock = [] { return std::chrono::steady_clock::now().time_since_epoch(); };
    options.title = printable(options.title, kLongestNote);
    start = last = clock().count();
    // A program that shows our progress to somebody wants it more often, and from the start.
    const char* seconds = std::getenv("UBIQUE_PROGRESS_SECONDS");
    const auto wanted = seconds != nullptr ? parse_number(seconds) : std::nullopt;
    if (options.style != ProgressStyle::JsonLines || !wanted) return;
    options.line_interval = *wanted;
    last = start - *wanted;
  }

  double elapsed() const { return clock().count() - start; }
  /// Steps per second since the start; 0 = not known yet.
  double rate() const {
    const double seconds = elapsed();
    return seconds > 0 && done > 0 ? static_cast<double>(done) / seconds : 0;
  }
  double share() const {
    return std::clamp(static_cast<double>(done) / static_cast<double>(options.total), 0.0, 1.0);
  }
  double remaining_seconds() const {
    return static_cast<double>(std::max<std::int64_t>(options.total - done, 0)) / rate();
  }
  bool has_eta() const { return options.total > 0 && rate() > 0; }

  std::string figures() const;
  std::string bar_line() const;
  std::string plain_line() const;
  std::string json_line() const;
  void draw();
  void clear();

  Options options;
  std::ostream& out;
  Clock clock;
  std::mutex mutex;
  std::string note;
  std::int64_t done = 0;
  double start = 0, last = 0;
  bool drawn = false, finished = false;
};

std::string Progress::State::figures() const {
  std::string text = fmt::format("{}", done);
  if (options.total > 0) {
    text += fmt::format("/{}  {}%", options.total, static_cast<int>(std::floor(share() * 100)));
  }
  if (rate() > 0) text += "  " + rate_text(rate(), options.unit);
  if (finished || options.total <= 0) {
    text += "  " + clock_text(elapsed());
  } else if (has_eta()) {
    text += "  ETA " + clock_text(remaining_seconds());
  }
  return text;
}

/// Fits the terminal: the bar shrinks first, then is dropped, then the note is cut.
std::string Progress::State::bar_line() const {
  constexpr std::size_t kWidest = 40, kNarrowest = 6, kBorders = 2, kGap = 1;
  const auto columns = terminal_columns() - 1;  // the last column makes some terminals wrap
  const std::string head = options.title.empty() ? "" : options.title + "  ";
  std::string tail = figures() + (note.empty() ? "" : "  " + note);
  const auto taken = display_width(head) + display_width(tail) + kBorders + kGap;
  if (options.total > 0 && taken + kNarrowest <= columns) {
    tail = bar_cells(share(), std::min(columns - taken, kWidest)) + " " + tail;
  }
  return first_columns(head + tail, columns);
}

std::string Progress::State::plain_line() const {
  return (options.title.empty() ? "" : options.title + "  ") + figures() +
         (note.empty() ? "" : "  " + note);
}

std::string Progress::State::json_line() const {
  Json line = {{"event", "progress"}, {"title", options.title}, {"done", done}};
  line["total"] = options.total > 0 ? Json(options.total) : Json(nullptr);
  line["rate"] = rate() > 0 ? Json(rate()) : Json(nullptr);
  line["eta_seconds"] = has_eta() ? Json(remaining_seconds()) : Json(nullptr);
  line["elapsed_seconds"] = elapsed();
  line["note"] = note;
  line["finished"] = finished;
  return json_text(line);
}

void Progress::State::draw() {
  switch (options.style) {
    case ProgressStyle::Silent:
      return;
    case ProgressStyle::Bar:
      out << kClearLine << bar_line() << (finished ? "\n" : "");
      break;
    case ProgressStyle::Lines:
      out << plain_line() << "\n";
      break;
    case ProgressStyle::JsonLines:
      out << json_line() << "\n";
      break;
  }
  out.flush();
  drawn = true;
}

void Progress::State::clear() {
  if (options.style != ProgressStyle::Bar || !drawn || finished) return;
  out << kClearLine;
  out.flush();
}

// Locks are taken in this order: the list of bars, then one bar.
struct Progress::Bars {
  std::mutex mutex;
  std::vector<State*> list;
};

Progress::Bars& Progress::bars() {
  static auto& bars = *new Bars;  // never destroyed: static destructors may still log
  return bars;
}

Progress::Progress(Options options, std::ostream& out, Clock clock)
    : state_(std::make_unique<State>(std::move(options), out, std::move(clock))) {
  const std::lock_guard lock(bars().mutex);
  bars().list.push_back(state_.get());
}

Progress::~Progress() {
  const std::lock_guard lock(bars().mutex);
  std::erase(bars().list, state_.get());
  // If finish() was not reached (an exception), the next output starts on a clean line.
  state_->clear();
}

void Progress::without_bars(const std::function<void()>& write) {
  const std::lock_guard lock(bars().mutex);
  std::vector<std::unique_lock<std::mutex>> held;
  for (auto* bar : bars().list) {
    held.emplace_back(bar->mutex);
    bar->clear();
  }
  write();
  for (auto* bar : bars().list) {
    const bool visible = bar->options.style == ProgressStyle::Bar && bar->drawn && !bar->finished;
    if (visible) bar->draw();
  }
}

void Progress::advance(std::int64_t steps, std::string note) {
  auto& state = *state_;
  const std::lock_guard lock(state.mutex);
  if (state.finished) return;
  state.done += steps;
  if (!note.empty()) state.note = printable(note, kLongestNote);
  const bool is_bar = state.options.style == ProgressStyle::Bar;
  const double wait = is_bar ? state.options.interval : state.options.line_interval;
  const double now = state.clock().count();
  const bool first_bar = is_bar && !state.drawn;
  if (!first_bar && now - state.last < wait) return;
  state.last = now;
  state.draw();
}

void Progress::finish(std::string note) {
  auto& state = *state_;
  const std::lock_guard lock(state.mutex);
  if (state.finished) return;
  state.finished = true;
  if (!note.empty()) state.note = printable(note, kLongestNote);
  state.draw();
}

ProgressStyle Progress::choose_style(int file_descriptor, bool json, bool quiet) {
  if (quiet) return ProgressStyle::Silent;
  if (json) return ProgressStyle::JsonLines;
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  return ::isatty(file_descriptor) == 1 && !dumb ? ProgressStyle::Bar : ProgressStyle::Lines;
}

}  // namespace ubique
