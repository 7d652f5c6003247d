// SPDX-License-Identifier: Apache-2.0
// Encodes source files with one thread: bench_tokenizer TOKENIZER FILE-LIST. Prints MB/s of the
// best of five rounds, in one text and file by file, and a sum of the ids for comparison.
// bench/tokenizer/run does it in turns with the tokenizers library.
#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <limits>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/text.h"
#include "ubique/base/text/utf8.h"
#include "ubique/io/text/tokenizer_encode.h"

using namespace ubique;

namespace {

constexpr int kRounds = 5;

double best_seconds(const std::function<void()>& work) {
  double best = std::numeric_limits<double>::max();
  for (int round = 0; round < kRounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    best = std::min(best, taken.count());
  }
  return best;
}

std::uint64_t sum_of(const std::vector<std::int32_t>& ids) {
  std::uint64_t sum = 0;
  for (const auto id : ids) sum = sum * 31 + static_cast<std::uint64_t>(id);
  return sum;
}

void run(const std::string& tokenizer_path, const std::string& list) {
  const auto tokenizer = io::read_tokenizer(tokenizer_path);
  std::vector<std::string> files;
  std::string all;
  for (const auto& path : split(read_file(list), '\n')) {
    files.push_back(replace_invalid_utf8(read_file(path)));
    all += files.back();
  }
  const auto megabytes = static_cast<double>(all.size()) / 1e6;
  std::vector<std::int32_t> ids;
  const auto whole = best_seconds([&] { ids = tokenizer.encode(all); });
  const auto each = best_seconds([&] {
    for (const auto& file : files) (void)tokenizer.encode(file);
  });
  const auto kept = best_seconds([&] {
    io::TokenEncoder encoder(tokenizer);
    for (const auto& file : files) (void)encoder.encode(file);
  });
  fmt::print(
      "{{\"megabytes\": {:.1f}, \"one_text\": {:.2f}, \"each_file\": {:.2f}, "
      "\"each_file_one_encoder\": {:.2f}, \"tokens\": {}, \"sum\": {}}}\n",
      megabytes, megabytes / whole, megabytes / each, megabytes / kept, ids.size(), sum_of(ids));
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) {
    fmt::print(stderr, "usage: bench_tokenizer TOKENIZER FILE-LIST\n");
    return 2;
  }
  try {
    run(words[1], words[2]);
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
