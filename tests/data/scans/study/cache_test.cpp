// SPDX-License-Identifier: Apache-2.0
// The disk cache of conformed scans: written once, reused, rebuilt when anything changed or broke.
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <thread>

#include "tests/base/scratch.h"
#include "tests/data/scans/grids.h"
#include "ubique/data/scans/study/scan_cache.h"

using namespace ubique;
namespace fs = std::filesystem;

namespace {

const data::Shape3 kNative{10, 12, 9}, kTarget{8, 8, 8};

/// A scan with values from -3 to 900 and a mask of a block, or labels 0, 1, 2.
data::Subject make_subject(const test::ScratchFolder& folder, const std::string& id,
                           bool labels = false) {
  const auto affine = test::straight({1, 1, 1});
  data::Subject subject;
  subject.id = id;
  subject.image = folder / (id + ".nii.gz");
  subject.mask = folder / (id + "_mask.nii.gz");
  io::NiftiHeader header;
  data::write_volume(
      subject.image,
      test::grid_of<float>(kNative, affine,
                           [](auto i, auto j, auto k) {
                             return i == 9 ? 900 : static_cast<double>(i * 31 + j * 7 + k) - 3;
                           }),
      header);
  data::write_labels(
      *subject.mask,
      test::grid_of<std::uint8_t>(
          kNative, affine,
          [&](auto i, auto j, auto) { return i > 3 && i < 7 ? (labels && j > 5 ? 2 : 1) : 0; }),
      header);
  return subject;
}

data::ScanCacheOptions small_options(DType dtype = DType::F16) {
  data::ScanCacheOptions options;
  options.target.shape = kTarget;
  options.dtype = dtype;
  return options;
}

data::Volume expected_image(const data::Subject& subject,
                            data::Normalization how = data::Normalization::MinMax) {
  auto image = data::conform(data::read_scan(subject.image), small_options().target);
  data::normalize(image, how);
  return image;
}

double largest_error(const data::Volume& a, const data::Volume& b) {
  REQUIRE(a.shape == b.shape);
  double largest = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    largest = std::max(largest, static_cast<double>(std::fabs(a.values[i] - b.values[i])));
  }
  return largest;
}

void overwrite(const fs::path& path, std::int64_t place, char value) {
  auto content = read_file(path);
  content[static_cast<std::size_t>(place < 0 ? static_cast<std::int64_t>(content.size()) + place
                                             : place)] = value;
  write_file(path, content);
}

}  // namespace

TEST_CASE("cache: an entry holds what conforming gives, as precisely as its type") {
  const test::ScratchFolder folder;
  const auto subject = make_subject(folder, "one");
  const auto scan = data::read_scan(subject.image);
  const auto expected = expected_image(subject);
  const auto mask =
      data::conform_mask(data::read_scan(*subject.mask), scan, small_options().target);
  const std::vector<std::pair<DType, double>> precision = {
      {DType::F32, 0}, {DType::F16, 0x1p-12}, {DType::U8, 0.5 / 255 + 1e-6}};
  for (const auto& [dtype, tolerance] : precision) {
    CAPTURE(to_string(dtype));
    data::ScanCache cache(folder / "cache", small_options(dtype));
    const auto entry = cache.get(subject);
    CHECK(entry.dtype() == dtype);
    CHECK(entry.shape() == kTarget);
    CHECK(entry.affine() == expected.affine);
    CHECK(largest_error(entry.image(), expected) <= tolerance);
    REQUIRE(entry.has_mask());
    CHECK(entry.mask().values == mask.values);
    CHECK(std::ranges::count(mask.values, 1) > 0);
  }
}

TEST_CASE("cache: a scan in a folder whose name is not UTF-8 is kept and found again") {
  const test::ScratchFolder folder;
  std::error_code refused;
  if (!fs::create_directory(folder / "h\xff", refused)) {
    MESSAGE("skipped: this file system takes UTF-8 names only");
    return;
  }
  auto subject = make_subject(folder, "one");
  const auto moved = folder / "h\xff" / subject.image.filename();
  fs::rename(subject.image, moved);
  subject.image = moved;
  data::ScanCache cache(folder / "cache", small_options());
  CHECK(largest_error(cache.get(subject).image(), expected_image(subject)) <= 0x1p-12);
  CHECK(cache.contains(subject));
}

TEST_CASE("cache: f16 values are restored exactly, and larger ones use f32") {
  const test::ScratchFolder folder;
  auto subject = make_subject(folder, "one");
  subject.mask.reset();
  auto options = small_options();
  options.normalization = data::Normalization::None;
  data::ScanCache cache(folder / "cache", options);
  const auto expected = expected_image(subject, data::Normalization::None);
  const auto entry = cache.get(subject);
  CHECK(entry.dtype() == DType::F16);
  CHECK_FALSE(entry.has_mask());
  CHECK(largest_error(entry.image(), expected) <= 0.25);  // half a step at 900
  const auto large = test::grid_of<float>(kNative, test::straight({1, 1, 1}),
                                          [](auto i, auto, auto) { return i * 1e4; });
  data::write_volume(subject.image, large, {});
  const auto wide = cache.get(subject);
  CHECK(wide.dtype() == DType::F32);
  CHECK(largest_error(wide.image(), expected_image(subject, data::Normalization::None)) == 0);
}

