// SPDX-License-Identifier: Apache-2.0
// Text attributes of HDF5 objects: of fixed length in place, of any length in the file's heap.
#pragma once

#include <optional>
#include <string>

#include "ubique/io/hdf5.h"
#include "ubique/io/hdf5_object.h"

namespace ubique::io {

/// Nothing for an attribute that is no text.
std::optional<Hdf5Attribute> hdf5_attribute(const Hdf5Source& source, const std::string& owner,
                                            std::span<const std::byte> message);

}  // namespace ubique::io
