// SPDX-License-Identifier: Apache-2.0
// Bytes of a connection through the whole listener: what is left of a refused request is never
// taken for another one.
#include "ubique/serve/http/listener.h"

#include <string>
#include <vector>

#include "tests/serve/studio.h"

using namespace ubique;
using test::TestStudio;

namespace {

std::size_t answers_in(const std::string& bytes) {
  std::size_t count = 0;
  for (auto at = bytes.find("HTTP/1.1 "); at != std::string::npos;
       at = bytes.find("HTTP/1.1 ", at + 1)) {
    ++count;
  }
  return count;
}

/// A request that a page of another site has put into the body of its own.
const std::string kHidden =
    "DELETE /api/library/1?confirm=yes HTTP/1.1\r\nHost: localhost\r\nX-Ubique: 1\r\n\r\n";

std::string request(const std::string& line, const std::string& headers, const std::string& body) {
  return line + " HTTP/1.1\r\nHost: 127.0.0.1:7870\r\n" + headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

const std::string kOther = "Origin: http://evil.example\r\n";
const std::string kForm = "Content-Type: multipart/form-data\r\n";  // without a boundary

}  // namespace

TEST_CASE("listener: a request in the body of a refused one is not answered") {
  TestStudio studio;
  const std::vector<std::string> cases = {
      request("POST /api/jobs", kOther + kForm, kHidden),
      request("POST /api/jobs", kOther + "Content-Type: text/plain\r\n",
              std::string(3 << 20U, ' ') + kHidden),
      request("POST /nowhere", kForm, kHidden),
      request("DELETE /api/jobs", kForm, kHidden),
      request("POST /api/jobs", "X-Ubique: 1\r\n" + kForm, kHidden),
      request("POST /api/uploads", "X-Ubique: 1\r\nContent-Type: text/plain\r\n",
              std::string(3 << 20U, ' ') + kHidden),
      request("GET /healthz", "", kHidden),
      request("HEAD /healthz", "", kHidden),
      request("OPTIONS /api/jobs", kOther, kHidden),
      request("POST /" + std::string(2000, 'a'), kForm, kHidden),
      request("POST /" + std::string(9000, 'a'), kForm, kHidden),
      request("GET /healthz", "Range: bytes=x-\r\n", kHidden),
      request("GET /healthz", "Transfer-Encoding: chunked\r\n", kHidden),
  };
  for (const auto& bytes : cases) {
    CAPTURE(bytes.substr(0, 60));
    const auto answer = studio.studio().answer_bytes(bytes);
    CHECK_MESSAGE(answers_in(answer) == 1, answer);
  }
}

TEST_CASE("listener: requests follow each other where nothing is left unread") {
  TestStudio studio;
  const std::string next = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
  for (const auto& first :
       {next, request("GET /healthz", "", ""), request("POST /api/jobs", "X-Ubique: 1\r\n", "{}"),
        request("POST /api/jobs", kOther, "")}) {
    CAPTURE(first.substr(0, 60));
    CHECK(answers_in(studio.studio().answer_bytes(first + next)) == 2);
  }
}
