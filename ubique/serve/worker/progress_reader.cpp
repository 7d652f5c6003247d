// SPDX-License-Identifier: Apache-2.0
// Lines of JSON that Progress writes (base/terminal/progress.h), among the lines of the log.
#include "ubique/serve/worker/progress_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"

namespace ubique::serve {
namespace {

constexpr std::size_t kPieceRead = 64 << 10U;
constexpr std::size_t kLongestLine = 1 << 20U;

std::string read_at(const std::filesystem::path& path, std::int64_t from, std::size_t most) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::string bytes(most, '\0');
  const auto got = ::pread(file, bytes.data(), most, from);
  ::close(file);
  bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return bytes;
}

template <typename T>
std::optional<T> maybe(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number() ? std::optional(found->get<T>()) : std::nullopt;
}

bool looks_like_progress(std::string_view line) {
  return line.starts_with(R"({"event":"progress")");
}

}  // namespace

std::optional<Progress> progress_of(std::string_view line) {
  if (!looks_like_progress(line)) return std::nullopt;
  const auto json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  Progress progress;
  progress.stage = json.value("title", "");
  progress.note = json.value("note", "");
  progress.step = maybe<std::int64_t>(json, "done").value_or(0);
  progress.steps = maybe<std::int64_t>(json, "total");
  progress.eta_s = maybe<double>(json, "eta_seconds");
  return progress;
}

std::optional<Progress> ProgressReader::read() {
  std::optional<Progress> newest;
  while (true) {
    const auto piece = read_at(log_, at_, kPieceRead);
    if (piece.empty()) return newest;
    at_ += static_cast<std::int64_t>(piece.size());
    rest_ += piece;
    std::size_t begin = 0;
    for (auto end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n', begin)) {
      const auto line = std::string_view(rest_).substr(begin, end - begin);
      begin = end + 1;
      constexpr std::string_view kError = "ubique: error: ";
      if (auto progress = progress_of(line)) {
        newest = std::move(progress);
      } else if (line.starts_with(kError)) {
        error_ = printable(line.substr(kError.size()), 2000);
      } else if (!trim(line).empty()) {
        last_line_ = printable(line, 2000);
      }
    }
    rest_.erase(0, begin);
    if (rest_.size() > kLongestLine) rest_.clear();
  }
}

LogPart read_log(const std::filesystem::path& log, std::int64_t from, std::int64_t most) {
  const auto bytes = read_at(log, from, static_cast<std::size_t>(most));
  // Whole lines only, unless one line is all there is.
  const auto end = bytes.rfind('\n');
  const auto whole = end == std::string::npos
                         ? std::string_view(bytes).substr(
                               0, bytes.size() == static_cast<std::size_t>(most) ? bytes.size() : 0)
                         : std::string_view(bytes).substr(0, end + 1);
  LogPart part;
  part.next = from + static_cast<std::int64_t>(whole.size());
  for (std::size_t at = 0; at < whole.size();) {
    auto stop = whole.find('\n', at);
    stop = stop == std::string_view::npos ? whole.size() : stop + 1;
    const auto line = whole.substr(at, stop - at);
    if (!looks_like_progress(line)) part.text += printable_lines(line);
    at = stop;
  }
  return part;
}

std::optional<std::int64_t> memory_of_process(std::int64_t id) {
  std::ifstream status("/proc/" + std::to_string(id) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("VmRSS:")) continue;
    const auto number = parse_number(trim(line.substr(6, line.rfind("kB") - 6)));
    if (number) return static_cast<std::int64_t>(*number) * 1024;
  }
  return std::nullopt;
}

}  // namespace ubique::serve
