// SPDX-License-Identifier: Apache-2.0
// Two promises of the safetensors reader, measured on a file of its own making: reading one tensor
// touches that tensor's pages only, and loading all of them runs at least at 80 % of the speed of
// cat. Linux; bench/safetensors/run makes the folder and takes it away.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "ubique/base/error.h"
#include "ubique/base/numbers/random.h"
#include "ubique/base/terminal/table.h"
#include "ubique/base/text/text.h"
#include "ubique/io/tensors/safetensors_reader.h"
#include "ubique/io/tensors/safetensors_writer.h"

using namespace ubique;

namespace {

constexpr std::uint64_t kMiB = 1U << 20U;

/// Sizes as in the layers of a language model, over and over: norm, key/value, query, feed-forward.
void write_large_file(const std::string& path, std::uint64_t total) {
  constexpr std::uint64_t kSizes[] = {8192, 4 * kMiB, 16 * kMiB, 44 * kMiB};
  std::vector<float> noise(4 * kMiB);
  Random(1).fill_uniform(noise);
  const auto block = std::as_bytes(std::span(noise));
  std::vector<io::TensorData> tensors;
  for (std::uint64_t left = total, i = 0; left > 0; ++i) {
    const auto size = std::min(left, kSizes[i % std::size(kSizes)]);
    const auto stream = [block, size](const io::ByteSink& sink) {
      for (std::uint64_t at = 0; at < size; at += block.size()) {
        sink(block.first(std::min<std::uint64_t>(block.size(), size - at)));
      }
    };
    tensors.push_back({fmt::format("layer{}.weight", i),
                       DType::U8,
                       {static_cast<std::int64_t>(size)},
                       {},
                       stream});
    left -= size;
  }
  io::write_safetensors(path, tensors);
}

/// Which pages of a file are in the page cache.
std::vector<unsigned char> resident_pages(const std::string& path) {
  const MappedFile file(path);
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((file.bytes().size() + page - 1) / page);
  auto* start = const_cast<std::byte*>(file.bytes().data());
  check(::mincore(start, file.bytes().size(), pages.data()) == 0, ErrorKind::Internal,
        "[bench.safetensors] mincore failed");
  for (auto& state : pages) state &= 1U;
  return pages;
}

std::int64_t sum_of(const std::vector<unsigned char>& pages) {
  return std::accumulate(pages.begin(), pages.end(), std::int64_t{0});
}

void drop_from_cache(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY);
  ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  ::close(file);
}

/// The number of pages in memory once the kernel has ended what it reads ahead.
std::int64_t settled_pages(const std::string& path) {
  for (auto last = sum_of(resident_pages(path));;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const auto now = sum_of(resident_pages(path));
    if (now == last) return now;
    last = now;
  }
}

struct PageCount {
  std::int64_t opened, needed, added;
};

/// Pages in memory after a file that was not there is opened and one tensor of it read.
template <typename ReadOne>
PageCount count_pages(const std::string& path, const ReadOne& read_one) {
  drop_from_cache(path);
  const auto before = sum_of(resident_pages(path));
  check(before == 0, ErrorKind::Internal, "[bench.safetensors] {} pages stayed in memory", before);
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const io::SafetensorsFile file(path);
  const auto& tensor = file.tensors()[file.tensors().size() / 2];
  PageCount count{};
  count.opened = settled_pages(path);
  read_one(file, tensor);
  const auto header = file.size() - file.tensors().back().end;
  const auto first = (header + tensor.begin) / page, end = (header + tensor.end + page - 1) / page;
  count.needed = static_cast<std::int64_t>(end - first);
  count.added = settled_pages(path) - count.opened;
  return count;
}

void touch_bytes(const io::SafetensorsFile& file, const io::TensorInfo& tensor) {
  const auto bytes = file.bytes(tensor);
  const auto* start = reinterpret_cast<const volatile std::byte*>(bytes.data());
  for (std::size_t i = 0; i < bytes.size(); i += 512) static_cast<void>(start[i]);
}

/// The same with the kernel told to read nothing ahead in the whole map.
void touch_bytes_only(const io::SafetensorsFile& file, const io::TensorInfo& tensor) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(file.bytes(tensor).data());
  auto* start = reinterpret_cast<void*>(first / page * page);
  check(::madvise(start, tensor.size() + first % page, MADV_RANDOM) == 0, ErrorKind::Internal,
        "[bench.safetensors] madvise failed");
  touch_bytes(file, tensor);
}

void report_pages(const std::string& path) {
  const auto total = static_cast<std::int64_t>(resident_pages(path).size());
  Table table({"one tensor, file not in memory", "pages at opening", "tensor has", "reading added",
               "of the file"});
  const auto add = [&](const char* name, const PageCount& count) {
    const auto share = static_cast<double>(count.opened + count.added) / static_cast<double>(total);
    table.add_row({name, std::to_string(count.opened), std::to_string(count.needed),
                   std::to_string(count.added), fmt::format("{:.2f} % of {}", 100 * share, total)});
  };
  const auto exact = count_pages(path, touch_bytes_only);
  add("bytes(), nothing read ahead", exact);
  add("bytes()", count_pages(path, touch_bytes));
  add("read()", count_pages(path, [](const auto& file, const auto& tensor) {
        std::vector<std::byte> out(tensor.size());
        file.read(tensor, out);
      }));
  fmt::print("{}only that tensor's pages: {}; more is what the kernel reads ahead at the edges\n\n",
             table.to_text(), exact.added == exact.needed ? "yes" : "NO");
}

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void run_command(const std::string& command) {
  check(std::system(command.c_str()) == 0, ErrorKind::Internal, "[bench.safetensors] failed: {}",
        command);
}

