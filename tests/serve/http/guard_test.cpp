// SPDX-License-Identifier: Apache-2.0
// Who may ask: hosts, origins, forged requests, tokens, and how often.
#include "ubique/serve/http/guard.h"

#include <doctest/doctest.h>

#include "tests/serve/requests.h"

using namespace ubique;
using namespace ubique::serve;
using test::request_of;

namespace {

/// The status of the refusal; 200: none.
int refused(Guard& guard, const Request& request, const RouteRules& rules = {}) {
  const auto answer = guard.refusal(request, &rules);
  return answer ? answer->status : 200;
}

Request get(Headers headers) { return request_of("GET", "/api/jobs", {}, std::move(headers)); }
Request post(Headers headers) { return request_of("POST", "/api/jobs", "{}", std::move(headers)); }

}  // namespace

TEST_CASE("guard: only this machine's names, addresses and names that were given are answered") {
  Guard guard({.token = {}, .names = {"studio.lan"}});
  for (const auto* host : {"localhost", "localhost:7870", "LOCALHOST:1", "127.0.0.1:7870",
                           "[::1]:7870", "192.168.1.4:80", "studio.lan:7870", "a.localhost"}) {
    CHECK_MESSAGE(refused(guard, get({{"Host", host}})) == 200, host);
  }
  for (const auto* host :
       {"", "evil.example", "evil.example:7870", "127.0.0.1.evil.example", "localhost.evil.example",
        "studio.lan.evil", "[evil]:1", "[::1", ":80"}) {
    CHECK_MESSAGE(refused(guard, get({{"Host", host}})) == 403, host);
  }
}

TEST_CASE("guard: pages of other sites are refused, whatever they ask for") {
  Guard guard({});
  const auto with = [&](const char* name, const char* value) {
    return refused(guard, get({{"Host", "localhost:7870"}, {name, value}}));
  };
  CHECK(with("Origin", "http://localhost:7870") == 200);
  for (const auto* origin : {"http://localhost:7871", "http://evil.example", "null",
                             "http://localhost:7870.evil.example", "https://localhost"}) {
    CHECK_MESSAGE(with("Origin", origin) == 403, origin);
  }
  CHECK(with("Sec-Fetch-Site", "same-origin") == 200);
  CHECK(with("Sec-Fetch-Site", "cross-site") == 403);
  CHECK(with("Sec-Fetch-Site", "same-site") == 403);
  // A link on another page may be followed.
  CHECK(refused(guard, get({{"Host", "localhost"},
                            {"Sec-Fetch-Site", "cross-site"},
                            {"Sec-Fetch-Mode", "navigate"}})) == 200);
}

TEST_CASE("guard: a change needs our header or a token, and a form of another page has neither") {
  Guard guard({});
  CHECK(refused(guard, post({{"Host", "localhost"}})) == 403);
  CHECK(refused(guard, post({{"Host", "localhost"}, {"X-Ubique", "1"}})) == 200);
  CHECK(refused(guard, post({{"Host", "localhost"}, {"Authorization", "Bearer x"}})) == 200);
  // Scripts of other programs may call some routes as they are; pages in a browser may not.
  const RouteRules foreign{.foreign = true};
  CHECK(refused(guard, post({{"Host", "localhost"}}), foreign) == 200);
  for (const auto& [name, value] : Headers{
           {"Origin", "http://localhost"}, {"Sec-Fetch-Site", "same-origin"}, {"Cookie", "a=b"}}) {
    CHECK_MESSAGE(refused(guard, post({{"Host", "localhost"}, {name, value}}), foreign) == 403,
                  name);
  }
  // A form of another page that navigates here is no link.
  CHECK(refused(guard,
                post({{"Host", "localhost"},
                      {"Sec-Fetch-Site", "cross-site"},
                      {"Sec-Fetch-Mode", "navigate"}}),
                foreign) == 403);
}

TEST_CASE("guard: where a token is needed, only the whole one opens") {
  Guard guard({.token = "secret"});
  CHECK(refused(guard, get({{"Host", "localhost"}})) == 401);
  CHECK(refused(guard, get({{"Host", "localhost"}}), {.open = true}) == 200);
  const auto answer = guard.refusal(get({{"Host", "localhost"}}), nullptr);
  CHECK(answer->headers.at("WWW-Authenticate") == "Bearer");
  for (const auto* given : {"Bearer secret", "bearer secret", "Bearer  secret "}) {
    CHECK_MESSAGE(refused(guard, get({{"Host", "localhost"}, {"Authorization", given}})) == 200,
                  given);
  }
  for (const auto* given : {"Bearer secre", "Bearer secret1", "Bearer", "Basic secret", "secret"}) {
    CHECK_MESSAGE(refused(guard, get({{"Host", "localhost"}, {"Authorization", given}})) == 401,
                  given);
  }
  CHECK(refused(guard, get({{"Host", "localhost"}, {"Cookie", "a=b; ubique_token=secret"}})) ==
        200);
  CHECK(refused(guard, get({{"Host", "localhost"}, {"Cookie", "xubique_token=secret"}})) == 401);
}

