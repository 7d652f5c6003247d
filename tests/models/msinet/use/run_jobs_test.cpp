// SPDX-License-Identifier: Apache-2.0
// Inputs to jobs: names of results, and inputs that are protected.
#include <doctest/doctest.h>

#include "tests/models/msinet/use/run_samples.h"
#include "ubique/models/msinet/use/video_files.h"

namespace ubique::msinet {
namespace {

struct Files : test::RunFixture {
  void put(const std::string& name) {
    std::filesystem::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << "x";
  }
  RunJobs list(const std::vector<std::string>& names) const {
    std::vector<std::string> inputs;
    for (const auto& name : names) inputs.push_back(name == "-" ? name : path(name));
    return list_run_jobs(inputs, settings);
  }
  std::vector<std::string> targets(const std::vector<std::string>& names) const {
    std::vector<std::string> found;
    for (const auto& job : list(names).pictures) {
      found.push_back(job.target.lexically_relative(folder / "out").string());
    }
    return found;
  }
  std::string refusal(ErrorKind kind, const std::vector<std::string>& names) const {
    return test::refusal_of(kind, [&] { list(names); });
  }
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE_FIXTURE(Files, "run jobs: subfolders are kept, and no two pictures share a name") {
  for (const auto* name : {"in/a.jpg", "in/a.png", "in/sub/a.PNG", "in/b.jpeg", "in/notes.txt"}) {
    put(name);
  }
  CHECK(targets({"in"}) == Names{"a.jpg", "a.png", "b", "sub/a"});
  CHECK(targets({"in/sub/a.PNG", "in/a.png"}) == Names{"a", "a_2"});
  CHECK(targets({"in/b.jpeg", "in/../in/b.jpeg", "in"}) == Names{"b", "a.jpg", "a.png", "sub/a"});
  put("in/a.jpg.png");
  CHECK(targets({"in"}) == Names{"a.jpg", "a.jpg_2", "a.png", "b", "sub/a"});
}

TEST_CASE_FIXTURE(Files,
                  "run jobs: names do not depend on the order of pictures that share a stem") {
  put("a.jpg");
  put("a.png");
  CHECK(targets({"a.jpg", "a.png"}) == Names{"a.jpg", "a.png"});
  CHECK(targets({"a.png", "a.jpg"}) == Names{"a.png", "a.jpg"});
}

TEST_CASE_FIXTURE(Files, "run jobs: a link beside its target is a picture of its own") {
  put("in/sub/a.png");
  std::filesystem::create_symlink("sub/a.png", folder / "in/first.png");
  std::filesystem::create_directory_symlink("sub", folder / "in/linked");
  std::filesystem::create_directory_symlink(".", folder / "in/around");
  CHECK(targets({"in"}) == Names{"first", "sub/a"});
  const auto left_out = list({"in"}).left_out;
  const auto is_named = [&](const std::string& name) {
    return std::ranges::any_of(left_out, [&](const LeftOut& file) {
      return file.file == folder / name && test::contains(file.why, "the same file as");
    });
  };
  CHECK(is_named("in/linked/a.png"));
  CHECK(is_named("in/around/first.png"));
}

TEST_CASE_FIXTURE(Files, "run jobs: files that are no pictures are named") {
  for (const auto* name : {"in/a.png", "in/b.webp", "in/c.mp4", "in/sub/d.bmp", "in/sub/e.txt"}) {
    put(name);
  }
  const auto left_out = list({"in"}).left_out;
  CHECK(left_out.size() == 4);
  const auto text = left_out_text(left_out);
  CHECK(text.starts_with("4 files left out: " + path("in/b.webp") + " (neither PNG nor JPEG), "));
  CHECK(test::contains(text, path("in/c.mp4") + " (a video; name it by itself)"));
  CHECK(text.ends_with(", 1 more"));
  CHECK(list({"in/a.png"}).left_out.empty());
  std::filesystem::remove(folder / "in/a.png");
  CHECK(test::contains(refusal(ErrorKind::Input, {"in"}), "4 files left out: "));
}

TEST_CASE_FIXTURE(Files, "run jobs: results of an earlier run below the folder are left out") {
  put("in/a.jpg");
  put("in/out/a_overlay.png");
  settings.output = folder / "in/out";
  CHECK(list({"in"}).pictures.size() == 1);
  CHECK(list({"in/out/a_overlay.png"}).pictures.size() == 1);  // asked for by name
}

TEST_CASE_FIXTURE(Files, "run jobs: a folder without pictures and a missing file are named") {
  std::filesystem::create_directories(folder / "empty");
  put("films/a.mp4");
  CHECK(test::contains(refusal(ErrorKind::Input, {"empty"}), "no picture found"));
  CHECK(test::contains(refusal(ErrorKind::Input, {"films"}), "videos are named one by one"));
  CHECK(test::contains(refusal(ErrorKind::Input, {"nothing"}), "nothing"));
}

TEST_CASE_FIXTURE(Files, "run jobs: nothing overwrites an input") {
  put("in/a.png");
  put("in/a_saliency.png");
  settings.output = folder / "in";
  CHECK(test::contains(refusal(ErrorKind::Usage, {"in"}), "in/a_saliency.png, expected another"));
  CHECK(list({"in/a.png"}).pictures.size() == 1);  // an old result may be replaced
  put("in/a.y4m");
  settings.output = folder / "in/../in/a.y4m";
  CHECK(test::contains(refusal(ErrorKind::Usage, {"in/a.y4m"}), "overwrite an input"));
}

TEST_CASE_FIXTURE(Files, "run jobs: videos are known by their names, and their results have some") {
  put("in/a.y4m");
  put("in/a.MP4");
  put("in/b.png");
  std::filesystem::create_directories(folder / "frames.y4m");
  CHECK(is_video_name("x.MOV"));
  CHECK_FALSE(is_video_name("x.png"));
  CHECK(needs_ffmpeg("x.webm"));
  CHECK_FALSE(needs_ffmpeg("x.y4m"));
  const auto jobs = list({"in/a.y4m", "in/a.MP4", "in/b.png", "-"});
  REQUIRE(jobs.videos.size() == 3);
  CHECK(jobs.pictures.size() == 1);
  CHECK(jobs.videos[0].output == folder / "out/a_overlay.y4m");
  CHECK(jobs.videos[1].output == folder / "out/a_2_overlay.mp4");
  CHECK(jobs.videos[2].output == folder / "out/stdin_overlay.y4m");
  CHECK(jobs.videos[1].tables == folder / "out/a_2");
  settings.output = "-";
  CHECK(list({"in/a.y4m"}).videos.at(0).output == "-");
  CHECK(list({"in/a.y4m"}).videos.at(0).tables == "a");
  CHECK(test::contains(refusal(ErrorKind::Usage, {"in/a.y4m", "in/a.MP4"}), "0 pictures and 2"));
  CHECK(
      test::contains(refusal(ErrorKind::Usage, {"in/b.png"}), "1 pictures and 0 videos for -o -"));
  settings.output = folder / "seen.mp4";
  CHECK(list({"in/a.y4m"}).videos.at(0).tables == folder / "seen");
  settings.sequence = true;
  CHECK(list({"in"}).videos.at(0).sequence);
}

}  // namespace ubique::msinet
