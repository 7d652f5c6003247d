// SPDX-License-Identifier: Apache-2.0
// A small copy of every data set of the catalogue, in the layout of its publisher (or of the
// original program): it opens, is split, and has maps and fixations.
#include <algorithm>

#include "mat_samples.h"
#include "tests/base/scratch.h"
#include "ubique/base/files/file.h"
#include "ubique/data/images/datasets.h"
#include "ubique/data/images/fixations.h"
#include "ubique/io/images/image.h"

using namespace ubique;
namespace fs = std::filesystem;

namespace {

constexpr int kWidth = 24, kHeight = 16;

/// Dark, with one bright pixel.
void put_picture(const fs::path& path, int x = 5, int y = 3) {
  make_folder(path.parent_path());
  std::vector<std::uint8_t> pixels(kWidth * kHeight, 20);
  pixels[static_cast<std::size_t>(y * kWidth + x)] = 250;
  io::write_image(path, {kWidth, kHeight, 1, pixels});
}

void put_text(const fs::path& path, const std::string& content) {
  make_folder(path.parent_path());
  write_file(path, content);
}

/// The set with other counts.
data::SaliencySet small_set(const char* name, int train, int valid, int classes = 1) {
  auto set = data::saliency_set(name);
  set.train = train;
  set.valid = valid;
  set.classes = classes;
  return set;
}

/// Opens it, and the map and the fixations of every sample: `x`, `y` is among them.
data::SaliencyData opened(const test::ScratchFolder& folder, const data::SaliencySet& set,
                          data::Fixation expected = {5, 3}) {
  auto data = data::open_saliency_set(folder.path(), set, 2);
  CHECK(data.frame == set.frame);
  CHECK(data.train.size() == static_cast<std::size_t>(set.train));
  CHECK(data.valid.size() == static_cast<std::size_t>(set.valid));
  for (const auto* part : {&data.train, &data.valid}) {
    for (const auto& sample : *part) {
      CAPTURE(sample.id);
      const auto target = data::read_target(sample, data.blur);
      CHECK(target.width == kWidth);
      CHECK(target.height == kHeight);
      if (!sample.has_fixations()) continue;
      const auto fixations = data::fixations_of(sample);
      CHECK(std::ranges::find(fixations, expected) != fixations.end());
    }
  }
  return data;
}

}  // namespace

TEST_CASE("layouts: sizes and splits of the catalogue are the original's") {
  struct Row {
    const char* name;
    data::FrameSize frame;
    int train, valid;
    double sigma;
  };
  const Row rows[] = {
      {"salicon", {240, 320}, 10000, 5000, 0}, {"mit1003", {360, 360}, 803, 200, 0},
      {"cat2000", {216, 384}, 1600, 400, 0},   {"dutomron", {360, 360}, 4168, 1000, 16},
      {"pascals", {360, 360}, 650, 200, 0},    {"osie", {240, 320}, 500, 200, 16},
      {"fiwi", {216, 384}, 99, 50, 30},        {"fixationadd1000", {360, 360}, 800, 200, 0}};
  for (const auto& row : rows) {
    CAPTURE(row.name);
    const auto& set = data::saliency_set(row.name);
    CHECK(set.frame == row.frame);
    CHECK(set.train == row.train);
    CHECK(set.valid == row.valid);
    CHECK(set.sigma == row.sigma);
  }
}

TEST_CASE("layouts: SALICON has folders train and val, and MATLAB files of observers") {
  const test::ScratchFolder folder;
  for (const auto& [part, count] : {std::pair{"train", 3}, {"val", 2}}) {
    for (int i = 0; i < count; ++i) {
      const auto name = fmt::format("{}/COCO_{}2014_{:012}", part, part, i);
      put_picture(folder / "salicon" / "stimuli" / (name + ".jpg"));
      put_picture(folder / "salicon" / "saliency" / (name + ".png"));
      put_text(folder / "salicon" / "fixations" / (name + ".mat"),
               test::salicon_file({{{6, 4}}, {{2, 2}}}));
    }
  }
  const auto data = opened(folder, small_set("salicon", 3, 2));
  CHECK(data::fixation_list_of(data.valid[0]).observers == std::vector{0, 1});
  CHECK(data.valid[0].id == "val/COCO_val2014_000000000000");
}