TEST_CASE("cache: tiny and negative values survive f16") {
  const test::ScratchFolder folder;
  auto subject = make_subject(folder, "one");
  subject.mask.reset();
  const std::vector<float> values = {
      0,      -0x1p-24F,    0x1p-25F,       0x1.8p-24F, 0x1p-14F, 0x1.ffcp-15F,
      -65504, 1 + 0x1p-11F, 1 + 0x1.8p-10F, 3.14159F};
  const std::vector<float> nearest = {0,        -0x1p-24F, 0, 0x1p-23F,    0x1p-14F,
                                      0x1p-14F, -65504,    1, 1 + 0x1p-9F, 3.140625F};
  const auto grid =
      test::grid_of<float>(kNative, test::straight({1, 1, 1}),
                           [&](auto i, auto, auto) { return values[static_cast<std::size_t>(i)]; });
  data::write_volume(subject.image, grid, {});
  auto options = small_options();
  options.normalization = data::Normalization::None;
  options.target.method = data::ConformMethod::None;
  data::ScanCache cache(folder / "cache", options);
  const auto image = cache.get(subject).image();
  REQUIRE(image.shape == kNative);
  for (std::int64_t i = 0; i < kNative[0]; ++i) {
    CAPTURE(i);
    CHECK(image.at(i, 3, 3) == nearest[static_cast<std::size_t>(i)]);
  }
}

TEST_CASE("cache: an entry is made once, and again when scan, mask or options change") {
  const test::ScratchFolder folder;
  const auto subject = make_subject(folder, "one");
  data::ScanCache cache(folder / "cache", small_options());
  CHECK_FALSE(cache.contains(subject));
  cache.get(subject);
  const auto path = cache.path_of(subject);
  CHECK(cache.contains(subject));
  const auto made = fs::last_write_time(path);
  cache.get(subject);
  data::ScanCache(folder / "cache", small_options()).get(subject);
  CHECK(fs::last_write_time(path) == made);

  auto other = small_options();
  other.target.spacing = 1.5;
  const auto coarse = data::ScanCache(folder / "cache", other).path_of(subject);
  CHECK(coarse != path);
  other.target.spacing = {1.5, 1.5, 1};
  CHECK(data::ScanCache(folder / "cache", other).path_of(subject) != coarse);
  CHECK(data::ScanCache(folder / "cache", other).path_of(subject) != path);
  other = small_options();
  other.normalization = data::Normalization::ZScore;
  CHECK(data::ScanCache(folder / "cache", other).path_of(subject) != path);
  auto unmasked = subject;
  unmasked.mask.reset();
  CHECK(cache.path_of(unmasked) != path);
  fs::last_write_time(*subject.mask, fs::last_write_time(*subject.mask) + std::chrono::seconds(3));
  CHECK(cache.path_of(subject) != path);
}

TEST_CASE("cache: a scan that cannot be opened is unusable, as one that cannot be read") {
  const test::ScratchFolder folder;
  data::ScanCache cache(folder / "cache", small_options());
  auto gone = make_subject(folder, "gone");
  fs::remove(gone.image);
  CHECK_THROWS_AS(cache.get(gone), data::UnusableScan);
  auto bad = make_subject(folder, "bad");
  write_file(*bad.mask, "");
  CHECK_THROWS_AS(cache.get(bad), data::UnusableScan);
}

TEST_CASE("cache: damaged, cut and foreign entries are made again") {
  const test::ScratchFolder folder;
  const auto subject = make_subject(folder, "one");
  const auto expected = expected_image(subject);
  data::ScanCache first(folder / "cache", small_options());
  first.get(subject);
  const auto path = first.path_of(subject);
  const auto whole = read_file(path);
  const auto is_mended = [&] {
    data::ScanCache fresh(folder / "cache", small_options());
    return largest_error(fresh.get(subject).image(), expected) <= 0x1p-12 &&
           read_file(path) == whole;
  };
  overwrite(path, -5, '\x7f');  // in the mask's bytes: only the checksum detects it
  CHECK(is_mended());
  write_file(path, whole.substr(0, whole.size() / 2));
  CHECK(is_mended());
  write_file(path, "");
  CHECK(is_mended());
  auto foreign = whole;
  const auto place = foreign.find("min_max");
  REQUIRE(place != std::string::npos);
  write_file(path, foreign.replace(place, 7, "max_min"));  // another key
  CHECK(is_mended());
}

