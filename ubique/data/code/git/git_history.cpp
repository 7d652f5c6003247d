// SPDX-License-Identifier: Apache-2.0
// Parses `git log -p`. Inside a hunk lines are counted, so no content can pass for a header.
#include "ubique/data/code/git/git_history.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"
#include "ubique/data/code/git/git_stream.h"

namespace ubique::data {
namespace {

constexpr std::size_t kLongestHeader = 1U << 20U;  // of a message or a path

std::int64_t leading_number(std::string_view& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  text.remove_prefix(error == std::errc() ? static_cast<std::size_t>(end - text.data()) : 0);
  return value;
}

struct HunkCounts {
  std::int64_t before = 0, after = 0;
};

/// "@@ -a,b +c,d @@"; a missing count is 1.
std::optional<HunkCounts> hunk_counts(std::string_view line) {
  if (!line.starts_with("@@ -")) return std::nullopt;
  line.remove_prefix(4);
  const auto count = [&] {
    leading_number(line);
    if (!line.starts_with(',')) return std::int64_t{1};
    line.remove_prefix(1);
    return leading_number(line);
  };
  HunkCounts counts;
  counts.before = count();
  if (!line.starts_with(" +")) return std::nullopt;
  line.remove_prefix(2);
  counts.after = count();
  return counts;
}

/// Of "a/x" or a quoted one; git puts a tab behind names with blanks.
std::string header_path(std::string_view text) {
  if (text.ends_with('\t')) text.remove_suffix(1);
  auto path = unquote_git_path(text);
  return path.size() > 2 && path[1] == '/' ? path.substr(2) : path;
}

/// The path in "a/x b/x", where both are the same and may hold blanks.
std::string path_of_pair(std::string_view pair) {
  if (pair.starts_with('"')) {
    const auto end = pair.find("\" ", 1);
    return header_path(end == std::string_view::npos ? pair : pair.substr(0, end + 1));
  }
  return header_path(pair.substr(0, pair.size() / 2));
}

class PatchReader {
 public:
  PatchReader(GitStream& stream, const HistoryOptions& options, DropReport& report)
      : stream_(stream), options_(options), report_(report) {}

  /// Reads one file's patch, whose first line is next. False if the file is left out.
  bool read(FileChange& change, const std::string& commit, std::int64_t room);

 private:
  void read_headers(FileChange& change);
  void read_hunk(const HunkCounts& counts, FileChange& change);

