// SPDX-License-Identifier: Apache-2.0
// A worker that ends before it gave any text is started again, once, and the caller sees nothing of
// it: the same seeds give the same texts.
#include "ubique/serve/openai/exchange.h"

#include <fmt/format.h>

#include <chrono>
#include <random>

#include "ubique/base/terminal/log.h"
#include "ubique/base/text/printable.h"

namespace ubique::serve {
namespace {

constexpr std::chrono::milliseconds kLook(100);  // how often a client that is gone is noticed

std::int64_t seconds_since_1970() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

/// The worker's own errors are about the request, unless it is broken.
OpenAiError error_of_event(const Json& event) {
  const auto kind = event.value("kind", "internal"), message = event.value("message", "");
  const bool asked_wrong = kind == "usage" || kind == "input";
  return {asked_wrong ? 400 : 500, asked_wrong ? "invalid_request_error" : "server_error", message};
}

}  // namespace

std::string new_call_id(bool chat) {
  std::random_device device;
  return fmt::format("{}-{:08x}{:08x}{:08x}", chat ? "chatcmpl" : "cmpl", device(), device(),
                     device());
}

Exchange::Exchange(ModelPool& pool, OpenAiCall call)
    : pool_(pool),
      call_(std::move(call)),
      answer_(call_, new_call_id(call_.chat), seconds_since_1970()) {}

Exchange::~Exchange() { give_up(); }

void Exchange::give_up() {
  if (!worker_) return;
  for (const auto& id : ids_) worker_->cancel(id);
  ids_.clear();
}

void Exchange::submit() {
  worker_ = pool_.get(call_.model);
  pool_.check_queue(*worker_, call_.requests.size());
  mailbox_ = std::make_shared<Mailbox>();
  ids_.clear();
  for (std::size_t i = 0; i < call_.requests.size(); ++i) {
    ids_.push_back(worker_->submit(call_.requests[i], mailbox_, i));
  }
}

void Exchange::begin() {
  submit();
  std::size_t taken = 0;
  while (taken < call_.requests.size()) {
    const auto got = mailbox_->take(kLook);
    if (!got) continue;
    const auto kind = got->second.value("event", "");
    if (kind == "queued") {
      ++taken;
    } else if (kind == "gone") {
      begin_anew_or_fail(got->second.value("message", ""));
      taken = 0;
    } else {
      early_ += take(got->first, got->second);
    }
  }
}

/// The chunks of an event.
std::string Exchange::take(std::size_t choice, const Json& event) {
  const auto kind = event.value("event", "");
  if (kind == "error") throw error_of_event(event);
  return answer_.take(choice, event);
}

void Exchange::begin_anew_or_fail(const std::string& message) {
  if (answer_.has_text() || began_anew_) {
    throw OpenAiError(
        500, "server_error",
        fmt::format("[serve.openai] the model's process ended ({}) while it worked on "
                    "this; the next request starts it again.",
                    printable(message, 300)),
        {}, "model_process_ended");
  }
  began_anew_ = true;
  log::warn("[serve.openai] the process of {} ended ({}): it is started again",
            printable(call_.model, 100), printable(message, 300));
  submit();
}

bool Exchange::go_on(const std::function<bool()>& open, const Send& chunks,
                     std::chrono::milliseconds most) {
  const auto end = std::chrono::steady_clock::now() + most;
  while (!answer_.complete()) {
    const auto now = std::chrono::steady_clock::now();
    if (!open() || now >= end) return false;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - now);
    const auto got = mailbox_->take(std::min(kLook, left + std::chrono::milliseconds(1)));
    if (!got) continue;
    if (got->second.value("event", "") == "gone") {
      begin_anew_or_fail(got->second.value("message", ""));
      continue;
    }
    const auto text = take(got->first, got->second);
    if (!text.empty() && !chunks(text)) return false;
  }
  return true;
}

}  // namespace ubique::serve
