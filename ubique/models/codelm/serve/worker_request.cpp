// SPDX-License-Identifier: Apache-2.0
// Fields of the line, one by one.
#include "ubique/models/codelm/serve/worker_request.h"

#include "ubique/base/text/json_fields.h"
#include "ubique/base/text/names.h"
#include "ubique/base/text/printable.h"

namespace ubique::codelm {
namespace {

constexpr const char* kLine = "the request";

constexpr NameTable<WorkerOperation, 3> kOperations{{{WorkerOperation::Complete, "complete"},
                                                     {WorkerOperation::Cancel, "cancel"},
                                                     {WorkerOperation::End, "end"}}};

constexpr NameTable<io::Role, 3> kRoles{
    {{io::Role::System, "system"}, {io::Role::User, "user"}, {io::Role::Assistant, "assistant"}}};

std::vector<io::Turn> parse_turns(const Json& list) {
  check(list.is_array() && !list.empty(), ErrorKind::Input,
        "[codelm.worker] 'messages' is {}; expected a list with at least one.", list.type_name());
  std::vector<io::Turn> turns;
  for (const auto& entry : list) {
    JsonFields fields(entry, "codelm.worker", "a message");
    std::string role, content;
    fields.take("role", role);
    fields.take("content", content);
    fields.finish();
    turns.push_back({parse_name(kRoles, "codelm.worker", "role", role), content});
  }
  return turns;
}

void parse_prompt(JsonFields& fields, WorkerRequest& request) {
  const auto prompt = fields.take_json("prompt"), messages = fields.take_json("messages");
  check(prompt.is_null() != messages.is_null(), ErrorKind::Input,
        "[codelm.worker] {} needs a 'prompt' or 'messages', and not both.", kLine);
  if (!messages.is_null()) {
    request.turns = parse_turns(messages);
  } else if (prompt.is_array()) {
    request.tokens.emplace();
    for (const auto& token : prompt) {
      check(token.is_number_integer(), ErrorKind::Input,
            "[codelm.worker] the prompt has {} among its tokens; expected whole numbers.",
            printable(json_text(token), 40));
      const auto id = token.get<std::int64_t>();
      check(id >= 0 && id <= 0x7fffffff, ErrorKind::Input,
            "[codelm.worker] the prompt's token {} is out of range.", id);
      request.tokens->push_back(static_cast<std::int32_t>(id));
    }
  } else {
    check(prompt.is_string(), ErrorKind::Input,
          "[codelm.worker] the prompt is {}; expected a text or a list of tokens.",
          prompt.type_name());
    request.prompt = prompt.get<std::string>();
  }
  const auto suffix = fields.take_json("suffix");
  if (suffix.is_string()) request.suffix = suffix.get<std::string>();
}

void parse_sampling(JsonFields& fields, nn::GenerateOptions& options) {
  auto& sampling = options.sampling;
  sampling = {.temperature = 1, .top_k = 0, .top_p = 1};
  fields.take("temperature", sampling.temperature);
  fields.take("top_k", sampling.top_k);
  fields.take("top_p", sampling.top_p);
  fields.take("min_p", sampling.min_p);
  fields.take("repetition_penalty", sampling.repetition_penalty);
  fields.take("presence_penalty", options.changes.presence);
  fields.take("frequency_penalty", options.changes.frequency);
  const auto bias = fields.take_json("logit_bias");
  for (const auto& [token, amount] : bias.items()) {
    const auto id = parse_number(token);
    check(id && *id >= 0 && *id <= 0x7fffffff && amount.is_number(), ErrorKind::Input,
          "[codelm.worker] 'logit_bias' has '{}'; expected token ids with numbers.",
          printable(token, 40));
    options.changes.bias.emplace_back(static_cast<std::int32_t>(*id), amount.get<double>());
  }
}

}  // namespace

WorkerRequest parse_worker_request(std::string_view line, std::string& id) {
  WorkerRequest request;
  JsonFields fields(parse_json(line, kLine), "codelm.worker", kLine);
  fields.take("id", request.id);
  id = request.id;
  fields.take_name<WorkerOperation>("op", request.operation, [](std::string_view name) {
    return parse_name(kOperations, "codelm.worker", "op", name);
  });
  if (request.operation == WorkerOperation::Complete) {
    auto& options = request.generate;
    parse_prompt(fields, request);
    parse_sampling(fields, options);
    fields.take("seed", options.seed);
    fields.take("stop", options.stop_texts);
    fields.take("logprobs", options.likeliest);
    fields.take("lookup", options.lookup);
    fields.take("echo", request.echo);
    const auto most = fields.take_json("max_tokens");
    if (most.is_number_integer()) request.max_tokens = most.get<std::int64_t>();
  }
  fields.finish();
  return request;
}

}  // namespace ubique::codelm
