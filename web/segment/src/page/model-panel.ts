// SPDX-License-Identifier: Apache-2.0
// Step 2: what the chosen model is.
import { byId, fillFacts, make, swatch } from '../../../shared/page/elements';
import { countText } from '../../../shared/page/words';
import type { Manifest } from '../model';
import { preprocessingText } from './words';

const facts = byId('model-facts', HTMLDListElement);
const labels = byId('model-labels', HTMLUListElement);

export function showModel(manifest: Manifest | undefined): void {
  labels.hidden = manifest === undefined;
  if (!manifest) return fillFacts(facts, []);
  const parameters = countText(manifest.parameters);
  fillFacts(facts, [
    ['Network', `MeshNet, ${parameters} parameters, ${manifest.layers.length} layers`],
    ['Sees', `${manifest.receptive_field} voxels along each axis`],
    ['Scans are', preprocessingText(manifest.preprocessing)],
  ]);
  labels.replaceChildren(
    ...manifest.labels.map(({ name, colour }) => make('li', {}, swatch(colour), name)),
  );
}
