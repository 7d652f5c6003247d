// SPDX-License-Identifier: Apache-2.0
// Fixations from CSV, NumPy, images and MATLAB files.
#include "ubique/data/images/fixations.h"

#include <cstring>

#include "goldens.h"
#include "mat_samples.h"
#include "tests/base/scratch.h"
#include "ubique/base/files/file.h"
#include "ubique/data/images/fixations_mat.h"
#include "ubique/io/arrays/npz.h"
#include "ubique/io/images/image.h"

using namespace ubique;
using data::Fixation;
using Fixations = std::vector<Fixation>;

namespace {

io::HostTensor points(const std::string& name, const std::vector<double>& values) {
  io::HostTensor tensor{name, DType::F64, {static_cast<std::int64_t>(values.size() / 2), 2}, {}};
  const auto bytes = std::as_bytes(std::span(values));
  tensor.bytes.assign(bytes.begin(), bytes.end());
  return tensor;
}

std::string error_of_file(const test::ScratchFolder& folder, const std::string& name,
                          const std::string& content) {
  write_file(folder / name, content);
  return test::error_of([&] { data::read_fixations(folder / name); });
}

}  // namespace

TEST_CASE("fixations: tables are read back, and other columns are ignored") {
  const test::ScratchFolder folder;
  const Fixations want = {{1, 2}, {3.5, -4}};
  data::write_fixations(folder / "a.csv", want);
  CHECK(data::read_fixations(folder / "a.csv") == want);
  write_file(folder / "b.csv", "time, Y ,X\r\n9,2,1\n,-4,3.5\n\n");
  CHECK(data::read_fixations(folder / "b.csv") == want);
  write_file(folder / "c.csv", "1,2\n3.5,-4");
  CHECK(data::read_fixations(folder / "c.csv") == want);
  write_file(folder / "d.csv", "x,y\n");
  CHECK(data::read_fixations(folder / "d.csv").empty());
}

TEST_CASE("fixations: a bad table is refused with its row") {
  const test::ScratchFolder folder;
  CHECK(test::contains(error_of_file(folder, "a.csv", "x,y\n1,2\n1,oops\n"),
                       "has no number for y in row 3; got '1,oops'"));
  CHECK(test::contains(error_of_file(folder, "a.csv", "u,v\n1,2\n"), "has no columns x and y"));
  CHECK(test::contains(error_of_file(folder, "a.csv", "x,y\n,\n"), "no number for x in row 2"));
  CHECK(test::contains(error_of_file(folder, "a.txt", ""), "of no kind that holds fixations"));
}

TEST_CASE("fixations: a table may have observers, by number or by name") {
  const test::ScratchFolder folder;
  write_file(folder / "a.csv", "x,y,subject\n1,2,anna\n3,4,ben\n5,6,anna\n");
  const auto looks = data::read_fixation_list(folder / "a.csv");
  CHECK(looks.fixations == Fixations{{1, 2}, {3, 4}, {5, 6}});
  CHECK(looks.observers == std::vector{0, 1, 0});
  write_file(folder / "b.csv", "Observer,x,y\n7,1,2\n7,3,4\n");
  CHECK(data::read_fixation_list(folder / "b.csv").observers == std::vector{0, 0});
  write_file(folder / "c.csv", "x,y\n1,2\n");
  CHECK(data::read_fixation_list(folder / "c.csv").observers.empty());
  CHECK(test::contains(error_of_file(folder, "d.csv", "x,y,observer\n1,2,\n"),
                       "does not say who looked in row 2"));
}

TEST_CASE("fixations: SALICON's observers and CAT2000's pixels are read") {
  const test::ScratchFolder folder;
  write_file(folder / "a.mat", test::salicon_file({{{1, 1}, {640, 480}}, {}, {{3, 2}}}));
  const auto looks = data::read_fixation_list(folder / "a.mat");
  CHECK(looks.fixations == Fixations{{0, 0}, {639, 479}, {2, 1}});
  CHECK(looks.observers == std::vector{0, 0, 2});
  // Two rows, three columns; MATLAB counts down the columns.
  write_file(folder / "b.mat",
             test::mat_file(test::mat_numbers({2, 3}, "fixLocs", {0, 1, 0, 0, 1, 0})));
  CHECK(data::read_fixations(folder / "b.mat") == Fixations{{2, 0}, {0, 1}});
  CHECK(test::contains(
      error_of_file(folder, "c.mat", test::mat_file(test::mat_numbers({1, 1}, "gaze", {1}))),
      "variable gaze is no list of observers"));
}

