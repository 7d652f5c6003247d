// SPDX-License-Identifier: Apache-2.0
// Videos end to end; ffmpeg is replaced by a script that copies frames unchanged.
#include <doctest/doctest.h>

#include "tests/models/msinet/use/run_samples.h"
#include "ubique/base/files/fault.h"
#include "ubique/base/text/csv.h"
#include "ubique/models/msinet/use/smoothing.h"
#include "ubique/models/msinet/use/video_files.h"

namespace ubique::msinet {
namespace {

struct Videos : test::RunFixture {
  Videos() {
    put("a.y4m", test::video_text(50, 31, 7));
    settings.output = folder / "seen.y4m";
  }
  void put(const std::string& name, const std::string& text) { write_file(folder / name, text); }
  /// Reads and writes what it is given: -i FILE ... -, or -i - ... FILE.
  void install_ffmpeg(const std::string& then = "exit 0") {
    std::filesystem::create_directories(folder / "bin");
    put("bin/ffmpeg",
        "#!/bin/sh\necho \"$@\" >> \"$(dirname \"$0\")/words\"\n"
        "for last; do :; done\nprevious=\nfor word; do\n"
        "  if [ \"$previous\" = -i ]; then input=$word; fi\n  previous=$word\ndone\n"
        "if [ \"$last\" = - ]; then cat \"${input#file:}\"; else cat > \"${last#file:}\"; fi\n" +
            then + "\n");
    std::filesystem::permissions(folder / "bin/ffmpeg", std::filesystem::perms::owner_all);
  }
  std::string search_path() const { return path("bin") + ":/usr/bin:/bin"; }
};

std::vector<io::Y4mFrame> frames_of(const std::string& text) {
  auto reader = test::video_reader(text);
  std::vector<io::Y4mFrame> frames;
  while (auto frame = reader.next()) frames.push_back(std::move(*frame));
  return frames;
}

}  // namespace

TEST_CASE("smoothing: earlier maps fade to 1/e in the given time, at any frame rate") {
  for (const double rate : {10.0, 30.0, 120.0}) {
    MapSmoother smoother(0.5, rate);
    const auto one = at::ones({2, 2}, at::TensorOptions(at::kFloat));
    CHECK(smoother.next(one).equal(one));  // the first one has no past
    at::Tensor last;
    for (int i = 0; i < static_cast<int>(rate / 2); ++i) last = smoother.next(at::zeros_like(one));
    CHECK(last[0][0].item<float>() == doctest::Approx(std::exp(-1)).epsilon(1e-4));
  }
  MapSmoother off(0, 25);
  off.next(at::ones({1, 1}, at::TensorOptions(at::kFloat)));
  CHECK(off.next(at::zeros({1, 1}, at::TensorOptions(at::kFloat))).item<float>() == 0);
}

TEST_CASE_FIXTURE(Videos, "video: as many frames of the same size and rate come out") {
  const auto done = video(path("a.y4m"));
  CHECK(done.frames == 7);
  CHECK(done.error.empty());
  const auto text = read_file(folder / "seen.y4m");
  const auto header = test::video_reader(text).header();
  CHECK(header.width == 50);
  CHECK(header.frames_per_second() == 10);
  const auto in = frames_of(read_file(folder / "a.y4m")), out = frames_of(text);
  CHECK(out.size() == 7);
  CHECK(out[0] != in[0]);
}

TEST_CASE_FIXTURE(Videos, "video: the number of threads does not change a frame") {
  video(path("a.y4m"), {3, 0, 0});
  const auto first = read_file(folder / "seen.y4m");
  for (const RunPace pace : {RunPace{3, 1, 1}, {3, 2, 4}, {3, 4, 1}}) {
    video(path("a.y4m"), pace);
    CHECK((read_file(folder / "seen.y4m") == first));
  }
}

TEST_CASE_FIXTURE(Videos, "video: smoothing brings neighbouring maps together") {
  settings.view = VideoView::Map;
  settings.style.palette = Palette::Grey;
  const auto change = [&](double seconds) {
    settings.smooth = seconds;
    video(path("a.y4m"));
    const auto frames = frames_of(read_file(folder / "seen.y4m"));
    double sum = 0;
    for (std::size_t i = 1; i < frames.size(); ++i) {
      for (std::size_t p = 0; p < 50 * 31; ++p) sum += std::abs(frames[i][p] - frames[i - 1][p]);
    }
    return sum;
  };
  CHECK(change(0.3) < 0.8 * change(0));
}

TEST_CASE_FIXTURE(Videos, "video: both views stand side by side, and grey videos gain colours") {
  settings.view = VideoView::Both;
  put("grey.y4m", "YUV4MPEG2 W8 H6 Cmono\nFRAME\n" + std::string(48, 'x'));
  CHECK(video(path("grey.y4m")).frames == 1);
  const auto text = read_file(folder / "seen.y4m");
  CHECK(test::contains(text, "W16 H6 F25:1 Ip A1:1 C420jpeg"));
  CHECK(frames_of(text).at(0).size() == 16 * 6 * 3 / 2);
}

TEST_CASE_FIXTURE(Videos, "video: shares of boxes and first fixations are listed for each frame") {
  settings.boxes = {{"left", 0, 0, 25, 31}, {"right", 25, 0, 25, 31}};
  settings.top = 2;
  video(path("a.y4m"), {2, 1, 2});
  const auto lines = parse_csv(read_file(folder / "seen_attention.csv"), "it");
  REQUIRE(lines.size() == 1 + 7 * 2);
  CHECK(lines[0].fields[1] == "time");
  CHECK(lines[4].fields[0] == "1");
  CHECK(lines[4].fields[1] == "0.100");
  CHECK(lines[4].fields[2] == "right");
  const auto share = [&](std::size_t line) { return std::stod(lines[line].fields[7]); };
  CHECK(share(3) + share(4) == doctest::Approx(1).epsilon(1e-5));
  CHECK(read_file(folder / "seen_fixations.csv")
            .starts_with("frame,time,rank,x,y,share\n0,0.000,1,"));
}

TEST_CASE_FIXTURE(Videos,
                  "video: a stream that breaks off gives the frames before, and the error") {
  const auto whole = read_file(folder / "a.y4m");
  put("cut.y4m", whole.substr(0, whole.size() / 2));
  const auto done = video(path("cut.y4m"), {2, 1, 1});
  CHECK(test::contains(done.error, "cut short in frame 4"));
  CHECK(done.frames == 3);
  CHECK(frames_of(read_file(folder / "seen.y4m")).size() == 3);
}

TEST_CASE_FIXTURE(Videos,
                  "video: what is none, is empty or too large is refused; nothing is written") {
  const auto refused = [&](const std::string& text) {
    put("b.y4m", text);
    const auto message = test::refusal_of(ErrorKind::Input, [&] { video(path("b.y4m")); });
    CHECK_FALSE(std::filesystem::exists(folder / "seen.y4m"));
    return message;
  };
  CHECK(test::contains(refused("no video"), "no YUV4MPEG2 video"));
  CHECK(test::contains(refused("YUV4MPEG2 W4 H4\n"), "holds no frames"));
  CHECK(test::contains(refused("YUV4MPEG2 W4 H4\nFRAME\nabc"), "cut short in frame 1"));
  settings.max_pixels = 100;
  CHECK(test::contains(refused(test::video_text(20, 20, 1)), "20 x 20 = 400 pixels"));
  CHECK(folder.count() == 2);  // no temporary files
}

TEST_CASE_FIXTURE(Videos, "video: a full disk ends it, and nothing is half-written") {
  arm_faults("file.write:6=enospc");
  test::refusal_of(ErrorKind::Input, [&] { video(path("a.y4m"), {1, 1, 2}); });
  arm_faults("");
  CHECK(folder.count() == 1);
}

TEST_CASE_FIXTURE(Videos, "video: asked to stop, it writes the frames that it has") {
  settings.stop = [] { return true; };
  const auto done = video(path("a.y4m"), {3, 1, 1});
  CHECK(done.stopped);
  CHECK(frames_of(read_file(folder / "seen.y4m")).size() == 3);
}

TEST_CASE_FIXTURE(Videos, "video: a folder of pictures is one, numbers counted as numbers") {
  std::filesystem::create_directories(folder / "frames");
  for (const int number : {1, 2, 10}) {
    io::write_png(folder / fmt::format("frames/f{}.png", number),
                  test::spot_picture(20, 10, number));
  }
  auto source = open_sequence(folder / "frames", 12.5);
  CHECK(source->header().frames_per_second() == 12.5);
  for (const int number : {1, 2, 10}) {
    CHECK((*source->next())().pixels == test::spot_picture(20, 10, number).pixels);
  }
  CHECK_FALSE(source->next().has_value());
  settings.sequence = true;
  CHECK(video(path("frames")).frames == 3);
  io::write_png(folder / "frames/f11.png", test::spot_picture(21, 10, 0));
  const auto done = video(path("frames"));
  CHECK(test::contains(done.error, "f11.png does not fit the sequence; got 21 x 10"));
  CHECK(done.frames == 3);
}

TEST_CASE_FIXTURE(Videos, "video: other kinds go through ffmpeg, in and out") {
  install_ffmpeg();
  const test::ScopedVariable search("PATH", search_path().c_str());
  std::filesystem::copy_file(folder / "a.y4m", folder / "a.mp4");
  CHECK(video(path("a.y4m")).frames == 7);
  const auto expected = read_file(folder / "seen.y4m");
  settings.output = folder / "seen.gif";
  CHECK(video(path("a.mp4")).frames == 7);
  CHECK((read_file(folder / "seen.gif") == expected));
  CHECK(folder.count() == 5);  // no temporary files
}

TEST_CASE_FIXTURE(Videos, "video: what players get has even sides, the last row repeated") {
  install_ffmpeg();
  const test::ScopedVariable search("PATH", search_path().c_str());
  video(path("a.y4m"));
  const auto plain = frames_of(read_file(folder / "seen.y4m")).at(0);  // 50 x 31
  settings.output = folder / "seen.mp4";
  video(path("a.y4m"));
  const auto text = read_file(folder / "seen.mp4");
  CHECK(text.starts_with("YUV4MPEG2 W50 H32 "));
  const auto even = frames_of(text).at(0);
  CHECK(std::equal(plain.begin(), plain.begin() + 50 * 31, even.begin()));
  CHECK(std::equal(even.begin() + 50 * 30, even.begin() + 50 * 31, even.begin() + 50 * 31));
}

TEST_CASE_FIXTURE(Videos, "video: the sound is copied, in another format encoded anew") {
  install_ffmpeg();
  const test::ScopedVariable search("PATH", search_path().c_str());
  std::filesystem::copy_file(folder / "a.y4m", folder / "a.mp4");
  const auto words_for = [&](const std::string& input, const std::string& output) {
    std::filesystem::remove(folder / "bin/words");
    settings.output = folder / output;
    video(path(input));
    return read_file(folder / "bin/words");
  };
  const auto sound = " -i file:" + path("a.mp4") + " -map 0:v -map 1:a?";
  CHECK(test::contains(words_for("a.mp4", "seen.mp4"), sound + " -c:a copy"));
  CHECK(test::contains(words_for("a.mp4", "seen.webm"), sound + " -pix_fmt"));
  CHECK_FALSE(test::contains(words_for("a.mp4", "seen.gif"), "-map"));
  CHECK_FALSE(test::contains(words_for("a.y4m", "seen.mp4"), "-map"));
}

TEST_CASE_FIXTURE(Videos, "video: names are files to ffmpeg, never addresses or lists") {
  install_ffmpeg();
  const test::ScopedVariable search("PATH", search_path().c_str());
  for (const auto* name : {"concat:a.mp4", "http:x.mp4", "-y.mp4"}) {
    CHECK(ffmpeg_name(name) == "file:" + std::filesystem::absolute(name).string());
  }
  std::filesystem::copy_file(folder / "a.y4m", folder / "concat:b.mp4");
  settings.output = folder / "http:" / "host" / "seen.mp4";
  CHECK(video(path("concat:b.mp4")).frames == 7);
  const auto words = read_file(folder / "bin/words");
  CHECK(test::contains(words, "-protocol_whitelist file -i file:" + path("concat:b.mp4") + " "));
  CHECK(test::contains(words, " file:" + path("http:/host/.ubique-")));
  CHECK(std::filesystem::exists(folder / "http:/host/seen.mp4"));
  std::filesystem::remove(folder / "bin/words");
  for (const auto* missing : {"concat:a.mp4|b.mp4", "http://localhost/film.mp4"}) {
    CHECK(
        test::contains(test::refusal_of(ErrorKind::Input, [&] { video(missing); }), "there is no"));
  }
  CHECK_FALSE(std::filesystem::exists(folder / "bin/words"));  // it was not started
}

TEST_CASE_FIXTURE(Videos, "video: errors of ffmpeg are passed on") {
  install_ffmpeg("echo 'moov atom not found' >&2; exit 1");
  const test::ScopedVariable search("PATH", search_path().c_str());
  put("a.mp4", "");
  CHECK(test::contains(test::refusal_of(ErrorKind::Input, [&] { video(path("a.mp4")); }),
                       "ffmpeg cannot read " + path("a.mp4") + "; it says 'moov atom not found'"));
  settings.output = folder / "seen.mp4";
  CHECK(test::contains(test::refusal_of(ErrorKind::Input, [&] { video(path("a.y4m")); }),
                       "ffmpeg cannot write " + path("seen.mp4") + "; it says 'moov atom"));
  CHECK(folder.count() == 3);
}

TEST_CASE_FIXTURE(Videos, "video: without ffmpeg the error says what to do") {
  const test::ScopedVariable search("PATH", path("bin").c_str());
  put("a.mp4", "x");
  const auto message = test::refusal_of(ErrorKind::Input, [&] { video(path("a.mp4")); });
  CHECK(test::contains(message, "needs the program ffmpeg"));
  CHECK(test::contains(message, "-f yuv4mpegpipe -pix_fmt yuv420p - | ubique run msinet -"));
  CHECK(test::contains(test::refusal_of(ErrorKind::Input, [&] { video(path("b.mp4")); }),
                       "there is no"));
  settings.output = folder / "seen.mp4";
  CHECK(test::contains(test::refusal_of(ErrorKind::Input, [&] { video(path("a.y4m")); }),
                       "a name that ends in .y4m"));
}

}  // namespace ubique::msinet
