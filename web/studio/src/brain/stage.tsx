// SPDX-License-Identifier: Apache-2.0
// The viewer on its canvas, what it shows, and how strong the labels are.
import { useEffect, useRef, useState } from 'preact/hooks';
import { send } from '../api/client';
import { Slider } from '../ui/fields';
import type { Segmented } from './outcome';
import type { BrainViewer } from './viewer';

export interface Shown {
  name: string;
  bytes: () => Promise<ArrayBuffer>; // of the scan
  key: string; // another one for another scan
}

const percent = (value: number) => `${Math.round(100 * value)} %`;

function explained(error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  return (
    `No picture: ${reason} The viewer needs WebGL 2. ` +
    'Segmenting, volumes and downloads work without it.'
  );
}

export function BrainStage({
  shown,
  segmented,
}: {
  shown: Shown | undefined;
  segmented: Segmented | undefined;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const viewer = useRef<Promise<BrainViewer> | undefined>(undefined);
  const [place, setPlace] = useState('');
  const [fault, setFault] = useState('');
  const [isReady, setReady] = useState(false);
  const [opacity, setOpacity] = useState(0.6);
  const open = () => {
    viewer.current ??= import('./viewer').then(({ BrainViewer: Viewer }) => {
      if (!canvas.current) throw new Error('The page was left.');
      return new Viewer(canvas.current, setPlace);
    });
    return viewer.current;
  };
  useEffect(() => {
    let isMine = true;
    setReady(false);
    setFault('');
    if (!shown) return undefined;
    const show = async () => {
      const [view, bytes] = await Promise.all([open(), shown.bytes()]);
      if (isMine) await view.showScan(bytes, shown.name);
      if (isMine) setReady(true);
    };
    show().catch((error) => isMine && setFault(explained(error)));
    return () => {
      isMine = false;
    };
  }, [shown?.key]);
  useEffect(() => {
    let isMine = true;
    const labels = segmented?.labels;
    if (!isReady || !labels) return undefined;
    const show = async () => {
      const bytes = await (await send(labels.url)).arrayBuffer();
      const view = await open();
      if (isMine) await view.showLabels(bytes, segmented.volumes, opacity);
    };
    show().catch((error) => isMine && setFault(explained(error)));
    return () => {
      isMine = false;
    };
  }, [isReady, segmented?.labels?.url]);
  const change = (value: number) => {
    setOpacity(value);
    void viewer.current?.then((view) => view.setOpacity(value));
  };
  return (
    <section class="panel bare" aria-label="Viewer">
      <div class="stage" data-shown={isReady ? (segmented?.labels ? 'labels' : 'scan') : 'nothing'}>
        <canvas
          ref={canvas}
          tabIndex={0}
          role="img"
          aria-label="Three planes through the scan and a rendering. Click to move the crosshair; what is there is told below."
        />
        {(!shown || fault) && (
          <p class="stage-words">
            {fault || 'The scan appears here. You can also drop one on the page.'}
          </p>
        )}
      </div>
      <div class="stage-bar">
        <output class="small" aria-label="At the crosshair">
          {place}
        </output>
        {segmented?.labels && (
          <Slider
            label="Labels"
            min={0}
            max={1}
            step={0.05}
            value={opacity}
            text={percent}
            change={change}
          />
        )}
      </div>
    </section>
  );
}
