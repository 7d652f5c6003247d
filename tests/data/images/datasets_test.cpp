// SPDX-License-Identifier: Apache-2.0
// The catalogue, matching of files by name, splits, and refused folders.
#include "ubique/data/images/datasets.h"

#include <algorithm>
#include <set>

#include "goldens.h"
#include "mat_samples.h"
#include "tests/base/scratch.h"
#include "ubique/base/files/file.h"
#include "ubique/data/images/fixations.h"
#include "ubique/data/images/splits.h"
#include "ubique/io/images/image.h"

using namespace ubique;
namespace fs = std::filesystem;

namespace {

void put(const fs::path& path, int width = 4, int height = 3) {
  make_folder(path.parent_path());
  const auto count = static_cast<std::size_t>(width * height);
  io::write_image(path, {width, height, 1, std::vector<std::uint8_t>(count, 100)});
}

std::string error_for(const data::SaliencyFolders& folders) {
  return test::error_of([&] { data::open_saliency_folders(folders); });
}

/// Ten pictures and maps below `root`.
void put_pairs(const fs::path& root, const std::string& part = "") {
  for (int i = 0; i < 10; ++i) {
    put(root / "stimuli" / part / fmt::format("{}.jpg", i));
    put(root / "saliency" / part / fmt::format("{}.png", i));
  }
}

data::SaliencyFolders folders_of(const fs::path& root) {
  return {root / "stimuli", root / "saliency", {}};
}

}  // namespace

TEST_CASE("datasets: the catalogue has sizes and splits") {
  CHECK(data::saliency_sets().size() == 8);
  for (const auto& set : data::saliency_sets()) {
    CHECK(set.frame.height % 8 == 0);
    CHECK(set.frame.width % 8 == 0);
    CHECK(set.train % set.classes == 0);
    CHECK(set.valid % set.classes == 0);
  }
  const auto& osie = data::saliency_set("osie");
  CHECK(osie.frame == data::FrameSize{240, 320});
  CHECK(osie.train + osie.valid == 700);
  CHECK(osie.sigma == 16);
  const auto error = test::error_of([] { data::saliency_set("salcon"); });
  CHECK(test::contains(error, "usage: [data.images] unknown data set 'salcon'"));
  CHECK(test::contains(error, "Did you mean 'salicon'?"));
}

TEST_CASE("datasets: folders are paired by name, in subfolders too, and split") {
  const test::ScratchFolder folder;
  put_pairs(folder.path(), "deep/er");
  put(folder / "stimuli/Output/x.jpg");
  put(folder / "stimuli/.hidden.jpg");
  write_file(folder / "stimuli/note.txt", "");
  const auto data = data::open_saliency_folders(folders_of(folder.path()), 2);
  CHECK(data.train.size() == 8);
  CHECK(data.valid.size() == 2);
  std::set<std::string> ids;
  for (const auto* part : {&data.train, &data.valid}) {
    for (const auto& sample : *part) {
      ids.insert(sample.id);
      CHECK(sample.stimulus.stem() == sample.map.stem());
    }
  }
  CHECK(ids.size() == 10);
  const auto order = data::numpy_shuffle(10);
  CHECK(data.train[0].id == fmt::format("deep/er/{}", order[0]));
}

TEST_CASE("datasets: folders train and val are the split") {
  const test::ScratchFolder folder;
  put_pairs(folder.path(), "train");
  put(folder / "stimuli/val/a.png");
  put(folder / "saliency/val/a.png");
  const auto data = data::open_saliency_folders(folders_of(folder.path()));
  CHECK(data.train.size() == 10);
  REQUIRE(data.valid.size() == 1);
  CHECK(data.valid[0].id == "val/a");
}

TEST_CASE("datasets: endings of map names and pictures of points are known") {
  const test::ScratchFolder folder;
  put(folder / "stimuli/a.jpeg");
  put(folder / "saliency/a_fixMap.jpg");
  put(folder / "saliency/a_fixPts.jpg");
  const auto data = data::open_saliency_folders(folders_of(folder.path()));
  REQUIRE(data.train.size() == 1);
  CHECK(data.train[0].map.filename() == "a_fixMap.jpg");
}

TEST_CASE("datasets: mispaired files are refused and both are named") {
  const test::ScratchFolder folder;
  put_pairs(folder.path());
  fs::rename(folder / "saliency/4.png", folder / "saliency/44.png");
  const auto error = error_for(folders_of(folder.path()));
  CHECK(test::contains(error, "input: [data.pairs]"));
  CHECK(test::contains(error, "4.jpg has no map of its name"));
  CHECK(test::contains(error, "44.png"));
}

