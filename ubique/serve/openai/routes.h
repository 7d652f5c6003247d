// SPDX-License-Identifier: Apache-2.0
// /v1/models, /v1/completions and /v1/chat/completions, as programs for OpenAI's interface call
// them.
#pragma once

#include "ubique/serve/http/router.h"
#include "ubique/serve/openai/model_pool.h"

namespace ubique::serve {

/// The pool must outlive the router.
void add_openai_routes(Router& router, ModelPool& pool);

}  // namespace ubique::serve
