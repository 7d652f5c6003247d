// SPDX-License-Identifier: Apache-2.0
// The packed pages: packed or not, known or not, and the application's own addresses.
#include "ubique/serve/pages/pages.h"

#include <doctest/doctest.h>

#include <array>

#include "tests/base/scratch.h"
#include "tests/serve/requests.h"

using namespace ubique;
using namespace ubique::serve;
using namespace std::string_view_literals;
using test::contains;
using test::request_of;

namespace {

// "<p>hello</p>\n" and "x = 1\n", packed with gzip.
constexpr auto kHello =
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xb3\x29\xb0\xcb\x48\xcd\xc9\xc9\xb7\xd1\x2f\xb0\xe3"
    "\x02\x00\xe1\x2d\xb4\x43\x0d\x00\x00\x00"sv;
constexpr auto kScript =
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xab\x50\xb0\x55\x30\xe4\x02\x00\x3b\x89\xf6\x8b\x06"
    "\x00\x00\x00"sv;

constexpr std::array<PackedPage, 3> kPages = {{{"index.html", kHello, "t1"},
                                               {"assets/app-1.js", kScript, "t2"},
                                               {"broken.txt", "\x1f\x8b\x08", "t3"}}};

Response ask(const std::string& path, Headers headers = {}) {
  Router router;
  router.set_pages(page_handler(kPages));
  auto request = request_of("GET", path, {}, std::move(headers));
  return router.answer(request);
}

}  // namespace

TEST_CASE("pages: are sent packed to clients that unpack, and unpacked to others") {
  const auto packed = ask("/", {{"Accept-Encoding", "br, GZIP"}});
  CHECK(packed.headers.at("Content-Encoding") == "gzip");
  CHECK(packed.body == kHello);
  CHECK(packed.type == "text/html; charset=utf-8");
  const auto plain = ask("/");
  CHECK(plain.body == "<p>hello</p>\n");
  CHECK_FALSE(plain.headers.contains("Content-Encoding"));
  CHECK(plain.headers.at("Vary") == "Accept-Encoding");
  CHECK(ask("/broken.txt").status == 500);
}

TEST_CASE("pages: what a browser has already is not sent again") {
  const auto first = ask("/assets/app-1.js");
  CHECK(first.body == "x = 1\n");
  CHECK(contains(first.headers.at("Cache-Control"), "immutable"));
  const auto again = ask("/assets/app-1.js", {{"If-None-Match", first.headers.at("ETag")}});
  CHECK(again.status == 304);
  CHECK(again.body.empty());
  CHECK(ask("/assets/app-1.js", {{"If-None-Match", "\"other\""}}).status == 200);
  CHECK(ask("/").headers.at("Cache-Control") == "no-cache");
}

TEST_CASE("pages: addresses of the application give its first page; missing files are missing") {
  for (const auto* path : {"/music", "/library/12", "/index.html"}) {
    CHECK_MESSAGE(ask(path).body == "<p>hello</p>\n", path);
  }
  for (const auto* path : {"/assets/app-2.js", "/assets/x", "/favicon.ico", "/../etc/passwd.txt"}) {
    CHECK_MESSAGE(ask(path).status == 404, path);
  }
}

TEST_CASE("pages: only the application's own scripts run") {
  const auto policy = ask("/").headers.at("Content-Security-Policy");
  CHECK(contains(policy, "default-src 'self'"));
  CHECK(contains(policy, "script-src 'self' 'wasm-unsafe-eval';"));
  CHECK(contains(policy, "object-src 'none'"));
}

TEST_CASE("pages: a program without them says how to build them") {
  const auto handler = page_handler({});
  const auto first = handler(request_of("GET", "/"));
  CHECK(first.status == 200);
  CHECK(contains(first.body, "make studio"));
  CHECK_THROWS_AS(handler(request_of("GET", "/music")), ErrorAnswer);
}
