// SPDX-License-Identifier: Apache-2.0
// A child with a pipe, read until it ends or time is over.
#include "ubique/serve/machine/ask.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <semaphore>

#include "ubique/base/error.h"
#include "ubique/base/files/process.h"
#include "ubique/base/text/text.h"

namespace ubique::serve {
namespace {

constexpr std::size_t kLargestAnswer = 32 << 20U;
constexpr int kAskedAtOnce = 2;

std::counting_semaphore<kAskedAtOnce>& turns() {
  static std::counting_semaphore<kAskedAtOnce> turns(kAskedAtOnce);
  return turns;
}

struct Turn {
  Turn() { turns().acquire(); }
  ~Turn() { turns().release(); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
};

/// The message of "ubique: error: [..] ...", if there is one.
std::string message_of(const std::string& tail) {
  constexpr std::string_view kMark = "ubique: error: ";
  const auto at = tail.rfind(kMark);
  return std::string(trim(at == std::string::npos ? tail : tail.substr(at + kMark.size())));
}

}  // namespace

AskedAnswer ask_program(const std::string& program, const std::vector<std::string>& words,
                        double seconds) {
  const Turn turn;
  std::vector<std::string> line = {program};
  line.insert(line.end(), words.begin(), words.end());
  PipedProgram child(line, PipeEnd::Read);
  AskedAnswer answer;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  std::array<char, 65536> bytes{};
  while (answer.out.size() < kLargestAnswer) {
    const std::chrono::duration<double, std::milli> left = end - std::chrono::steady_clock::now();
    check(left.count() > 0, ErrorKind::Device, "[serve.machine] no answer of '{}' within {:g} s.",
          join(words, " "), seconds);
    pollfd wanted{.fd = child.descriptor(), .events = POLLIN, .revents = 0};
    if (::poll(&wanted, 1, static_cast<int>(left.count()) + 1) <= 0) continue;
    const auto got = ::read(child.descriptor(), bytes.data(), bytes.size());
    if (got <= 0) break;
    answer.out.append(bytes.data(), static_cast<std::size_t>(got));
  }
  answer.code = child.finish();
  if (answer.code != 0) answer.error = message_of(child.stderr_tail());
  return answer;
}

Json ask_json(const std::string& program, std::vector<std::string> words, double seconds) {
  words.emplace_back("--json");
  const auto answer = ask_program(program, words, seconds);
  if (answer.code == 0 || (!answer.out.empty() && answer.code == 4)) {
    return parse_json(answer.out, "the answer of ubique " + words.front());
  }
  const auto kind = answer.code == 2   ? ErrorKind::Usage
                    : answer.code == 3 ? ErrorKind::Input
                    : answer.code == 4 ? ErrorKind::Device
                                       : ErrorKind::Internal;
  throw Error(kind, answer.error.empty() ? fmt::format("[serve.machine] '{}' failed with code {}.",
                                                       join(words, " "), answer.code)
                                         : answer.error);
}

}  // namespace ubique::serve
