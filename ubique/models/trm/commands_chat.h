// SPDX-License-Identifier: Apache-2.0
// What a person can do with conversations: one function per row of `ubique VERB trm`.
#pragma once

#include "ubique/engine/family.h"

namespace ubique::trm {

engine::Command data_chat_command();  ///< data trm chat

}  // namespace ubique::trm
