// SPDX-License-Identifier: Apache-2.0
// Starts git and buffers its output.
#include "ubique/data/code/git/git_stream.h"

#include <algorithm>
#include <cstring>

#include "ubique/base/error.h"
#include "ubique/base/files/stream.h"
#include "ubique/base/text/printable.h"

namespace ubique::data {
namespace {

constexpr std::size_t kGitBuffer = 1U << 18U;
constexpr std::size_t kLongestAnswer = 64U << 20U;

}  // namespace

std::vector<std::string> git_command(const std::filesystem::path& repository,
                                     const std::vector<std::string>& arguments) {
  check(find_program("git").has_value(), ErrorKind::Input,
        "[data.git] there is no git program on PATH. Install git.");
  // The variables would name another repository than the one given; the settings would change the
  // form of the output.
  std::vector<std::string> command = {"env",
                                      "-u",
                                      "GIT_DIR",
                                      "-u",
                                      "GIT_WORK_TREE",
                                      "-u",
                                      "GIT_INDEX_FILE",
                                      "-u",
                                      "GIT_EXTERNAL_DIFF",
                                      "-u",
                                      "GIT_DIFF_OPTS",
                                      "LC_ALL=C",
                                      "GIT_TERMINAL_PROMPT=0",
                                      "GIT_OPTIONAL_LOCKS=0",
                                      "GIT_FLUSH=0",  // not after each commit
                                      "git",
                                      "-C",
                                      repository.string(),
                                      "--no-pager"};
  for (const auto* setting :
       {"core.quotePath=true", "color.ui=false", "diff.noprefix=false", "diff.mnemonicPrefix=false",
        "diff.suppressBlankEmpty=false", "diff.interHunkContext=0", "diff.algorithm=myers",
        "diff.indentHeuristic=true", "diff.submodule=short", "diff.renameLimit=1000",
        "diff.relative=false", "log.showSignature=false", "log.mailmap=false", "log.follow=false",
        "core.attributesFile=/dev/null"}) {
    command.insert(command.end(), {"-c", setting});
  }
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

GitAnswer ask_git(const std::filesystem::path& repository,
                  const std::vector<std::string>& arguments) {
  PipedProgram program(git_command(repository, arguments), PipeEnd::Read);
  GitAnswer answer;
  answer.text = read_to_end(program.descriptor(), "git", kLongestAnswer);
  answer.code = program.finish();
  answer.error = program.stderr_tail();
  while (answer.text.ends_with('\n')) answer.text.pop_back();
  return answer;
}

GitStream::GitStream(const std::filesystem::path& repository,
                     const std::vector<std::string>& arguments)
    : program_(git_command(repository, arguments), PipeEnd::Read), buffer_(kGitBuffer) {}

bool GitStream::fill() {
  // What every pipe holds at once is 64 KiB: waiting for more might keep git from going on.
  constexpr std::size_t kPiece = 1U << 16U;
  end_ = read_fully(program_.descriptor(), std::as_writable_bytes(std::span(buffer_).first(kPiece)),
                    "git");
  at_ = 0;
  return end_ > 0;
}

int GitStream::peek() {
  if (at_ >= end_ && !fill()) return -1;
  return static_cast<unsigned char>(buffer_[at_]);
}

bool GitStream::read_until(char end, std::string_view& text, std::size_t most) {
  cut_ = false;
  if (peek() < 0) return false;
  const auto find_end = [&] {
    const auto* found = std::memchr(buffer_.data() + at_, end, end_ - at_);
    return found == nullptr
               ? end_
               : static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.data());
  };
  auto stop = find_end();
  if (stop < end_) {
    text = {buffer_.data() + at_, stop - at_};
    at_ = stop + 1;
    if (text.size() > most) {
      cut_ = true;
      text = text.substr(0, most);
    }
    return true;
  }
  long_.clear();
  while (true) {
    const auto piece = std::string_view(buffer_.data() + at_, stop - at_);
    const auto room = most - std::min(most, long_.size());
    if (piece.size() > room) cut_ = true;
    long_ += piece.substr(0, room);
    at_ = stop + 1;
    if (stop < end_ || !fill()) break;
    stop = find_end();
  }
  text = long_;
  return true;
}

void GitStream::finish() {
  const auto code = program_.finish();
  check(code == 0, ErrorKind::Input, "[data.git] git failed with code {}: {}", code,
        printable(program_.stderr_tail(), 300));
}

}  // namespace ubique::data
