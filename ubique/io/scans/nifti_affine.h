// SPDX-License-Identifier: Apache-2.0
// Where a scan's voxels are in space: sform, qform or spacing alone, in the order and with the
// tolerances of nibabel; and the way back, from an affine to a quaternion.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "ubique/base/error.h"
#include "ubique/io/scans/nifti.h"
#include "ubique/io/scans/nifti_fields.h"

namespace ubique::io {

/// Sets spacing, affine, its source and the two codes from the fields; the shape is known already.
/// Lengths in metres or micrometres become millimetres. Input error for what is zero, infinite,
/// absurd or singular.
void place_in_space(NiftiHeader& header, const NiftiFields& fields, const std::string& name);

/// Error of that kind unless every axis has a sensible length and the three span a space.
void check_affine(const Affine& affine, ErrorKind kind, const std::string& name);

/// An affine without shear, as the header's qform holds it (its offset is the affine's own).
struct NiftiQform {
  std::array<double, 3> quaternion{};  ///< b, c, d of a unit quaternion with a >= 0
  double handedness = 1;               ///< qfac: -1 turns the third axis around
};

/// Nothing if the axes are not at right angles.
std::optional<NiftiQform> qform_of(const Affine& affine);

std::array<double, 3> column_lengths(const Affine& affine);  ///< mm per voxel along each axis

}  // namespace ubique::io
