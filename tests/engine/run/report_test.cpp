// SPDX-License-Identifier: Apache-2.0
// The report page: content, escaping, charts, and its text helpers.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <utility>

#include "tests/base/scratch.h"
#include "ubique/engine/run/report_chart.h"
#include "ubique/engine/run/report_curves.h"
#include "ubique/engine/run/report_page.h"
#include "ubique/engine/run/report_text.h"

using namespace ubique;
using namespace ubique::engine;
using test::contains;

namespace {

std::vector<StepRecord> sample_steps(std::int64_t count) {
  std::vector<StepRecord> steps;
  for (std::int64_t step = 1; step <= count; ++step) {
    const auto x = static_cast<double>(step);
    steps.push_back({step,
                     step / 10,
                     1 / std::sqrt(x),
                     1e-3,
                     2 + std::sin(x),
                     1,
                     40,
                     1LL << 30,
                     1LL << 31,
                     {{"accuracy", 0.5}},
                     step == 7});
  }
  return steps;
}

std::vector<EpochRecord> sample_epochs(std::int64_t count) {
  std::vector<EpochRecord> epochs;
  for (std::int64_t epoch = 0; epoch < count; ++epoch) {
    epochs.push_back({epoch, 10 * (epoch + 1), 0.4, {{"dice", 0.8125}, {"avd", 12}}, 5, true});
  }
  return epochs;
}

std::string page_of(const ReportContent& content, const std::vector<StepRecord>& steps,
                    const std::vector<EpochRecord>& epochs, const std::string& yaml = "") {
  return report_page({content, steps, epochs, yaml, 1'800'000'000});
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

std::vector<std::string> titles_of(const std::vector<Chart>& charts) {
  std::vector<std::string> titles;
  for (const auto& chart : charts) {
    if (!chart_figure(chart).empty()) titles.push_back(chart.title);
  }
  return titles;
}

}  // namespace

TEST_CASE("report: the page shows the run's figures, plan, memory and pictures") {
  plan::Plan plan;
  plan.machine = "NVIDIA H200";
  plan.dtype = {DType::BF16, "native here", {{"f16", "needs a scaler"}}};
  plan.memory.weights = 1LL << 30;
  plan.memory.activations = 1LL << 31;
  plan.memory.total = 3LL << 30;
  const ReportContent content{"lesions, fold 2",
                              &plan,
                              3LL << 30,
                              3'060'164'198,
                              {{"a slice", "PNG"}},
                              "finished",
                              Json{{"parameters", 147474}}};
  const auto page = page_of(content, sample_steps(50), sample_epochs(5), "lr: 0.001\n");
  for (const char* part :
       {"<title>lesions, fold 2</title>", "NVIDIA H200", "status good", "2027-01-15T08:00:00Z",
        "Best dice</dt><dd>0.8125", "native here", "<b>f16</b>: needs a scaler", "= <b>0.950</b>",
        "weights 1.0 GiB", "data:image/png;base64,UE5H", "a slice", "147,474", "lr: 0.001",
        "1 skipped"}) {
    CAPTURE(part);
    CHECK(contains(page, part));
  }
  CHECK(!contains(page, "{{"));
}

TEST_CASE("report: the status has the colour of its meaning") {
  const auto colour_of = [](const std::string& status) {
    ReportContent content;
    content.status = status;
    const auto page = page_of(content, {}, {});
    const auto begin = page.find("class=\"status ") + 14;
    return page.substr(begin, page.find('"', begin) - begin);
  };
  CHECK(colour_of("running") == "busy");
  CHECK(colour_of("finished") == "good");
  CHECK(colour_of("stopped early") == "good");
  CHECK(colour_of("interrupted") == "warn");
  CHECK(colour_of("stopped: gradients that are not finite") == "bad");
}

TEST_CASE("report: the page loads nothing from elsewhere") {
  const auto page = page_of({}, sample_steps(50), sample_epochs(5));
  for (const char* part : {"http:", "https:", "src=\"/", "url(", "@import", "<link"}) {
    CAPTURE(part);
    CHECK(!contains(page, part));
  }
}

TEST_CASE("report: a sound is a player; too many bytes are links to the run's files, or left out") {
  ReportContent content;
  content.sounds = {{"epoch 1 <b>", "wav", "RIFF", "previews/1.wav"},
                    {"long", "ogg", std::string(std::size_t{5} << 20U, 'x'), "previews/2.ogg"},
                    {"long, nowhere", "ogg", std::string(std::size_t{5} << 20U, 'x')}};
  const auto page = page_of(content, {}, {});
  CHECK(contains(page, "<audio controls preload=\"none\" src=\"data:audio/wav;base64,UklGRg==\">"));
  CHECK(contains(page, "epoch 1 &lt;b&gt;"));
  CHECK(contains(page, "src=\"previews/2.ogg\""));
  CHECK(!contains(page, "nowhere"));
  CHECK(count_of(page, "<audio") == 2);
  CHECK(page.size() < (std::size_t{1} << 20U));
}

TEST_CASE("report: every text from outside is escaped") {
  const std::string evil = "<script>alert('x')</script>\"&";
  plan::Plan plan;
  plan.machine = evil;
  plan.device = {evil, evil, {{evil, evil}}};
  plan.workarounds = {{evil, evil}};
  plan.budget_reason = evil;
  plan.memory.budget = 1;
  ReportContent content{evil, &plan, 1, 1, {{evil, evil}}, evil, Json{{evil, evil}}};
  auto steps = sample_steps(3);
  for (auto& step : steps) step.metrics = {{evil, 5}};
  auto epochs = sample_epochs(2);
  for (auto& epoch : epochs) epoch.scores = {{evil, 0.5}};
  const auto page = page_of(content, steps, epochs, evil);
  CHECK(count_of(page, "<script>") == 1);  // the page's own
  CHECK(!contains(page, "alert('x')"));
  CHECK(contains(page, "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&quot;&amp;"));
}

TEST_CASE("report: a run that has just begun has a page too") {
  const auto page = page_of({}, {}, {});
  CHECK(contains(page, "No step has been recorded yet"));
  CHECK(!contains(page, "<figure"));
  CHECK(contains(page_of({}, sample_steps(1), {}), "class=\"dots s0\""));
}

TEST_CASE("report: non-finite losses only interrupt the line") {
  auto steps = sample_steps(40);
  for (std::size_t i = 0; i < 5; ++i) steps[10 + i].loss = std::nan("");
  steps[20].loss = INFINITY;
  const auto page = page_of({}, steps, {});
  CHECK(!contains(page, "nan"));
  CHECK(!contains(page, "inf"));
  for (auto& step : steps) step.loss = std::nan("");
  CHECK(contains(page_of({}, steps, {}), "not a number"));  // the tile says so
}

TEST_CASE("report: curves between -1 and 1 share a chart, others have their own") {
  auto epochs = sample_epochs(3);
  for (auto& epoch : epochs) epoch.scores.emplace_back("val_loss", 0.5);
  CHECK(titles_of(run_charts(sample_steps(20), epochs, 0)) ==
        std::vector<std::string>{"Loss", "Validation", "Validation: avd", "Training",
                                 "Learning rate", "Gradient norm", "Throughput", "Memory"});
  const auto charts = run_charts(sample_steps(200), epochs, 5);
  std::vector<std::string> names;
  for (const auto& series : charts[0].series) names.push_back(series.name);
  CHECK(names ==
        std::vector<std::string>{"training, mean", "training", "val_loss", "skipped steps"});
}

TEST_CASE("report: long curves are thinned out and keep their peaks") {
  ChartPoints points;
  for (int i = 0; i < 10'000; ++i) points.push_back({static_cast<double>(i), std::sin(0.01 * i)});
  points[1234].y = 50;
  points[4321].y = -50;
  points[777].y = std::nan("");
  const auto few = thin_out(points, 400);
  CHECK(few.size() <= 400);
  CHECK(few.size() > 200);
  const auto has = [&](double y) {
    return std::any_of(few.begin(), few.end(), [&](const auto& point) { return point.y == y; });
  };
  CHECK(few.front().x == 0);
  CHECK(few.back().x == 9999);
  CHECK(has(50));
  CHECK(has(-50));
  CHECK(std::is_sorted(few.begin(), few.end(),
                       [](const auto& a, const auto& b) { return a.x < b.x; }));
  CHECK(thin_out(points, 10'000).size() == 10'000);
  const auto page = page_of({}, sample_steps(10'000), sample_epochs(100));
  CHECK(page.size() < 400'000);
}

TEST_CASE("report: smoothing takes the mean of the finite values around a point") {
  const auto means = smooth({{0, 1}, {1, std::nan("")}, {2, 3}, {3, 5}}, 2);
  CHECK(means[0].y == 1);
  CHECK(means[1].y == 2);
  CHECK(means[2].y == 4);
  CHECK(means[3].y == 4);
}

TEST_CASE("report: a chart with a wide range of positive values has a logarithmic scale") {
  const auto figure_of = [](double low) {
    return chart_figure({"x", ChartUnit::Number, {{"y", {{0, low}, {1, 10}}, LineStyle::Line}}});
  };
  CHECK(contains(figure_of(0.01), "log scale"));
  CHECK(contains(figure_of(0.01), ">0.1<"));
  CHECK(!contains(figure_of(1), "log scale"));
  CHECK(!contains(figure_of(0), "log scale"));
}

TEST_CASE(
    "report: values one rounding apart, huge, tiny and equal ones have a chart of few ticks") {
  constexpr auto kMost = std::numeric_limits<double>::max();
  constexpr auto kLeast = std::numeric_limits<double>::denorm_min();
  const std::vector<std::pair<double, double>> pairs = {{2.5, 2.5000000000000004},
                                                        {-2.5, -2.5000000000000004},
                                                        {1e18, 1e18 + 128},
                                                        {7, 7},
                                                        {0, kLeast},
                                                        {kLeast, 1},
                                                        {-1e300, 1e300},
                                                        {0, kMost},
                                                        {-kMost, kMost},
                                                        {1, INFINITY},
                                                        {NAN, -INFINITY}};
  for (const auto& [first, second] : pairs) {
    CAPTURE(first);
    CAPTURE(second);
    for (const auto unit : {ChartUnit::Number, ChartUnit::Bytes}) {
      const auto figure = chart_figure({"Loss", unit, {{"loss", {{1, first}, {2, second}}}}});
      CHECK(count_of(figure, "<span") < 40);
      CHECK_FALSE(contains(figure, "%\">nan"));
      CHECK_FALSE(contains(figure, "d=\"Mnan"));
    }
  }
  const auto steps = chart_figure({"Loss", ChartUnit::Number, {{"loss", {{1e15, 1}, {1e15, 2}}}}});
  CHECK(count_of(steps, "<span") < 40);
}

TEST_CASE("report: a chart has a description for screen readers") {
  const auto figure = chart_figure(
      {"Loss", ChartUnit::Number, {{"training", {{1, 2.5}, {2, 4}, {3, 0.5}}, LineStyle::Line}}});
  CHECK(contains(figure,
                 "aria-label=\"Loss. training: from 2.5 at step 1 to 0.5 at step 3, lowest "
                 "0.5, highest 4.\""));
}

TEST_CASE("report: numbers, counts and durations as people write them") {
  CHECK(number_text(0.123456) == "0.1235");
  CHECK(number_text(12345.6) == "12,346");
  CHECK(number_text(2e-5) == "2e-05");
  CHECK(number_text(-1) == "-1");
  CHECK(count_text(0) == "0");
  CHECK(count_text(1'234'567) == "1,234,567");
  CHECK(count_text(-123) == "-123");
  CHECK(count_text(-123'456) == "-123,456");
  CHECK(duration_text(4.25) == "4.2 s");
  CHECK(duration_text(200) == "3 min 20 s");
  CHECK(duration_text(7500) == "2 h 05 min");
}

TEST_CASE("report: a template blank without a value is an internal error") {
  CHECK(fill_template("a {{b}} c", {{"b", "{{x}}"}}) == "a {{x}} c");
  CHECK(contains(test::refusal_of(ErrorKind::Internal, [] { fill_template("{{b}}", {}); }), "'b'"));
  CHECK(contains(test::refusal_of(ErrorKind::Internal, [] { fill_template("{{b", {}); }), "blank"));
}
