// SPDX-License-Identifier: Apache-2.0
// The volumes of the labels, and the files to keep.
import { useEffect, useRef } from 'preact/hooks';
import type { Item } from '../api/types';
import { handOut } from '../../../shared/page/downloads';
import { countText } from '../state/words';
import { Sign } from '../ui/sign';
import { Wide } from '../ui/wide';
import { type Segmented, volumesCsv } from './outcome';
import { colourOf } from './colours';

function Swatch({ label }: { label: number }) {
  const element = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (element.current) element.current.style.background = `rgb(${colourOf(label).join(' ')})`;
  }, [label]);
  return <span ref={element} class="swatch" />;
}

export function VolumeTable({ segmented, item }: { segmented: Segmented; item: Item }) {
  const { volumes, labels, scan } = segmented;
  const overlay = item.files.find(({ name }) => /_overlay\.png$/.test(name));
  return (
    <section class="panel" aria-labelledby="volumes-title">
      <h2 id="volumes-title">Volumes</h2>
      {volumes.length === 0 && <p>Nothing but background was found.</p>}
      {volumes.length > 0 && (
        <Wide label="Volumes">
          <table class="figures">
            <thead>
              <tr>
                <th scope="col">Label</th>
                <th scope="col">Voxels</th>
                <th scope="col">ml</th>
              </tr>
            </thead>
            <tbody>
              {volumes.map(({ label, name, voxels, mm3 }) => (
                <tr key={label}>
                  <th scope="row">
                    <Swatch label={label} />
                    {name}
                  </th>
                  <td>{countText(voxels)}</td>
                  <td>{(mm3 / 1000).toFixed(1)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Wide>
      )}
      <div class="row">
        {labels && (
          <a class="button" href={labels.url} download={labels.name}>
            <Sign name="download" />
            Label map
          </a>
        )}
        {overlay && (
          <a class="button" href={overlay.url} download={overlay.name}>
            <Sign name="download" />
            Picture
          </a>
        )}
        {volumes.length > 0 && (
          <button
            type="button"
            onClick={() =>
              handOut(new Blob([volumesCsv(volumes)], { type: 'text/csv' }), `${scan}_volumes.csv`)
            }
          >
            <Sign name="download" />
            Volumes as CSV
          </button>
        )}
      </div>
    </section>
  );
}