TEST_CASE("layouts: MIT1003 has maps *_fixMap beside a stray *_fixPts") {
  const test::ScratchFolder folder;
  for (int i = 0; i < 5; ++i) {
    put_picture(folder / fmt::format("mit1003/stimuli/i{:03}.jpeg", i));
    put_picture(folder / fmt::format("mit1003/saliency/i{:03}_fixMap.jpg", i));
    put_picture(folder / fmt::format("mit1003/fixations/i{:03}_fixPts.png", i));
  }
  put_picture(folder / "mit1003/saliency/i002_fixPts.jpg");
  opened(folder, small_set("mit1003", 3, 2));
}

TEST_CASE("layouts: CAT2000 has classes with folders Output, and MATLAB files of pixels") {
  const test::ScratchFolder folder;
  std::vector<double> pixels(kWidth * kHeight);
  pixels[5 * kHeight + 3] = 1;  // column 5, row 3
  for (const std::string kind : {"Action", "Social"}) {
    for (int i = 1; i <= 5; ++i) {
      const auto name = fmt::format("{}/{:03}", kind, i);
      put_picture(folder / "cat2000" / "stimuli" / (name + ".jpg"));
      put_picture(folder / "cat2000" / "saliency" / (name + ".jpg"));
      put_text(folder / "cat2000" / "fixations" / (name + ".mat"),
               test::mat_file(test::mat_numbers({kHeight, kWidth}, "fixLocs", pixels)));
    }
    put_picture(folder / "cat2000" / "stimuli" / kind / "Output" / "001_SaliencyMap.jpg");
  }
  const auto data = opened(folder, small_set("cat2000", 8, 2, 2));
  // The same indices in each class.
  CHECK(data.valid[0].id.substr(data.valid[0].id.size() - 3) ==
        data.valid[1].id.substr(data.valid[1].id.size() - 3));
}

TEST_CASE("layouts: DUT-OMRON has one MATLAB table per picture and no maps") {
  const test::ScratchFolder folder;
  for (int i = 0; i < 5; ++i) {
    put_picture(folder / fmt::format("dutomron/stimuli/im{:03}.jpg", i));
    put_text(folder / fmt::format("dutomron/fixations/im{:03}.mat", i),
             test::omron_file(kWidth, kHeight, {{5, 3}, {9, 9}}));
  }
  const auto data = opened(folder, small_set("dutomron", 3, 2));
  CHECK(data::fixations_of(data.train[0]).size() == 2);  // the size is no fixation
}

TEST_CASE("layouts: PASCAL-S has numbered pictures, maps and one file of rows and columns from 1") {
  const test::ScratchFolder folder;
  std::string cells;
  for (int i = 1; i <= 5; ++i) {
    put_picture(folder / fmt::format("pascals/stimuli/{}.jpg", i));
    put_picture(folder / fmt::format("pascals/saliency/{}.png", i));
    cells += test::mat_numbers({2, 2}, "", {4, 1, 6, 1});
  }
  put_text(folder / "pascals/fixations/fixations.mat",
           test::mat_file(test::mat_array(test::kMatCell, {5, 1}, "fixCell", cells)));
  opened(folder, small_set("pascals", 3, 2));
}

TEST_CASE("layouts: OSIE has one file of observers and no maps") {
  const test::ScratchFolder folder;
  std::vector<test::OsiePicture> pictures;
  for (int i = 1001; i <= 1005; ++i) {
    put_picture(folder / fmt::format("osie/stimuli/{}.jpg", i));
    pictures.push_back({fmt::format("{}.jpg", i), {{5.7, 3.2}, {1, 1}, {8, 8}}});
  }
  put_text(folder / "osie/fixations/fixations.mat", test::osie_file(pictures));
  const auto data = opened(folder, small_set("osie", 3, 2));
  CHECK(data::fixation_list_of(data.train[0]).observers == std::vector{0, 1, 2});
}

TEST_CASE("layouts: FiWI has pictures of points") {
  const test::ScratchFolder folder;
  for (int i = 0; i < 5; ++i) {
    put_picture(folder / fmt::format("fiwi/stimuli/page{}.png", i));
    put_picture(folder / fmt::format("fiwi/fixations/page{}_all5.png", i));
  }
  opened(folder, small_set("fiwi", 3, 2));
}

TEST_CASE("layouts: fixationadd1000 keeps its maps in saliency or in fixation, as they are") {
  for (const char* name : {"saliency", "fixation"}) {
    const test::ScratchFolder folder;
    for (int i = 0; i < 5; ++i) {
      put_picture(folder / fmt::format("fixationadd1000/stimuli/{}.jpg", i));
      put_picture(folder / "fixationadd1000" / name / fmt::format("{}.png", i));
    }
    const auto data = opened(folder, small_set("fixationadd1000", 4, 1));
    CHECK(data::read_target(data.train[0], data.blur).values[3 * kWidth + 5] == 250);
  }
}
