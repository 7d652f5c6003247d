// SPDX-License-Identifier: Apache-2.0
// What write_nifti() puts before the voxels; of its own, so that it can be tested without files.
#pragma once

#include <string>

#include "ubique/io/scans/nifti.h"

namespace ubique::io {

/// Everything before the voxels of a single file. Internal error for an impossible header.
std::string nifti_file_start(const NiftiHeader& like, DType dtype,
                             const NiftiScaling& scaling = {});

}  // namespace ubique::io
