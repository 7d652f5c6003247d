// SPDX-License-Identifier: Apache-2.0
// Progress bars, plain lines and JSON lines, drawn with a fake clock.
#include "ubique/base/terminal/progress.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <thread>
#include <vector>

#include "tests/base/scratch.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/text.h"

using namespace ubique;
using test::contains;

namespace {

/// A progress with a clock that only the test advances.
struct Stage {
  explicit Stage(ProgressStyle style, std::int64_t total = 100) {
    Progress::Options options;
    options.title = "probe";
    options.total = total;
    options.style = style;
    progress = std::make_unique<Progress>(options, out,
                                          [this] { return std::chrono::duration<double>(now); });
  }
  std::string taken() {
    auto text = out.str();
    out.str("");
    return text;
  }

  double now = 1000;
  std::ostringstream out;
  std::unique_ptr<Progress> progress;
};

}  // namespace

TEST_CASE("progress: a bar shows share, counts, rate, time left and note") {
  const test::ScopedVariable columns("COLUMNS", "80");
  Stage stage(ProgressStyle::Bar);
  stage.now += 5;
  stage.progress->advance(62, "conv3d");
  CHECK(stage.taken() ==
        "\r\x1b[Kprobe  ▕█████████████████░░░░░░░░░░░░▏ 62/100  62%  12.4 it/s  ETA 0:04  conv3d");
  stage.now += 3;
  stage.progress->advance(38);
  stage.taken();
  stage.progress->finish("done");
  CHECK(
      stage.taken() ==
      "\r\x1b[Kprobe  ▕█████████████████████████████████▏ 100/100  100%  12.5 it/s  0:08  done\n");
  stage.progress->advance(1);
  stage.progress->finish();
  CHECK(stage.taken().empty());
}

TEST_CASE("progress: a bar is redrawn no more often than its interval") {
  Stage stage(ProgressStyle::Bar);
  stage.progress->advance();
  CHECK_FALSE(stage.taken().empty());
  stage.now += 0.05;
  stage.progress->advance();
  CHECK(stage.taken().empty());
  stage.now += 0.06;
  stage.progress->advance();
  CHECK(contains(stage.taken(), "3/100"));
}

TEST_CASE("progress: a bar fits the terminal, however narrow") {
  for (const auto* width : {"1", "5", "20", "40", "60", "200"}) {
    const test::ScopedVariable columns("COLUMNS", width);
    Stage stage(ProgressStyle::Bar);
    stage.now += 2;
    stage.progress->advance(50, "a rather long note about what is done");
    const auto line = stage.taken().substr(4);
    CAPTURE(line);
    CHECK(display_width(line) < static_cast<std::size_t>(std::max(2, std::atoi(width))));
    CHECK(contains(line, "▕") == (std::atoi(width) == 200));
  }
}

TEST_CASE("progress: a bar destroyed before finish() clears its line") {
  std::ostringstream out;
  {
    Progress progress({"probe", 10, "it", ProgressStyle::Bar, 0.1, 5}, out);
    progress.advance();
    out.str("");
  }
  CHECK(out.str() == "\r\x1b[K");
}

TEST_CASE("progress: notes cannot break the line") {
  Stage stage(ProgressStyle::Lines);
  stage.progress->finish("two\nlines\x1b[2J");
  CHECK(stage.taken() == "probe  0/100  0%  0:00  two\\x0alines\\x1b[2J\n");
}

TEST_CASE("progress: plain lines come at intervals, and once more at the end") {
  Stage stage(ProgressStyle::Lines);
  stage.progress->advance(10);
  CHECK(stage.taken().empty());
  stage.now += 5;
  stage.progress->advance(10);
  CHECK(stage.taken() == "probe  20/100  20%  4.00 it/s  ETA 0:20\n");
  stage.now += 4;
  stage.progress->advance(10);
  CHECK(stage.taken().empty());
  stage.now += 3700;
  stage.progress->advance(1);
  CHECK(stage.taken() == "probe  31/100  31%  0.01 it/s  ETA 2:17:36\n");
  stage.progress->finish();
  CHECK(stage.taken() == "probe  31/100  31%  0.01 it/s  1:01:49\n");
}

