// SPDX-License-Identifier: Apache-2.0
// How much of the attention falls into each box.
import { type Box, attentionCsv, attentionIn } from '../../../saliency/src/looks/attention';
import type { MeasuredMap } from '../../../saliency/src/images/raster';
import { handOut } from '../../../shared/page/downloads';
import { TextField } from '../ui/fields';
import { Sign } from '../ui/sign';
import { Wide } from '../ui/wide';
import { freeName } from './boxes';

export function BoxTable({
  map,
  boxes,
  change,
  name,
}: {
  map: MeasuredMap;
  boxes: Box[];
  change: (boxes: Box[]) => void;
  name: string;
}) {
  const rows = boxes.flatMap((box) => {
    const attention = attentionIn(map, box);
    return attention ? [{ box, attention }] : [];
  });
  const set = (old: Box, part: Partial<Box>) =>
    change(boxes.map((box) => (box === old ? { ...box, ...part } : box)));
  const add = () => {
    const [width, height] = [Math.round(map.width / 2), Math.round(map.height / 2)];
    const box = {
      name: freeName(boxes),
      x: Math.round(width / 2),
      y: Math.round(height / 2),
      width,
      height,
    };
    change([...boxes, box]);
  };
  const csv = () =>
    new Blob(
      [
        attentionCsv(
          name,
          rows.map(({ box, attention }) => [box, attention]),
        ),
      ],
      { type: 'text/csv' },
    );
  return (
    <section class="panel" aria-labelledby="boxes-title">
      <div class="panel-head">
        <h2 id="boxes-title">Attention in boxes</h2>
        <div class="row">
          <button type="button" onClick={add}>
            <Sign name="plus" />
            Add a box
          </button>
          {rows.length > 0 && (
            <button type="button" onClick={() => handOut(csv(), 'attention.csv')}>
              <Sign name="download" />
              CSV
            </button>
          )}
        </div>
      </div>
      {rows.length === 0 && (
        <p class="soft">
          Drag on the picture to draw a box. Its share of the attention is told here, and how many
          times that is what its size would get by chance.
        </p>
      )}
      {rows.length > 0 && (
        <Wide label="Boxes">
          <table class="figures">
            <thead>
              <tr>
                <th scope="col">Box</th>
                <th scope="col">Attention</th>
                <th scope="col">Area</th>
                <th scope="col">× chance</th>
                <th scope="col">
                  <span class="unseen">Remove</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ box, attention }, i) => (
                <tr key={i}>
                  <td>
                    <TextField
                      label={`Name of box ${i + 1}`}
                      isLabelUnseen
                      value={box.name}
                      change={(text) => set(box, { name: text })}
                    />
                  </td>
                  <td>{(100 * attention.share).toFixed(1)} %</td>
                  <td>{(100 * attention.area).toFixed(1)} %</td>
                  <td>{attention.lift.toFixed(2)}</td>
                  <td>
                    <button
                      type="button"
                      class="icon plain"
                      aria-label={`Remove ${box.name}`}
                      onClick={() => change(boxes.filter((one) => one !== box))}
                    >
                      <Sign name="close" />
                    </button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Wide>
      )}
    </section>
  );
}