TEST_CASE("guard: opening the page with the token sets a cookie that scripts cannot read") {
  Guard guard({.token = "secret"});
  auto request = get({{"Host", "localhost"}});
  request.path = "/";
  request.query = {{"token", "secret"}};
  const auto answer = guard.sign_in(request);
  REQUIRE(answer);
  CHECK(answer->status == 303);
  CHECK(answer->headers.at("Location") == "/");
  CHECK(answer->headers.at("Set-Cookie") ==
        "ubique_token=secret; Path=/; HttpOnly; SameSite=Strict");
  request.query = {{"token", "secre"}};
  CHECK(guard.sign_in(request)->status == 401);
  request.query = {{"token", "secret"}};
  request.path = "/api/jobs";
  CHECK_FALSE(guard.sign_in(request));
  request.path = "/";
  request.headers["Host"] = "evil.example";  // a page elsewhere must not try tokens
  CHECK_FALSE(guard.sign_in(request));
}

TEST_CASE("guard: tokens cannot be tried out, and who has the right one is not shut out") {
  Guard guard({.token = "secret"});
  const auto wrong = get({{"Host", "localhost"}, {"Authorization", "Bearer wrong"}});
  for (int i = 0; i < 10; ++i) CHECK(refused(guard, wrong) == 401);
  CHECK(refused(guard, wrong) == 429);
  CHECK(refused(guard, get({{"Host", "localhost"}, {"Authorization", "Bearer secret"}})) == 200);
  auto elsewhere = wrong;
  elsewhere.address = "10.0.0.9";
  CHECK(refused(guard, elsewhere) == 401);
}

TEST_CASE("guard: changes have a rate for each address; reading has none") {
  Guard guard({.changes_per_second = 0.001, .changes_at_once = 3});
  const Headers headers{{"Host", "localhost"}, {"X-Ubique", "1"}};
  for (int i = 0; i < 3; ++i) CHECK(refused(guard, post(headers)) == 200);
  const auto answer = guard.refusal(post(headers), nullptr);
  REQUIRE(answer);
  CHECK(answer->status == 429);
  CHECK(answer->headers.at("Retry-After") == "1");
  CHECK(refused(guard, get(headers)) == 200);
  auto elsewhere = post(headers);
  elsewhere.address = "10.0.0.9";
  CHECK(refused(guard, elsewhere) == 200);
}

TEST_CASE("guard: a rate's bucket fills with time, to its brim and no further") {
  double now = 0;
  RateLimit limit(2, 4, [&] { return now; });
  const auto takes = [&] {
    int count = 0;
    while (limit.take("a")) ++count;
    return count;
  };
  CHECK(takes() == 4);
  CHECK_FALSE(limit.has("a"));
  now = 1;
  CHECK(takes() == 2);
  now = 1000;
  CHECK(takes() == 4);
}

TEST_CASE("guard: secrets are the same only if every byte is") {
  CHECK(same_secret("", ""));
  CHECK(same_secret("abc", "abc"));
  for (const auto* other : {"", "a", "ab", "abd", "xbc", "abcd", "ABC"}) {
    CHECK_FALSE(same_secret("abc", other));
    CHECK_FALSE(same_secret(other, "abc"));
  }
  // Bytes behind the end are no zeros that could be guessed.
  CHECK_FALSE(same_secret("abc", std::string_view("abc\0", 4)));
}

TEST_CASE("guard: every answer forbids framing, sniffing and whatever comes from elsewhere") {
  Response response;
  response.headers["Content-Security-Policy"] = "default-src 'self'";
  add_hardened_headers(response);
  CHECK(response.headers.at("X-Content-Type-Options") == "nosniff");
  CHECK(response.headers.at("X-Frame-Options") == "SAMEORIGIN");
  CHECK(response.headers.at("Referrer-Policy") == "no-referrer");
  CHECK(response.headers.at("Content-Security-Policy") == "default-src 'self'");
  CHECK(response.headers.at("Cache-Control") == "no-store");
}
