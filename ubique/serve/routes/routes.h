// SPDX-License-Identifier: Apache-2.0
// The groups of routes; docs/reference/api.yaml describes them.
#pragma once

#include "ubique/serve/http/router.h"
#include "ubique/serve/services/services.h"

namespace ubique::serve {

void add_session_routes(Router& router, Services& services);
void add_job_routes(Router& router, Services& services);
void add_event_routes(Router& router, Services& services);
void add_upload_routes(Router& router, Services& services);
void add_library_routes(Router& router, Services& services);
void add_model_routes(Router& router, Services& services);
void add_machine_routes(Router& router, Services& services);
void add_run_routes(Router& router, Services& services);

/// The id of a path's {name}; 404 for what is no number.
std::int64_t id_in_path(const Request& request, const std::string& name, const char* what);
/// A file as an answer; `download`: to be saved, not shown.
Response file_answer(const std::filesystem::path& path, const std::string& type,
                     const Request& request);

}  // namespace ubique::serve