  GitStream& stream_;
  const HistoryOptions& options_;
  DropReport& report_;
  bool keeps_ = false, binary_ = false, special_ = false, too_large_ = false;
  std::int64_t room_ = 0;
};

/// Up to the first hunk, or the end of a patch without one.
void PatchReader::read_headers(FileChange& change) {
  std::string_view line;
  for (bool first = true;; first = false) {
    const auto next = stream_.peek();
    // "deleted file mode" can only be the first header; a later 'd' begins the next file.
    if (next <= 0 || next == '@' || next == '\n' || (next == 'd' && !first)) return;
    if (!stream_.line(line, kLongestHeader)) return;
    if (line.starts_with("new file mode")) change.type = ChangeType::Add;
    if (line.starts_with("deleted file mode")) change.type = ChangeType::Delete;
    if (line.ends_with(" mode 120000") || line.ends_with(" mode 160000")) special_ = true;
    if (line.starts_with("index ") && (line.ends_with(" 120000") || line.ends_with(" 160000"))) {
      special_ = true;
    }
    if (line.starts_with("rename from ")) {
      change.type = ChangeType::Rename;
      change.old_path = unquote_git_path(line.substr(12));
    }
    if (line.starts_with("rename to ")) change.path = unquote_git_path(line.substr(10));
    if (line.starts_with("Binary files ")) binary_ = true;
    if (line.starts_with("--- ") && line.substr(4) != "/dev/null" &&
        change.type == ChangeType::Delete) {
      change.path = header_path(line.substr(4));
    }
    if (line.starts_with("+++ ") && line.substr(4) != "/dev/null") {
      change.path = header_path(line.substr(4));
    }
    // After these nothing but hunks belongs to the file.
    if (line.starts_with("+++ ") || line.starts_with("Binary files ")) return;
  }
}

void PatchReader::read_hunk(const HunkCounts& counts, FileChange& change) {
  auto [before, after] = counts;
  std::string_view line;
  const auto most = static_cast<std::size_t>(options_.max_file_size) + 1;
  while (before > 0 || after > 0 || stream_.peek() == '\\') {
    if (!stream_.line(line, most)) return;
    const char mark = line.empty() ? ' ' : line.front();
    const bool note = mark == '\\';  // "\ No newline at end of file", of the line above
    before -= mark != '+' && !note ? 1 : 0;
    after -= mark != '-' && !note ? 1 : 0;
    change.insertions += mark == '+' ? 1 : 0;
    change.deletions += mark == '-' ? 1 : 0;
    if (!keeps_) continue;
    change.hunks += line;
    change.hunks += '\n';
    if (stream_.cut() || static_cast<std::int64_t>(change.hunks.size()) > room_) {
      too_large_ = true;
      keeps_ = false;
      change.hunks = {};
    }
  }
}

bool PatchReader::read(FileChange& change, const std::string& commit, std::int64_t room) {
  std::string_view line;
  if (!stream_.line(line, kLongestHeader)) return false;
  check(line.starts_with("diff --git "), ErrorKind::Input,
        "[data.git] git's output is not understood; got '{}', expected a patch.",
        printable(line, 80));
  change.path = path_of_pair(line.substr(11));
  binary_ = special_ = too_large_ = false;
  room_ = std::min(room, 2 * options_.max_file_size);
  read_headers(change);
  const auto refusal = path_refusal(options_.rules, change.path);
  keeps_ = refusal.empty() && !special_;
  while (stream_.peek() == '@') {
    stream_.line(line, kLongestHeader);
    const auto counts = hunk_counts(line);
    check(counts.has_value(), ErrorKind::Input,
          "[data.git] git's output is not understood; got '{}', expected a hunk.",
          printable(line, 80));
    if (keeps_) {
      change.hunks += line;
      change.hunks += '\n';
    }
    read_hunk(*counts, change);
  }
  const std::string_view reason = !refusal.empty() ? refusal
                                  : special_       ? "link_or_submodule"
                                  : binary_        ? "binary_or_too_large"
                                  : too_large_     ? "too_large"
                                                   : std::string_view();
  if (!reason.empty()) report_.drop(reason, {change.path, commit, ""});
  return reason.empty();
}

std::vector<std::string> patch_arguments(int context) {
  return {"-p",
          "--no-color",
          "--no-ext-diff",
          "--no-textconv",
          "--full-index",
          "--src-prefix=a/",
          "--dst-prefix=b/",
          "-U" + std::to_string(context),
          "--ignore-submodules=none"};
}

/// Git reads no file that is larger; it calls them binary.
std::vector<std::string> size_setting(const HistoryOptions& options) {
  return {"-c", "core.bigFileThreshold=" + std::to_string(options.max_file_size + 1)};
}

void append_arguments(std::vector<std::string>& arguments, const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
}

Commit read_commit_header(GitStream& stream) {
  stream.skip_byte();  // the 0 that begins a commit
  Commit commit;
  std::string_view text;
  const auto field = [&] {
    check(stream.read_until('\0', text, kLongestHeader), ErrorKind::Input,
          "[data.git] git's output ends inside a commit.");
    return text;
  };
  commit.hash = field();
  commit.parents = split(field(), ' ');
  commit.author_name = field();
  const auto number = [&] {
    auto digits = field();
    return leading_number(digits);
  };
  commit.author_time = number();
  commit.commit_time = number();
  commit.message = trim(field());
  stream.line(text, kLongestHeader);
  return commit;
}

}  // namespace

std::string unquote_git_path(std::string_view path) {
  if (path.size() < 2 || !path.starts_with('"') || !path.ends_with('"')) return std::string(path);
  path = path.substr(1, path.size() - 2);
  std::string out;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] != '\\' || i + 1 >= path.size()) {
      out += path[i];
      continue;
    }
    const char letter = path[++i];
    constexpr std::string_view kLetters = "abtnvfr", kValues = "\a\b\t\n\v\f\r";
    if (letter >= '0' && letter <= '3' && i + 2 < path.size()) {
      const auto digit = [&](std::size_t at) { return static_cast<unsigned>(path[at] - '0') & 7U; };
      out += static_cast<char>(digit(i) << 6U | digit(i + 1) << 3U | digit(i + 2));
      i += 2;
    } else if (const auto at = kLetters.find(letter); at != std::string_view::npos) {
      out += kValues[at];
    } else {
      out += letter;
    }
  }
  return out;
}

