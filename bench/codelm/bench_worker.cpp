// SPDX-License-Identifier: Apache-2.0
// What a worker's own work takes for each step of its decoder: the same requests as a server's,
// answered by a decoder that takes no time. One line for each number of texts.
//   bench_worker [TOKENS] [ROUNDS] [STOP-TEXT]
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>

#include "ubique/data/chat/chat_set.h"
#include "ubique/models/codelm/serve/worker.h"

namespace {

using namespace ubique;

/// The letters of the alphabet, one after the other.
class Alphabet final : public nn::Decoder {
 public:
  explicit Alphabet(std::int64_t slots, std::int64_t vocabulary)
      : Decoder(slots), vocabulary_(vocabulary) {}

  std::int64_t context_length() const override { return 1 << 20; }
  std::int64_t vocabulary() const override { return vocabulary_; }
  std::int64_t steps = 0;

 private:
  nn::Predictions append(const nn::Extension& extension, std::int64_t, nn::Wanted) override {
    return {.likeliest = {after(extension)}};
  }
  nn::Predictions append_each(std::span<const nn::Extension> extensions, nn::Wanted) override {
    ++steps;
    nn::Predictions next;
    for (const auto& each : extensions) next.likeliest.push_back(after(each));
    return next;
  }
  static std::int32_t after(const nn::Extension& extension) {
    return 'a' + (extension.tokens.back() + 1 - 'a') % 26;
  }

  std::int64_t vocabulary_;
};

struct Pipe {
  std::array<int, 2> ends{};
  Pipe() { check(::pipe(ends.data()) == 0, ErrorKind::Input, "[bench.worker] no pipe."); }
  ~Pipe() {
    for (const int end : ends) ::close(end);
  }
};

/// Microseconds of each step, in a worker that answers one request in each slot.
double microseconds(std::int64_t slots, std::int64_t tokens, const std::string& stop) {
  const io::Tokenizer tokenizer(data::train_chat_tokenizer({}, 256 + 10));
  Alphabet decoder(slots, tokenizer.size());
  Pipe pipe;
  std::string asked;
  for (std::int64_t i = 0; i < slots; ++i) {
    Json request = {{"op", "complete"},
                    {"id", fmt::format("request-{}", i)},
                    {"prompt", "def add(first, second):"},
                    {"max_tokens", tokens},
                    {"temperature", 0}};
    if (!stop.empty()) request["stop"] = {stop};
    asked += json_text(request) + "\n";
  }
  std::atomic<std::int64_t> over = 0;
  std::chrono::steady_clock::time_point begin, end;
  const codelm::WorkerModel model{.decoder = decoder,
                                  .tokenizer = tokenizer,
                                  .no_chat = "",
                                  .end_tokens = {},
                                  .facts = Json::object()};
  codelm::Worker worker(model, [&](std::string_view lines) {
    if (decoder.steps <= 1) begin = std::chrono::steady_clock::now();
    for (auto at = lines.find("\"done\""); at != lines.npos; at = lines.find("\"done\"", at + 1)) {
      ++over;
    }
    end = std::chrono::steady_clock::now();
  });
  const auto stop_now = [&] { return over == slots; };
  check(::write(pipe.ends[1], asked.data(), asked.size()) == std::ssize(asked), ErrorKind::Input,
        "[bench.worker] the pipe is full.");
  codelm::LineQueue lines(pipe.ends[0], stop_now);
  worker.run(lines, stop_now);
  const std::chrono::duration<double, std::micro> taken = end - begin;
  return taken.count() / static_cast<double>(decoder.steps - 1);
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t tokens = argc > 1 ? std::atoll(argv[1]) : 4096;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
  const std::string stop = argc > 3 ? argv[3] : "";
  for (const std::int64_t slots : {1, 16}) {
    std::vector<double> times;
    for (int round = 0; round < rounds; ++round) times.push_back(microseconds(slots, tokens, stop));
    std::ranges::sort(times);
    fmt::print("{:2} texts of {} tokens: {:.2f} us a step (best {:.2f})\n", slots, tokens,
               times[times.size() / 2], times.front());
  }
  return 0;
}