TEST_CASE("fixations: arrays of NumPy are read") {
  const test::ScratchFolder folder;
  const Fixations want = {{1, 2}, {3, 4}};
  io::write_npy(folder / "a.npy", points("a", {1, 2, 3, 4}));
  CHECK(data::read_fixations(folder / "a.npy") == want);
  const std::vector two = {points("other", {9, 9}), points("points", {1, 2, 3, 4})};
  io::write_npz(folder / "a.npz", two);
  CHECK(data::read_fixations(folder / "a.npz") == want);
  const std::vector unnamed = {points("u", {9, 9}), points("v", {1, 2})};
  io::write_npz(folder / "b.npz", unnamed);
  CHECK(test::contains(test::error_of([&] { data::read_fixations(folder / "b.npz"); }),
                       "none of them called points or fixations"));
  auto flat = points("a", {1, 2});
  flat.shape = {1, 1, 2};
  io::write_npy(folder / "c.npy", flat);
  CHECK(test::contains(test::error_of([&] { data::read_fixations(folder / "c.npy"); }),
                       "expected N x 2"));
}

TEST_CASE("fixations: bright pixels of point pictures are fixations") {
  const test::ScratchFolder folder;
  io::write_image(folder / "a.png", {3, 2, 1, {0, 255, 100, 0, 0, 128}});
  CHECK(data::read_fixations(folder / "a.png") == Fixations{{1, 0}, {2, 1}});
}

TEST_CASE("fixations: DUT-OMRON's table is sorted, its first row left out") {
  const test::ScratchFolder folder;
  // Columns: x, y, time. The row of time 0 holds width and height.
  const std::vector<double> table = {5, 400, 7, 6, 300, 8, 2, 0, 1};
  write_file(folder / "a.mat", test::mat_file(test::mat_numbers({3, 3}, "s", table)));
  CHECK(data::read_fixations(folder / "a.mat") == Fixations{{7, 8}, {5, 6}});
}

TEST_CASE("fixations: PASCAL-S counts rows and columns from 1") {
  const test::ScratchFolder folder;
  const auto cells =
      test::mat_numbers({2, 2}, "", {1, 11, 5, 15}) + test::mat_numbers({0, 0}, "", {});
  write_file(folder / "a.mat",
             test::mat_file(test::mat_array(test::kMatCell, {1, 2}, "fixCell", cells)));
  const auto lists = data::read_fixation_lists(folder / "a.mat");
  REQUIRE(lists.size() == 2);
  CHECK(lists[0].fixations == Fixations{{4, 0}, {14, 10}});
  CHECK(lists[1].fixations.empty());
  CHECK(test::contains(test::error_of([&] { data::read_fixations(folder / "a.mat"); }),
                       "fixations of 2 pictures; expected one"));
}

TEST_CASE("fixations: OSIE's observers are joined and truncated to whole pixels") {
  const test::ScratchFolder folder;
  write_file(folder / "a.mat", test::osie_file({{"1001.jpg", {{1.9, 2.2}, {3, 4}}}}));
  const auto lists = data::read_fixation_lists(folder / "a.mat");
  REQUIRE(lists.size() == 1);
  CHECK(lists[0].stimulus == "1001.jpg");
  CHECK(lists[0].fixations == Fixations{{1, 2}, {3, 4}});
}

TEST_CASE("fixations: a MATLAB file of something else is refused") {
  const test::ScratchFolder folder;
  write_file(folder / "a.mat", test::mat_file(test::mat_numbers({1, 1}, "x", {1})));
  CHECK(test::contains(test::error_of([&] { data::read_fixations(folder / "a.mat"); }),
                       "holds no fixations that can be read"));
}

TEST_CASE("fixations: a table or a row that is too long is refused") {
  const test::ScratchFolder folder;
  CHECK(test::contains(error_of_file(folder, "row.csv", "x,y\n" + std::string(70'000, '1')),
                       "has a row of 70000 bytes; expected at most 65536"));
  write_file(folder / "long.csv", "x,y\n");
  std::filesystem::resize_file(folder / "long.csv", 17U << 20U);
  CHECK(test::contains(test::error_of([&] { data::read_fixations(folder / "long.csv"); }),
                       "too long; got more than the 16777216 bytes"));
}

TEST_CASE("fixations: arrays of three dimensions are refused, and empty ones have no fixations") {
  const test::ScratchFolder folder;
  const std::vector<double> four = {1, 2, 3, 4};
  const auto cube = test::mat_numbers({1, 2, 2}, "fixLocs", four);
  CHECK(test::contains(error_of_file(folder, "a.mat", test::mat_file(cube)), "height x width"));
  const auto cell =
      test::mat_array(test::kMatCell, {1, 1}, "fixCell", test::mat_numbers({1, 2, 2}, "", four));
  CHECK(test::contains(error_of_file(folder, "b.mat", test::mat_file(cell)),
                       "input: [data.fixations] " + (folder / "b.mat").string()));
  const auto none = test::mat_numbers({2147483647, 0}, "fixLocs", {});
  write_file(folder / "c.mat", test::mat_file(none));
  CHECK(data::read_fixations(folder / "c.mat").empty());
}
