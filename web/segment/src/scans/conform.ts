// SPDX-License-Identifier: Apache-2.0
// From a scan as the scanner left it to the cube a network takes, in the exact way that the network
// was trained with.
import type { Preprocessing } from '../model';
import { everyAxis } from './affine';
import { conformForBrowser } from './conform-browser';
import { resampleCentred } from './conform-centred';
import type { VolumeGrid } from './grid';
import { normalise } from './normalise';
import { toCanonical } from './orientation';
import type { Scan } from './scan';
import { zoomTo } from './zoom';

function conform(scan: Scan, how: Preprocessing): VolumeGrid {
  const { shape } = how;
  const spacing = everyAxis(how.spacing);
  if (how.conform === 'brainchop') return conformForBrowser(scan, shape, spacing);
  const canonical = toCanonical(scan.volume);
  if (how.conform === 'scipy_zoom') return zoomTo(canonical, shape, spacing);
  if (how.conform === 'nibabel_conform') {
    return resampleCentred(canonical, shape, spacing, scan.storedIntegers ? 'integers' : 'none');
  }
  // The network's input is normalised in place; the scan itself must stay as it is.
  const shared = canonical.values === scan.volume.values;
  return shared ? { ...canonical, values: canonical.values.slice() } : canonical;
}

/** A network's input with the affine of its own grid, which says where each voxel came from. */
export function prepare(scan: Scan, how: Preprocessing): VolumeGrid {
  const grid = conform(scan, how);
  normalise(grid.values, how);
  return grid;
}
