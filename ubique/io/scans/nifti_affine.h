// SPDX-License-Identifier: Apache-2.0
// The affine of a scan from sform, qform or spacing, with nibabel's order of preference and
// tolerances; and the qform (quaternion) of an affine.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "ubique/base/error.h"
#include "ubique/io/scans/nifti.h"
#include "ubique/io/scans/nifti_fields.h"

namespace ubique::io {

/// Sets spacing, affine, affine_source and both codes; header.shape must be set. Converts metres
/// and micrometres to millimetres. Input error for values that are zero, infinite or implausible,
/// and for a singular affine.
void set_affine(NiftiHeader& header, const NiftiFields& fields, const std::string& name);

/// Error of `kind` unless every axis has a plausible length and the affine is not singular.
void check_affine(const Affine& affine, ErrorKind kind, const std::string& name);

/// Rotation of an affine without shear, as the header's qform stores it.
struct NiftiQform {
  std::array<double, 3> quaternion{};  ///< b, c, d of a unit quaternion with a >= 0
  double handedness = 1;               ///< qfac: -1 flips the third axis
};

/// Nothing if the axes are not at right angles.
std::optional<NiftiQform> qform_of(const Affine& affine);

std::array<double, 3> column_lengths(const Affine& affine);  ///< mm per voxel along each axis

}  // namespace ubique::io
