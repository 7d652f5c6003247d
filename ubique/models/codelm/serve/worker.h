// SPDX-License-Identifier: Apache-2.0
// A process that keeps one model loaded and answers requests as they come, many at once: JSON lines
// in on one stream, JSON lines out on another. Made for a server, which stays up when this ends.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ubique/engine/contract/request.h"
#include "ubique/io/text/chat_template.h"
#include "ubique/models/codelm/serve/answer.h"
#include "ubique/models/codelm/serve/line_queue.h"
#include "ubique/models/codelm/serve/worker_request.h"
#include "ubique/nn/decode/generator.h"

namespace ubique::codelm {

/// What the worker needs of a model; all must outlive it.
struct WorkerModel {
  nn::Decoder& decoder;
  const io::Tokenizer& tokenizer;
  const io::ChatTemplate* chat = nullptr;  ///< null: it has none
  std::string no_chat;                     ///< why not
  std::vector<std::int32_t> end_tokens;    ///< beside the special ones
  Json facts;                              ///< for the first line
};

class Worker {
 public:
  Worker(WorkerModel model, engine::Sink print);

  /// Until the lines end, one asks for the end, or `stop`.
  void run(LineQueue& lines, const std::function<bool()>& stop);

 private:
  struct Active {
    std::uint64_t number = 0;  ///< of nn::Generator
    std::unique_ptr<Answer> answer;
  };

  void receive(const std::string& line);
  void complete(WorkerRequest request);
  void cancel(const std::string& id);
  std::vector<std::int32_t> prompt_of(const WorkerRequest& request) const;
  void send();

  WorkerModel model_;
  engine::Sink print_;
  nn::Generator generator_;
  std::vector<std::int32_t> reply_ends_;  // tokens that end a chat's reply
  std::map<std::string, Active> active_;
  std::vector<std::string> over_;  // requests whose answers are complete
  std::string out_;                // lines not yet sent
  bool ended_ = false;
};

}  // namespace ubique::codelm