std::string hunk_side(std::string_view hunks, bool after) {
  std::string text;
  text.reserve(hunks.size());
  bool first = true, taken = false;
  while (!hunks.empty()) {
    const auto end = std::min(hunks.find('\n'), hunks.size());
    const auto line = hunks.substr(0, end);
    hunks.remove_prefix(std::min(end + 1, hunks.size()));
    if (line.starts_with("@@")) {
      if (!first) text += "@@\n";
      first = false;
      continue;
    }
    const char mark = line.empty() ? ' ' : line.front();
    if (mark == '\\') {  // the line above ends without a line end
      if (taken && text.ends_with('\n')) text.pop_back();
      continue;
    }
    taken = mark != (after ? '-' : '+');
    if (!taken) continue;
    text += line.substr(std::min<std::size_t>(1, line.size()));
    text += '\n';
  }
  return text;
}

void read_history(const std::filesystem::path& repository, const HistoryOptions& options,
                  DropReport& report, const std::function<void(Commit&&)>& receive) {
  // Old files are made from newer ones, which git forgets with its usual 96 MiB in a long history.
  auto arguments = size_setting(options);
  append_arguments(arguments, {"-c", "core.deltaBaseCacheLimit=256m"});
  append_arguments(arguments, {"log", "--topo-order", "--reverse", "--encoding=UTF-8", "-M",
                               "--format=tformat:%x00%H%x00%P%x00%an%x00%at%x00%ct%x00%B%x00"});
  append_arguments(arguments, patch_arguments(options.context));
  if (options.first_parent)
    append_arguments(arguments, {"--first-parent", "-m"});
  else if (options.merge_changes)
    append_arguments(arguments, {"--diff-merges=first-parent"});
  if (!options.since.empty()) arguments.push_back("--since=" + options.since);
  append_arguments(arguments, {options.range, "--"});
  GitStream stream(repository, arguments);
  PatchReader patches(stream, options, report);
  std::string_view blank;
  while (stream.peek() == 0) {
    auto commit = read_commit_header(stream);
    auto room = options.max_commit_size;
    while (stream.peek() == '\n') stream.line(blank, 1);
    while (stream.peek() == 'd') {
      FileChange change;
      if (!patches.read(change, commit.hash, room)) continue;
      room -= static_cast<std::int64_t>(change.hunks.size());
      commit.changes.push_back(std::move(change));
    }
    receive(std::move(commit));
    while (stream.peek() == '\n') stream.line(blank, 1);
  }
  check(stream.peek() < 0, ErrorKind::Input, "[data.git] git's output is not understood.");
  stream.finish();
}

void read_snapshot(const std::filesystem::path& repository, const std::string& head,
                   const HistoryOptions& options, DropReport& report,
                   const std::function<void(SnapshotFile&&)>& receive) {
  const auto empty = ask_git(repository, {"hash-object", "-t", "tree", "/dev/null"});
  check(empty.code == 0, ErrorKind::Input, "[data.git] git failed: {}", printable(empty.error));
  auto arguments = size_setting(options);
  append_arguments(arguments, {"diff-tree", "--no-renames", "-r"});
  append_arguments(arguments, patch_arguments(0));
  append_arguments(arguments, {empty.text, head, "--"});
  GitStream stream(repository, arguments);
  PatchReader patches(stream, options, report);
  while (stream.peek() == 'd') {
    FileChange change;
    if (!patches.read(change, head, options.max_commit_size)) continue;
    receive({change.path, hunk_side(change.hunks, true)});
  }
  check(stream.peek() < 0, ErrorKind::Input, "[data.git] git's output is not understood.");
  stream.finish();
}

}  // namespace ubique::data
