// SPDX-License-Identifier: Apache-2.0
// Waiting, and messages for each status.
#include "ubique/io/hub/retry.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "ubique/base/error.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"

namespace ubique::io {
namespace {

constexpr double kLongestWait = 60, kLongestAsked = 600;

/// What the server says about an error, on one line.
std::string server_words(const HttpReply& reply) {
  auto words = reply.header("x-error-message");
  if (words.empty() && reply.text.size() < 300 && !reply.text.starts_with('<')) words = reply.text;
  return words.empty() ? "" : " The server says: " + printable(trim(words), 200) + ".";
}

/// What a person can do about a status.
std::string advice(const HttpReply& reply) {
  const auto code = reply.header("x-error-code");
  if (reply.status == 401) {
    return "No model of that name is open to everyone. Check the name; for a private model or one "
           "with conditions set HF_TOKEN to a token of yours (huggingface.co/settings/tokens)";
  }
  if (reply.status == 403 || code == "GatedRepo") {
    return "Its owner asks for consent: accept the conditions on the model's page, and set "
           "HF_TOKEN "
           "to a token of that account that may read it";
  }
  if (code == "RevisionNotFound") return "The model has no such revision";
  if (reply.status == 404) {
    return "There is no model, revision or file of that name; expected OWNER/NAME as on the hub";
  }
  if (reply.status == 429) return "The server takes no more requests for now: try again later";
  if (reply.status == 407) return "The proxy wants a name and a password";
  if (reply.status >= 500) return "The server has trouble: try again later";
  return "HF_ENDPOINT names the server, if it is not huggingface.co";
}

}  // namespace

bool is_transient(const HttpReply& reply) {
  if (reply.final) return false;
  if (!reply.fault.empty()) return true;
  return reply.status == 408 || reply.status == 425 || reply.status == 429 || reply.status >= 500;
}

void fail_http(const HttpReply& reply, const std::string& what) {
  if (!reply.fault.empty()) {
    fail(ErrorKind::Input,
         "[io.hub] cannot fetch {} from {}; {}. Is the network there, and the proxy set "
         "(https_proxy)?",
         printable(what), reply.url, reply.fault);
  }
  fail(ErrorKind::Input, "[io.hub] cannot fetch {} from {}; got status {}. {}.{}", printable(what),
       reply.url, reply.status, advice(reply), server_words(reply));
}

Retry::Retry(std::function<bool()> stop_requested, int most, double first_wait)
    : stop_(std::move(stop_requested)), most_(most), first_wait_(first_wait) {}

bool Retry::again(const HttpReply& reply, const std::string& what) {
  if (!is_transient(reply) || tried_ >= most_) fail_http(reply, what);
  double seconds = std::min(kLongestWait, first_wait_ * std::exp2(tried_++));
  const auto asked = parse_number(reply.header("retry-after"));
  if (asked && *asked >= 0) seconds = std::min(std::max(*asked, 0.05), kLongestAsked);
  const auto why = reply.fault.empty() ? fmt::format("status {}", reply.status) : reply.fault;
  log::info("{}: {}; again in {:.1f} s ({} of {})", printable(what), why, seconds, tried_, most_);
  return wait(seconds);
}

bool Retry::wait(double seconds) const {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (Clock::now() < end) {
    if (stop_ && stop_()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return !(stop_ && stop_());
}

}  // namespace ubique::io
