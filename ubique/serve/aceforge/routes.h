// SPDX-License-Identifier: Apache-2.0
// The routes that AceForge's scripts call, on top of the queue and the library.
// docs/how-to/studio.md has the table of what is there and what is not.
#pragma once

#include "ubique/serve/http/router.h"
#include "ubique/serve/services/services.h"

namespace ubique::serve {

void add_generate_routes(Router& router, Services& services);
void add_song_routes(Router& router, Services& services);

/// A handler whose errors have AceForge's form: {"error": "MESSAGE"}.
Handler in_aceforge_form(Handler handler);

/// The file that is a song's sound, of an item's JSON; empty if it has none.
std::string sound_of_item(const Json& item);

}  // namespace ubique::serve