struct Way {
  std::string name;
  std::function<double()> seconds;
  std::vector<double> found = {};
};

/// One buffer per tensor: the parameters of a model that is already built, or none yet.
using Buffers = std::vector<std::unique_ptr<std::byte[]>>;

using Loader = void (*)(const std::string& path, Buffers& buffers);

std::span<std::byte> buffer_for(Buffers& buffers, std::size_t i, std::size_t size) {
  if (i == buffers.size()) buffers.push_back(std::make_unique_for_overwrite<std::byte[]>(size));
  return {buffers[i].get(), size};
}

void load_by_read(const std::string& path, Buffers& buffers) {
  const io::SafetensorsFile file(path);
  for (std::size_t i = 0; i < file.tensors().size(); ++i) {
    const auto& tensor = file.tensors()[i];
    file.read(tensor, buffer_for(buffers, i, tensor.size()));
  }
}

void load_by_copy(const std::string& path, Buffers& buffers) {
  const io::SafetensorsFile file(path);
  for (std::size_t i = 0; i < file.tensors().size(); ++i) {
    const auto bytes = file.bytes(file.tensors()[i]);
    std::copy(bytes.begin(), bytes.end(), buffer_for(buffers, i, bytes.size()).begin());
  }
}

/// What the system takes to hand out that much memory, before anything is read into it.
void touch_only(const std::string& path, Buffers& buffers) {
  const io::SafetensorsFile file(path);
  for (std::size_t i = 0; i < file.tensors().size(); ++i) {
    const auto out = buffer_for(buffers, i, file.tensors()[i].size());
    for (std::size_t at = 0; at < out.size(); at += 4096) {
      reinterpret_cast<volatile std::byte*>(out.data())[at] = std::byte{1};
    }
  }
}

/// Times are of the work alone, not of freeing what it left.
std::vector<Way> ways_to_read(const std::string& path, Buffers& parameters) {
  const auto command = [=](const std::string& text) {
    return [=] { return seconds_of([&] { run_command(text); }); };
  };
  const auto into_parameters = [=, &parameters](Loader load) {
    return [=, &parameters] { return seconds_of([&] { load(path, parameters); }); };
  };
  const auto into_new = [=](Loader load) {
    return [=] {
      Buffers buffers;
      return seconds_of([&] { load(path, buffers); });
    };
  };
  return {
      {"cat FILE > /dev/null", command("cat '" + path + "' > /dev/null")},
      {"cat FILE | cat > /dev/null", command("cat '" + path + "' | cat > /dev/null")},
      {"read() into a model's parameters", into_parameters(load_by_read)},
      {"copy of bytes() into the same", into_parameters(load_by_copy)},
      {"read() into new memory", into_new(load_by_read)},
      {"copy of bytes() into new memory", into_new(load_by_copy)},
      {"new memory, touched only", into_new(touch_only)},
  };
}

void report_speed(const std::string& path, double bytes, int repeats) {
  Buffers parameters;
  auto ways = ways_to_read(path, parameters);
  for (std::size_t i = 0; i < 3; i += 2) ways[i].seconds();  // fills page cache and parameters
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (auto& way : ways) way.found.push_back(way.seconds());  // in turns: noise hits all alike
  }
  for (auto& way : ways) std::sort(way.found.begin(), way.found.end());
  const auto median = [&](const Way& way) { return way.found[way.found.size() / 2]; };
  Table table({"from page cache", "median", "best", "to cat > /dev/null", "to cat | cat"});
  for (const auto& way : ways) {
    table.add_row({way.name, fmt::format("{:.2f} GB/s", bytes / median(way) / 1e9),
                   fmt::format("{:.2f} GB/s", bytes / way.found.front() / 1e9),
                   fmt::format("{:.2f}x", median(ways[0]) / median(way)),
                   fmt::format("{:.2f}x", median(ways[1]) / median(way))});
  }
  const auto ratio = median(ways[0]) / median(ways[2]);
  fmt::print("{}\nread() against cat > /dev/null: {:.2f}x (goal 0.80x: {})\n", table.to_text(),
             ratio, ratio >= 0.8 ? "reached" : "missed");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "bench_safetensors FOLDER [MIB] [REPEATS]\n");
    return 2;
  }
  const auto path = std::string(argv[1]) + "/large.safetensors";
  const std::uint64_t bytes = (argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 2048) * kMiB;
  const int repeats = argc > 3 ? std::atoi(argv[3]) : 7;
  try {
    write_large_file(path, bytes);
    fmt::print("{} of {}\n\n", human_bytes(static_cast<std::int64_t>(bytes)), path);
    report_pages(path);
    report_speed(path, static_cast<double>(bytes), repeats);
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(exit_code(error.kind()));
  }
  return 0;
}
