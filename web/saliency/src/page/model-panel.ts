// SPDX-License-Identifier: Apache-2.0
// Step 2: what the chosen model is, and the frame that pictures are brought to.
import { byId, fillFacts, make } from '../../../shared/page/elements';
import { countText } from '../../../shared/page/words';
import { type Manifest, type Size, sameSize, sizeText } from '../model';

const facts = byId('model-facts', HTMLDListElement);
const select = byId('size', HTMLSelectElement);
let sizes: Size[] = [];

export function showModel(manifest: Manifest): void {
  const { dataset, parameters, size, weights } = manifest;
  const bits = weights === 'f16' ? '16-bit weights' : '32-bit weights';
  fillFacts(facts, [
    ['Network', `MSI-Net, ${countText(parameters)} parameters, ${bits}`],
    ['Has learned', `at ${sizeText(size)}${dataset ? `, from ${dataset}` : ''}`],
  ]);
  offerSizes(manifest);
}

function offerSizes(manifest: Manifest): void {
  const before = select.value;
  sizes = manifest.sizes;
  select.replaceChildren(
    make('option', { value: 'auto' }, 'Automatic'),
    ...sizes.map((size, i) => {
      const own = sameSize(size, manifest.size) ? ' (its own)' : '';
      return make('option', { value: String(i) }, `${sizeText(size)}${own}`);
    }),
  );
  select.value = before in sizes ? before : 'auto';
  select.disabled = false;
}

/** A person's own choice; none: automatic. */
export function chosenSize(): Size | undefined {
  return sizes[Number(select.value)];
}

export function onSize(changed: () => void): void {
  select.addEventListener('change', changed);
}
