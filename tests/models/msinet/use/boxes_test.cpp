// SPDX-License-Identifier: Apache-2.0
// Shares of attention in boxes: parsing, partly covered pixels, CSV.
#include "ubique/models/msinet/use/boxes.h"

#include <doctest/doctest.h>

#include "tests/models/msinet/score/metric_samples.h"

namespace ubique::msinet {

TEST_CASE("attention: boxes that tile the image share everything") {
  const auto map = samples::hilly_map<float>(40, 30, 3);
  const auto boxes =
      parse_boxes("name,x,y,w,h\nleft,0,0,12.5,30\nright, 12.5, 0, 27.5, 30\n", "it");
  const auto shares = box_shares(map.measured(), boxes);
  REQUIRE(shares.size() == 2);
  CHECK(shares[0].share + shares[1].share == doctest::Approx(1).epsilon(1e-9));
  CHECK(shares[0].area == doctest::Approx(12.5 / 40));
  CHECK(std::max(shares[0].peak, shares[1].peak) == 1);
}

TEST_CASE("attention: pixels at the edge count by their part, outside counts for nothing") {
  const std::vector<float> values = {1, 2, 3, 4};
  const MeasuredMap<float> map(values, 2, 2);
  const auto share = [&](double x, double y, double w, double h) {
    return box_shares(map, std::vector<NamedBox>{{"box", x, y, w, h}}).front();
  };
  CHECK(share(0.5, 0.25, 1, 1).share ==
        doctest::Approx((0.5 * 0.75 * (1 + 2) + 0.5 * 0.25 * (3 + 4)) / 10));
  CHECK(share(1, 1, 100, 100).share == doctest::Approx(0.4));
  CHECK(share(1, 1, 100, 100).area == doctest::Approx(0.25));
  CHECK(share(1, 1, 1, 1).lift() == doctest::Approx(1.6));
  CHECK(share(-5, -5, 6, 6).share == doctest::Approx(0.1));
  CHECK(share(0.2, 0.2, 0.1, 0.1).area == doctest::Approx(0.0025));
  const std::vector<float> flat(4, -3.F);
  const auto even =
      box_shares(MeasuredMap<float>(flat, 2, 2), std::vector<NamedBox>{{"box", 0, 0, 1, 2}});
  CHECK(even[0].share == doctest::Approx(0.5));
}

TEST_CASE("attention: bad boxes are refused with their line or name") {
  const auto refused = [](const std::string& csv, const std::string& part) {
    const auto message = test::refusal_of(ErrorKind::Input, [&] { parse_boxes(csv, "boxes.csv"); });
    CAPTURE(message);
    CHECK(test::contains(message, part));
  };
  refused("", "holds no boxes");
  refused("name,x,y,w,h\n", "holds no boxes");
  refused("a,1,2,3\n", "line 1 is not a box; got 4 fields");
  refused("name,x,y,w,h\n\na,1,2,3,wide\n", "line 3: h is not a number; got 'wide'");
  refused("a,1,2,nan,4\n", "w is not a number");
  refused("a,1,2,0,4\n", "no area");
  refused("a,1,2,3,4\na,5,6,7,8\n", "'a' is used twice");
  refused("a,\"1", "never closed");
  const auto map = samples::hilly_map<float>(40, 30, 3);
  const std::vector<NamedBox> away = {{"far", 40, 0, 5, 5}};
  CHECK(
      test::contains(test::refusal_of(ErrorKind::Input, [&] { box_shares(map.measured(), away); }),
                     "'far' lies outside"));
}

TEST_CASE("attention: the CSV has a line for each box") {
  const std::vector<float> values = {1, 2, 3, 4};
  const std::vector<NamedBox> boxes = {{"logo, big", 0, 0, 1, 2}};
  const auto shares = box_shares(MeasuredMap<float>(values, 2, 2), boxes);
  CHECK(box_csv_header() == "image,name,x,y,w,h,share,area,lift,peak\n");
  CHECK(box_csv_lines("a.png", shares) ==
        "a.png,\"logo, big\",0,0,1,2,0.400000,0.500000,0.8000,0.666667\n");
}

}  // namespace ubique::msinet
