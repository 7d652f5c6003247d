// SPDX-License-Identifier: Apache-2.0
// Routing, ranges, numbers and bodies of requests, and what errors become.
#include "ubique/serve/http/message.h"

#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "tests/serve/requests.h"
#include "ubique/base/text/json.h"
#include "ubique/serve/http/range.h"
#include "ubique/serve/http/router.h"
#include "ubique/serve/http/thread_pool.h"

using namespace ubique;
using namespace ubique::serve;
using test::contains;
using test::request_of;

namespace {

Response named(const std::string& name) {
  Response response;
  response.body = name;
  return response;
}

Router small_router() {
  Router router;
  router.add("GET", "/a/{id}", [](const Request& r) { return named("one " + r.value("id")); });
  router.add("DELETE", "/a/{id}", [](const Request&) { return named("gone"); });
  router.add("GET", "/a/{id}/files/{name*}",
             [](const Request& r) { return named(r.value("id") + " has " + r.value("name")); });
  router.add("GET", "/fails/{how}", [](const Request& r) -> Response {
    if (r.value("how") == "usage") fail(ErrorKind::Usage, "[test] wrong");
    if (r.value("how") == "device") fail(ErrorKind::Device, "[test] gone");
    if (r.value("how") == "json") return named(Json(3).get<std::string>());
    if (r.value("how") == "refused") refuse(409, "conflict", "[test] not now");
    throw std::runtime_error("a secret path");
  });
  router.set_pages([](const Request& r) { return named("page " + r.path); });
  return router;
}

Response ask(const Router& router, const std::string& method, const std::string& path) {
  auto request = request_of(method, path);
  return router.answer(request);
}

std::string part_text(const std::string& header, std::int64_t bytes) {
  const auto wanted = wanted_range(header, bytes);
  if (wanted.kind == RangeKind::Whole) return "whole";
  if (wanted.kind == RangeKind::Impossible) return "impossible";
  return std::to_string(wanted.part.first) + "+" + std::to_string(wanted.part.count);
}

}  // namespace

TEST_CASE("router: paths are matched part by part, with names and a rest") {
  const auto router = small_router();
  CHECK(ask(router, "GET", "/a/12").body == "one 12");
  CHECK(ask(router, "HEAD", "/a/12").body == "one 12");
  CHECK(ask(router, "DELETE", "/a/12").body == "gone");
  CHECK(ask(router, "GET", "/a/1/files/x/y.bin").body == "1 has x/y.bin");
  CHECK(ask(router, "GET", "/a/1/files").body == "page /a/1/files");
  CHECK(ask(router, "GET", "/a//files/x").body == "page /a//files/x");
  CHECK(ask(router, "GET", "/").body == "page /");
}

TEST_CASE("router: a method that a path has not is told those that it has") {
  const auto router = small_router();
  const auto answer = ask(router, "PUT", "/a/12");
  CHECK(answer.status == 405);
  CHECK(answer.headers.at("Allow") == "GET, DELETE");
  CHECK(ask(router, "POST", "/nowhere").status == 404);
  CHECK(ask(router, "GET", "/api/nowhere").status == 404);  // never a page
  CHECK(ask(router, "GET", "/v1/nowhere").status == 404);
}

TEST_CASE("router: what a route throws becomes an answer; unknown failures keep their words") {
  const auto router = small_router();
  CHECK(ask(router, "GET", "/fails/usage").status == 422);
  CHECK(ask(router, "GET", "/fails/device").status == 503);
  CHECK(ask(router, "GET", "/fails/json").status == 422);
  const auto conflict = ask(router, "GET", "/fails/refused");
  CHECK(conflict.status == 409);
  CHECK(Json::parse(conflict.body)["error"]["kind"] == "conflict");
  const auto hidden = ask(router, "GET", "/fails/other");
  CHECK(hidden.status == 500);
  CHECK_FALSE(contains(hidden.body, "secret"));
}

TEST_CASE("request: numbers of the query are whole and within their limits") {
  const auto number = [](const std::string& text) {
    return request_of("GET", "/x?n=" + text).number("n", 7, 0, 100);
  };
  CHECK(number("") == 7);
  CHECK(number("0") == 0);
  CHECK(number("100") == 100);
  CHECK(number("1e2") == 100);
  for (const auto* text : {"-1", "101", "1.5", "nan", "inf", "1e300", "x", "0x10", "9e18"}) {
    const auto refusal = test::refusal_of(ErrorKind::Usage, [&] { number(text); });
    CHECK_MESSAGE(contains(refusal, "expected a whole number of 0 to 100"), text);
  }
}

TEST_CASE("request: a body is a JSON object or an error that says so") {
  CHECK(request_of("POST", "/x", R"({"a": 1})").json()["a"] == 1);
  CHECK(request_of("POST", "/x").json() == Json::object());
  for (const auto* body : {"{", "[]", "3", "\"x\"", "null", "{\"a\": 1}}", "\xff\xfe"}) {
    try {
      request_of("POST", "/x", body).json();
      FAIL("no error for " << body);
    } catch (const ErrorAnswer& answer) {
      CHECK_MESSAGE(answer.status == 400, body);
    }
  }
  const std::string deep(100000, '[');
  CHECK_THROWS_AS(request_of("POST", "/x", deep).json(), ErrorAnswer);
}

TEST_CASE("range: one part of a file, its end, or all of it") {
  CHECK(part_text("", 100) == "whole");
  CHECK(part_text("bytes=0-99", 100) == "0+100");
  CHECK(part_text("bytes=0-0", 100) == "0+1");
  CHECK(part_text("bytes=90-", 100) == "90+10");
  CHECK(part_text("bytes=90-500", 100) == "90+10");
  CHECK(part_text("bytes=-10", 100) == "90+10");
  CHECK(part_text("bytes=-500", 100) == "0+100");
  CHECK(part_text("bytes=100-", 100) == "impossible");
  CHECK(part_text("bytes=0-", 0) == "impossible");
  CHECK(part_text("bytes=-0", 100) == "impossible");
  for (const auto* odd : {"bytes=", "bytes=-", "bytes=5-2", "bytes=a-b", "bytes=1-2,4-5",
                          "items=0-1", "bytes=--5", "bytes=99999999999999999999-", "bytes=1-x"}) {
    CHECK_MESSAGE(part_text(odd, 100) == "whole", odd);
  }
}

TEST_CASE("thread pool: all work is done, by no more threads than are allowed") {
  std::atomic<int> done = 0, now = 0, most = 0;
  {
    GrowingPool pool(4, 10);
    for (int i = 0; i < 200; ++i) {
      pool.add([&] {
        int seen = most;
        const int busy = ++now;
        while (busy > seen && !most.compare_exchange_weak(seen, busy)) {
        }
        std::this_thread::yield();
        --now;
        ++done;
      });
    }
    CHECK(pool.threads() <= 4);
  }
  CHECK(done == 200);
  CHECK(most <= 4);
}