TEST_CASE("progress: without a total there are counts and elapsed time only") {
  Stage stage(ProgressStyle::Bar, 0);
  stage.now += 2;
  stage.progress->advance(50'000);
  CHECK(stage.taken() == "\r\x1b[Kprobe  50000  25.0k it/s  0:02");
}

TEST_CASE("progress: JSON lines are JSON with the same figures") {
  Stage stage(ProgressStyle::JsonLines);
  stage.now += 5;
  stage.progress->advance(50, "half \xff");
  const auto line = parse_json(stage.taken(), "line");
  CHECK(line["event"] == "progress");
  CHECK(line["title"] == "probe");
  CHECK(line["done"] == 50);
  CHECK(line["total"] == 100);
  CHECK(line["rate"] == 10.0);
  CHECK(line["eta_seconds"] == 5.0);
  CHECK(line["finished"] == false);
  stage.progress->finish();
  CHECK(parse_json(stage.taken(), "line")["finished"] == true);
  Stage unknown(ProgressStyle::JsonLines, 0);
  unknown.progress->finish();
  const auto last = parse_json(unknown.taken(), "line");
  CHECK(last["total"].is_null());
  CHECK(last["rate"].is_null());
  CHECK(last["eta_seconds"].is_null());
}

TEST_CASE("progress: more steps than announced is a full bar, not a broken one") {
  const test::ScopedVariable columns("COLUMNS", "80");
  Stage stage(ProgressStyle::Bar);
  stage.now += 1;
  stage.progress->advance(250);
  const auto line = stage.taken();
  CHECK(contains(line, "250/100  100%"));
  CHECK(contains(line, "ETA 0:00"));
}

TEST_CASE("progress: the silent style writes nothing") {
  Stage stage(ProgressStyle::Silent);
  stage.now += 100;
  stage.progress->advance(50);
  stage.progress->finish();
  CHECK(stage.taken().empty());
}

TEST_CASE("progress: a log line clears the bar first and redraws it afterwards") {
  const test::ScopedVariable columns("COLUMNS", "80");
  Stage stage(ProgressStyle::Bar), lines(ProgressStyle::Lines), idle(ProgressStyle::Bar);
  stage.progress->advance(62, "conv3d");
  const auto drawn = stage.taken();
  std::string seen;
  Progress::without_bars([&] { seen = stage.taken(); });
  CHECK(seen == "\r\x1b[K");
  CHECK(stage.taken() == drawn);
  CHECK(lines.taken().empty());
  CHECK(idle.taken().empty());  // a bar that was not drawn yet stays so
  log::error("this line is part of a test");
  CHECK(stage.taken() == "\r\x1b[K" + drawn);
  stage.progress->finish();
  stage.taken();
  Progress::without_bars([] {});
  CHECK(stage.taken().empty());
}

TEST_CASE("progress: steps from several threads are all counted") {
  Stage stage(ProgressStyle::Lines, 40'000);
  std::vector<std::thread> workers;
  for (int worker = 0; worker < 4; ++worker) {
    workers.emplace_back([&] {
      for (int i = 0; i < 10'000; ++i) stage.progress->advance(1, "busy");
    });
  }
  for (auto& worker : workers) worker.join();
  stage.progress->finish();
  CHECK(contains(stage.taken(), "40000/40000  100%"));
}

TEST_CASE("progress: flags choose the style before the terminal does") {
  CHECK(Progress::choose_style(STDERR_FILENO, true, false) == ProgressStyle::JsonLines);
  CHECK(Progress::choose_style(STDERR_FILENO, false, true) == ProgressStyle::Silent);
  CHECK(Progress::choose_style(STDERR_FILENO, true, true) == ProgressStyle::Silent);
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  CHECK(Progress::choose_style(ends[1], false, false) == ProgressStyle::Lines);
  ::close(ends[0]);
  ::close(ends[1]);
}