TEST_CASE("cache: labels of several classes keep their numbers, and others are refused") {
  const test::ScratchFolder folder;
  const auto subject = make_subject(folder, "one", true);
  auto options = small_options();
  options.classes = 3;
  const auto mask = data::ScanCache(folder / "cache", options).get(subject).mask();
  const auto native = data::read_scan(*subject.mask).volume;
  for (std::int64_t i = 0; i < 8; ++i) {  // 1 mm to 1 mm: the middle is cut out
    CHECK(mask.at(i, 4, 4) == static_cast<int>(native.at(i + 1, 6, 4)));
    CHECK(mask.at(i, 1, 4) == static_cast<int>(native.at(i + 1, 3, 4)));
  }
  CHECK(std::ranges::count(mask.values, 2) > 0);
  options.classes = 2;
  const auto binary = data::ScanCache(folder / "cache", options).get(subject).mask();
  CHECK(*std::ranges::max_element(binary.values) == 1);
  data::write_labels(*subject.mask,
                     test::grid_of<std::uint8_t>(kNative, test::straight({1, 1, 1}),
                                                 [](auto i, auto, auto) { return i; }),
                     {});
  options.classes = 3;
  const auto error = test::refusal_of(
      ErrorKind::Input, [&] { data::ScanCache(folder / "cache", options).get(subject); });
  CHECK(test::contains(error, "expected whole numbers from 0 to 2"));
}

TEST_CASE("cache: threads and processes may write the same entry concurrently") {
  const test::ScratchFolder folder;
  const auto subject = make_subject(folder, "one");
  const auto expected = expected_image(subject);
  std::vector<pid_t> children;
  for (int i = 0; i < 3; ++i) {
    const auto child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      try {
        data::ScanCache own(folder / "cache", small_options());
        ::_exit(largest_error(own.get(subject).image(), expected) <= 0x1p-12 ? 0 : 1);
      } catch (...) {
        ::_exit(2);
      }
    }
    children.push_back(child);
  }
  data::ScanCache cache(folder / "cache", small_options());
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { right += cache.get(subject).mask().shape == kTarget ? 1 : 0; });
  }
  for (auto& thread : threads) thread.join();
  CHECK(right == 4);
  for (const auto child : children) {
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WEXITSTATUS(status) == 0);
  }
  const fs::directory_iterator begin(folder / "cache"), end;
  CHECK(std::distance(begin, end) == 1);
}

TEST_CASE("cache: a full disk is an error and leaves nothing behind") {
  const test::ScratchFolder folder;
  const auto subject = make_subject(folder, "one");
  const auto child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{700, 700};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(9);
    const auto error =
        test::error_of([&] { data::ScanCache(folder / "cache", small_options()).get(subject); });
    ::_exit(test::contains(error, "input: [base.file] cannot write") ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(fs::is_empty(folder / "cache"));
}

TEST_CASE("cache: a bad scan and invalid options are refused") {
  const test::ScratchFolder folder;
  auto subject = make_subject(folder, "one");
  write_file(subject.image, "no scan at all");
  data::ScanCache cache(folder / "cache", small_options());
  test::refusal_of(ErrorKind::Input, [&] { cache.get(subject); });
  CHECK_FALSE(fs::exists(folder / "cache"));
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Usage,
                       [&] { data::ScanCache wrong(folder / "cache", small_options(DType::I32)); }),
      "expected f16, u8 or f32"));
}

TEST_CASE("cache: the quantiles are part of an entry's name where they are used") {
  const test::ScratchFolder folder;
  const auto subject = make_subject(folder, "one");
  auto options = small_options(DType::F32);
  options.normalization = data::Normalization::Quantile;
  const auto entry_of = [&](const data::ScanCacheOptions& how) {
    data::ScanCache cache(folder / "cache", how);
    return std::pair(cache.path_of(subject), cache.get(subject).image().values);
  };
  const auto [usual, usual_values] = entry_of(options);
  options.low_quantile = 0.2;
  const auto [wider, wider_values] = entry_of(options);
  CHECK(usual != wider);
  CHECK(usual_values != wider_values);
  options.normalization = data::Normalization::MinMax;
  const auto [plain, plain_values] = entry_of(options);
  CHECK(plain == entry_of(small_options(DType::F32)).first);
}

TEST_CASE("cache: what a killed process left half-written is removed a day later") {
  const test::ScratchFolder folder;
  const auto now = fs::file_time_type::clock::now();
  for (const auto* name : {".ubique-1-old.tmp", ".ubique-2-new.tmp", "old.tmp", ".ubique-x"}) {
    write_file(folder / name, "half");
    if (std::string_view(name) != ".ubique-2-new.tmp") {
      fs::last_write_time(folder / name, now - std::chrono::hours(25));
    }
  }
  const data::ScanCache cache(folder.path(), small_options());
  CHECK_FALSE(fs::exists(folder / ".ubique-1-old.tmp"));
  CHECK(fs::exists(folder / ".ubique-2-new.tmp"));  // its process may still be writing
  CHECK(fs::exists(folder / "old.tmp"));            // not ours
  CHECK(fs::exists(folder / ".ubique-x"));
}