TEST_CASE("datasets: a map too many or too few, or two of one name, is refused") {
  const test::ScratchFolder folder;
  put_pairs(folder.path());
  put(folder / "saliency/more.png");
  CHECK(test::contains(error_for(folders_of(folder.path())), "more.png belongs to no stimulus"));
  fs::remove(folder / "saliency/more.png");
  fs::remove(folder / "saliency/7.png");
  CHECK(test::contains(error_for(folders_of(folder.path())), "7.jpg has no map of its name"));
  put(folder / "saliency/7.png");
  put(folder / "saliency/7.jpg");
  CHECK(test::contains(error_for(folders_of(folder.path())), "two files have the same name"));
}

TEST_CASE("datasets: maps of another size are refused and both are named") {
  const test::ScratchFolder folder;
  put_pairs(folder.path());
  put(folder / "saliency/3.png", 3, 4);
  const auto error = error_for(folders_of(folder.path()));
  CHECK(test::contains(error, "3.jpg has 4 x 3 pixels"));
  CHECK(test::contains(error, "3.png has 3 x 4"));
}

TEST_CASE("datasets: missing and empty folders are input errors") {
  const test::ScratchFolder folder;
  CHECK(test::contains(error_for(folders_of(folder.path())), "input: [data.images] there is no"));
  make_folder(folder / "stimuli");
  CHECK(test::contains(error_for(folders_of(folder.path())), "no pictures in"));
  CHECK(test::contains(error_for({folder / "stimuli", {}, {}}), "usage: "));
  CHECK(test::contains(
      test::error_of([&] { data::open_saliency_set(folder.path(), data::saliency_set("osie")); }),
      "expected the folders stimuli and fixations (or saliency) there"));
}

TEST_CASE("datasets: an incomplete known set is refused with its counts") {
  const test::ScratchFolder folder;
  put_pairs(folder / "fiwi");
  const auto error =
      test::error_of([&] { data::open_saliency_set(folder.path(), data::saliency_set("fiwi")); });
  CHECK(test::contains(error, "expected 99 and 50"));
}

TEST_CASE("datasets: a whole set is split as NumPy would") {
  const test::ScratchFolder folder;
  for (int i = 0; i < 149; ++i) {
    put(folder / fmt::format("fiwi/stimuli/{:03}.png", i), 2, 2);
    put(folder / fmt::format("fiwi/saliency/{:03}.png", i), 2, 2);
  }
  const auto data = data::open_saliency_set(folder.path(), data::saliency_set("fiwi"));
  CHECK(data.train.size() == 99);
  CHECK(data.train[0].id == "073");
  CHECK(data.valid[0].id == "003");
}

TEST_CASE("datasets: missing maps are made from fixations") {
  const test::ScratchFolder folder;
  put(folder / "stimuli/a.png", 20, 10);
  make_folder(folder / "fixations");
  data::write_fixations(folder / "fixations/a.csv", {{3, 4}});
  data::SaliencyFolders folders{folder / "stimuli", {}, folder / "fixations"};
  folders.blur.sigma = 2;
  const auto data = data::open_saliency_folders(folders);
  const auto& sample = data.train.at(0);
  CHECK(data::read_stimulus(sample).channels == 3);
  const auto target = data::read_target(sample, data.blur);
  CHECK(target.height == 10);
  CHECK(target.width == 20);
  CHECK(std::ranges::max_element(target.values) - target.values.begin() == 4 * 20 + 3);
  data::write_fixations(folder / "fixations/a.csv", {});
  CHECK(test::contains(test::error_of([&] { data::read_target(sample, {2}); }),
                       "a.png has no fixation inside"));
}

TEST_CASE("datasets: one MATLAB file gives the fixations of all by name") {
  const test::ScratchFolder folder;
  put(folder / "stimuli/1001.jpg");
  put(folder / "stimuli/1002.jpg");
  make_folder(folder / "fixations");
  write_file(folder / "fixations/fixations.mat",
             test::osie_file({{"1002.jpg", {{2, 1}}}, {"1001.jpg", {{1, 0}}}}));
  const auto data = data::open_saliency_folders({folder / "stimuli", {}, folder / "fixations"});
  for (const auto* part : {&data.train, &data.valid}) {
    for (const auto& sample : *part) {
      const auto want = sample.id == "1001" ? data::Fixation{1, 0} : data::Fixation{2, 1};
      CHECK(data::fixations_of(sample) == std::vector{want});
    }
  }
}

TEST_CASE("datasets: lists without names are matched in numerical order") {
  const test::ScratchFolder folder;
  std::string cells;
  for (int i = 1; i <= 11; ++i) {
    put(folder / fmt::format("stimuli/{}.jpg", i));
    cells += test::mat_numbers({1, 2}, "", {1.0, static_cast<double>(i)});
  }
  write_file(folder / "all.mat",
             test::mat_file(test::mat_array(test::kMatCell, {1, 11}, "fixCell", cells)));
  const auto data = data::open_saliency_folders({folder / "stimuli", {}, folder / "all.mat"});
  for (const auto& sample : data.train) {
    CHECK(data::fixations_of(sample).at(0).x == std::stoi(sample.id) - 1);
  }
}
