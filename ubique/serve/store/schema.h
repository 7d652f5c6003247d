// SPDX-License-Identifier: Apache-2.0
// The tables of the data folder, and how older ones become today's.
#pragma once

#include <filesystem>
#include <memory>

#include "ubique/serve/store/database.h"

namespace ubique::serve {

constexpr int kSchemaVersion = 2;

/// Opens FOLDER/studio.db, making it or bringing it up to date; of an older one a copy stays beside
/// it (studio.db.v1). Input error, with nothing touched, for one of a newer program or another one.
std::unique_ptr<Database> open_database(const std::filesystem::path& folder);

}  // namespace ubique::serve
