// SPDX-License-Identifier: Apache-2.0
// Affines of voxel grids, from voxel indices to millimetres: spacing, products, inverses.
#pragma once

#include <array>

#include "ubique/io/scans/nifti.h"

namespace ubique::data {

using io::Affine;

/// Millimetres per voxel along each axis.
std::array<double, 3> spacing_of(const Affine& affine);
double voxel_volume(const Affine& affine);  ///< mm³
Affine inverse(const Affine& affine);       ///< Input error if it is singular
Affine multiply(const Affine& a, const Affine& b);

}  // namespace ubique::data
