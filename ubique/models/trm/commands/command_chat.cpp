// SPDX-License-Identifier: Apache-2.0
// `ubique run trm --chat`: opens a chat model with its tokenizer and hands it to the shared chat.
#include "ubique/engine/session/session.h"
#include "ubique/engine/walk/chat.h"
#include "ubique/engine/walk/open_model.h"
#include "ubique/io/text/tokenizer.h"
#include "ubique/models/trm/commands/commands.h"
#include "ubique/models/trm/net/model.h"
#include "ubique/models/trm/use/chat_decoder.h"
#include "ubique/models/trm/use/open.h"
#include "ubique/probe/probes/operation.h"

namespace ubique::trm {

std::vector<std::pair<std::string, std::string>> chat_examples() {
  return {{"ubique run trm --chat --model runs/chat/checkpoints/best",
           "a conversation on the terminal"},
          {"ubique run trm --chat --model runs/chat/checkpoints/best --prompt 'Who are you?' "
           "--temperature 0",
           "one question, the likeliest answer"}};
}

engine::Outcome run_chat(const engine::Request& request, std::unique_ptr<TrmModel> model) {
  const auto settings = engine::read_chat_settings(request.config);
  engine::Session session(request, plan::Mode::Run);
  // f32 by default: half precision rounds differently on every device, and a seed should give the
  // same text on all of them.
  if (!session.wishes.dtype) {
    session.wishes.dtype = DType::F32;
    session.wishes.dtype_reason = "so that a seed gives the same text on every device";
  }
  request.config.finish();
  check(request.inputs.empty(), ErrorKind::Usage,
        "[trm.chat] --chat takes no puzzles; got '{}'. --prompt TEXT asks one question.",
        request.inputs.empty() ? std::string() : request.inputs.front());

  if (!model) model = open_trm(request.model);
  check_chat_model(model->settings());
  const auto path = engine::model_path(request.model);
  const auto tokenizer = io::read_tokenizer(engine::find_tokenizer(path, settings.tokenizer));
  const io::MarkerTemplate chat_template(tokenizer);
  session.start(model->needs());
  model->network().to(session.torch_device());
  ChatDecoder decoder(model->trm(), probe::to_torch(session.plan().dtype.value));
  nn::ChatSession chat(decoder, chat_template, settings.chat);
  return engine::run_chat_session(chat, request, settings, "trm_chat");
}

}  // namespace ubique::trm
