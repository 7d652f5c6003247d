// SPDX-License-Identifier: Apache-2.0
// `ubique run codelm --worker`: keeps a model loaded for a server and answers JSON lines.
#include <unistd.h>

#include "ubique/base/numbers/dtype.h"
#include "ubique/device/facts.h"
#include "ubique/io/text/jinja_chat.h"
#include "ubique/models/codelm/commands/commands.h"
#include "ubique/models/codelm/files/open.h"
#include "ubique/models/codelm/serve/worker.h"
#include "ubique/models/codelm/use/decoder.h"
#include "ubique/models/codelm/use/place.h"

namespace ubique::codelm {
namespace {

/// For the first line: what a server decides by.
Json worker_facts(const CodelmModel& model, const engine::Session& session, std::int64_t slots) {
  const auto& memory = session.plan().memory;
  auto facts = json_document("worker", 1);
  facts["name"] = model.settings().name();
  facts["context"] = model.settings().context;
  facts["vocabulary"] = model.settings().vocabulary;
  facts["slots"] = slots;
  facts["device"] = session.facts().name;
  facts["dtype"] = to_string(session.plan().dtype.value);
  // The plan is for one text.
  facts["memory_bytes"] = memory.total + (slots - 1) * memory.kv_cache;
  facts["budget_bytes"] = memory.budget;
  facts["process"] = ::getpid();
  return facts;
}

}  // namespace

engine::Outcome run_codelm_worker(const engine::Request& request) {
  constexpr std::int64_t kWorkerSlots = 16;
  const auto slots = request.config.get("slots", kWorkerSlots);
  const auto use = read_use_settings(request.config);
  engine::Session session(request, plan::Mode::Run);
  request.config.finish();
  check(request.inputs.empty(), ErrorKind::Usage,
        "[codelm.worker] --worker takes no files; prompts come on standard input.");
  auto model = open_for_use(request, use);
  const auto path = tokenizer_of(*model, use.tokenizer);
  const auto tokenizer = io::read_tokenizer(path);
  check(tokenizer.size() <= model->settings().vocabulary, ErrorKind::Input,
        "[codelm.worker] the tokenizer is not the model's; got {} tokens, expected at most {}. "
        "--tokenizer names another.",
        tokenizer.size(), model->settings().vocabulary);
  std::unique_ptr<io::ChatTemplate> chat;
  std::string no_chat;
  try {
    std::error_code ignored;
    const bool is_folder = std::filesystem::is_directory(path, ignored);
    chat = io::read_chat_template(is_folder ? path : path.parent_path(), tokenizer);
  } catch (const Error& error) {
    no_chat = error.what();  // told to whoever wants to chat
  }
  const auto pass = place_for_use(*model, use, session);
  CodelmDecoder decoder(model->codelm(), pass,
                        {.slots = slots, .record = session.plan().graph_capture.value});
  Worker worker({.decoder = decoder,
                 .tokenizer = tokenizer,
                 .chat = chat.get(),
                 .no_chat = no_chat,
                 .end_tokens = model->settings().end_tokens,
                 .facts = worker_facts(*model, session, slots)},
                request.print);
  LineQueue lines(STDIN_FILENO, request.stop_requested);
  worker.run(lines, request.stop_requested);
  return {};
}

}  // namespace ubique::codelm
