// SPDX-License-Identifier: Apache-2.0
// Requests join the generator between steps; what a step gave is sent at once.
#include "ubique/models/codelm/serve/worker.h"

#include <algorithm>
#include <utility>

#include "ubique/base/text/printable.h"
#include "ubique/data/code/fim.h"

namespace ubique::codelm {

Worker::Worker(WorkerModel model, engine::Sink print)
    : model_(std::move(model)),
      print_(std::move(print)),
      generator_(model_.decoder, model_.tokenizer) {
  if (model_.chat == nullptr) return;
  const auto count = static_cast<std::int32_t>(model_.tokenizer.size());
  for (std::int32_t id = 0; id < count; ++id) {
    if (model_.chat->ends_reply(id)) reply_ends_.push_back(id);
  }
}

void Worker::send() {
  if (!out_.empty()) print_(std::exchange(out_, {}));
}

void Worker::run(LineQueue& lines, const std::function<bool()>& stop) {
  auto ready = model_.facts;
  ready["event"] = "ready";
  ready["can_chat"] = model_.chat != nullptr;
  ready["can_fill"] = data::find_fim_tokens(model_.tokenizer).has_value();
  out_ += json_text(ready) + "\n";
  send();
  while (!ended_ && !(stop && stop())) {
    for (const auto& line : lines.take(/*wait=*/active_.empty())) receive(line);
    if (lines.ended()) break;  // whoever asked is gone
    generator_.join();
    send();  // the first tokens need not wait for the second
    generator_.step();
    for (const auto& id : over_) active_.erase(id);
    over_.clear();
    send();
  }
}

void Worker::receive(const std::string& line) {
  std::string id;
  try {
    auto request = parse_worker_request(line, id);
    switch (request.operation) {
      case WorkerOperation::Complete:
        return complete(std::move(request));
      case WorkerOperation::Cancel:
        return cancel(request.id);
      case WorkerOperation::End:
        ended_ = true;
    }
  } catch (const Error& error) {
    out_ += error_line(id, error);
  }
}

void Worker::cancel(const std::string& id) {
  const auto found = active_.find(id);
  if (found != active_.end()) generator_.cancel(found->second.number);
}

std::vector<std::int32_t> Worker::prompt_of(const WorkerRequest& request) const {
  const auto& tokenizer = model_.tokenizer;
  if (request.turns) {
    check(model_.chat != nullptr, ErrorKind::Input, "{}", model_.no_chat);
    return model_.chat->prompt(*request.turns);
  }
  if (!request.suffix) return request.tokens.value_or(tokenizer.encode(request.prompt));
  const auto fim = data::find_fim_tokens(tokenizer);
  check(fim.has_value(), ErrorKind::Input,
        "[codelm.worker] this model cannot fill in the middle: its tokenizer lacks <fim_prefix>, "
        "<fim_suffix> and <fim_middle>. Leave the suffix out.");
  const data::FimParts parts{request.tokens.value_or(tokenizer.encode(request.prompt)),
                             {},
                             tokenizer.encode(*request.suffix)};
  return data::arrange_fim(parts, data::FimOrder::Psm, *fim);
}

void Worker::complete(WorkerRequest request) {
  check(!request.id.empty() && !active_.contains(request.id), ErrorKind::Input,
        "[codelm.worker] the id '{}' is empty or in use; expected a new one for each request.",
        printable(request.id));
  auto options = request.generate;
  auto prompt = prompt_of(request);
  const auto room = model_.decoder.context_length();
  options.max_new_tokens = std::min(request.max_tokens.value_or(room), room);
  options.special_ends = !request.turns.has_value();
  options.stop_tokens = request.turns ? reply_ends_ : model_.end_tokens;
  auto answer = std::make_unique<Answer>(request.id, model_.tokenizer, out_);
  auto* to = answer.get();
  const auto count = prompt.size();
  const auto shown = request.tokens ? model_.tokenizer.decode(prompt) : request.prompt;
  const auto over = [this, id = request.id] { over_.push_back(id); };
  const auto number = generator_.submit(
      {.prompt = std::move(prompt),
       .options = std::move(options),
       .show =
           [to](std::string_view text) {
             to->text(text);
             return true;
           },
       .finished =
           [to, count, over](const nn::Completion& made) {
             to->finished(made, count);
             over();
           },
       .started =
           [to, count, shown, echo = request.echo] {
             to->started(count);
             if (echo) to->echo(shown);
           },
       .chosen = [to](std::int32_t token, const auto& logprobs) { to->chosen(token, logprobs); },
       .failed =
           [to, over](const Error& error) {
             to->failed(error);
             over();
           }});
  to->queued();
  active_[request.id] = {number, std::move(answer)};
}

}  // namespace ubique::codelm
