// SPDX-License-Identifier: Apache-2.0
// Affines of voxel grids: products, inverses by cofactors, spacing.
#include "ubique/data/scans/volume/affine.h"

#include <cmath>

#include "ubique/base/error.h"

namespace ubique::data {

std::array<double, 3> spacing_of(const Affine& affine) {
  std::array<double, 3> spacing{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    double sum = 0;
    for (std::size_t row = 0; row < 3; ++row) sum += affine[row][axis] * affine[row][axis];
    spacing[axis] = std::sqrt(sum);
  }
  return spacing;
}

Affine multiply(const Affine& a, const Affine& b) {
  Affine product{};
  for (std::size_t row = 0; row < 4; ++row) {
    for (std::size_t column = 0; column < 4; ++column) {
      for (std::size_t i = 0; i < 4; ++i) product[row][column] += a[row][i] * b[i][column];
    }
  }
  return product;
}

double voxel_volume(const Affine& a) {
  return std::abs(a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) -
                  a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
                  a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]));
}

Affine inverse(const Affine& a) {
  Affine result{};
  for (std::size_t row = 0; row < 3; ++row) {  // the adjugate (transposed cofactors)
    const auto r1 = (row + 1) % 3, r2 = (row + 2) % 3;
    for (std::size_t column = 0; column < 3; ++column) {
      const auto c1 = (column + 1) % 3, c2 = (column + 2) % 3;
      result[row][column] = a[c1][r1] * a[c2][r2] - a[c1][r2] * a[c2][r1];
    }
  }
  double determinant = 0;
  for (std::size_t i = 0; i < 3; ++i) determinant += a[0][i] * result[i][0];
  check(std::isnormal(determinant), ErrorKind::Input,
        "[data.affine] the affine has no inverse; got a voxel of {} mm³, expected three "
        "independent directions.",
        determinant);
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 3; ++column) result[row][column] /= determinant;
    for (std::size_t i = 0; i < 3; ++i) result[row][3] -= result[row][i] * a[i][3];
  }
  result[3][3] = 1;
  return result;
}

}  // namespace ubique::data
