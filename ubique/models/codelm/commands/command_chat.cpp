// SPDX-License-Identifier: Apache-2.0
// `ubique run codelm --chat`: a conversation by the model's own chat template.
#include "ubique/engine/walk/chat.h"
#include "ubique/io/text/jinja_chat.h"
#include "ubique/models/codelm/commands/commands.h"
#include "ubique/models/codelm/files/open.h"
#include "ubique/models/codelm/use/decoder.h"
#include "ubique/models/codelm/use/place.h"

namespace ubique::codelm {

engine::Outcome run_codelm_chat(const engine::Request& request) {
  auto settings = engine::read_chat_settings(request.config);
  settings.chat.lookup = request.config.get("lookup", std::int64_t{0});
  const auto use = read_use_settings(request.config);
  engine::Session session(request, plan::Mode::Run);
  request.config.finish();
  check(request.inputs.empty(), ErrorKind::Usage,
        "[codelm.chat] --chat takes no files; got '{}'. --prompt TEXT asks one question.",
        request.inputs.empty() ? std::string() : request.inputs.front());
  auto model = open_for_use(request, use);
  const auto path = tokenizer_of(*model, use.tokenizer);
  const auto tokenizer = io::read_tokenizer(path);
  std::error_code ignored;
  const bool is_folder = std::filesystem::is_directory(path, ignored);
  const auto chat_template =
      io::read_chat_template(is_folder ? path : path.parent_path(), tokenizer);
  const auto pass = place_for_use(*model, use, session);
  CodelmDecoder decoder(model->codelm(), pass, {.record = session.plan().graph_capture.value});
  nn::ChatSession chat(decoder, *chat_template, settings.chat);
  return engine::run_chat_session(chat, request, settings, "codelm_chat");
}

}  // namespace ubique::codelm
