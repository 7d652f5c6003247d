// SPDX-License-Identifier: Apache-2.0
// One call: its choices at the worker, and what comes back. When it goes, what still runs for it is
// given up.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ubique/serve/http/message.h"
#include "ubique/serve/openai/answers.h"
#include "ubique/serve/openai/model_pool.h"

namespace ubique::serve {

class Exchange {
 public:
  Exchange(ModelPool& pool, OpenAiCall call);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// Sends the choices and waits until the worker has taken or refused them. OpenAiError if it
  /// refuses one.
  void begin();
  /// Goes on until all choices are complete, `open` says no more, or the time is over. `chunks`
  /// receives what a stream sends. True if complete; OpenAiError if the worker fails.
  bool go_on(const std::function<bool()>& open, const Send& chunks,
             std::chrono::milliseconds most = std::chrono::hours(24 * 365));
  /// The chunks that begin() already has.
  std::string take_early() { return std::exchange(early_, {}); }

  const OpenAiCall& call() const { return call_; }
  const OpenAiAnswer& answer() const { return answer_; }

 private:
  void submit();
  std::string take(std::size_t choice, const Json& event);
  void begin_anew_or_fail(const std::string& message);
  void give_up();

  ModelPool& pool_;
  OpenAiCall call_;
  OpenAiAnswer answer_;
  std::shared_ptr<ModelWorker> worker_;
  std::shared_ptr<Mailbox> mailbox_;
  std::vector<std::string> ids_;  // at the worker, by choice
  std::string early_;
  bool began_anew_ = false;
};

/// An id as OpenAI's look: "cmpl-" and letters and digits.
std::string new_call_id(bool chat);

}  // namespace ubique::serve
