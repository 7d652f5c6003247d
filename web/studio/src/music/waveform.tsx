// SPDX-License-Identifier: Apache-2.0
// A waveform, and a region on it that is dragged with a pointer or moved with keys.
import { useEffect, useRef, useState } from 'preact/hooks';
import { clockText } from '../state/words';
import {
  type Edge,
  type Limits,
  type Region,
  beginRegion,
  dragRegion,
  keyedEdge,
  settleRegion,
} from './region';
import { type Look, type Wave, drawWave, loadWave } from './wave';

/** Draws anew when its size or the colours of the page change. */
function useDrawing(wave: Wave | undefined, look: Look) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const { current } = canvas;
    if (!current || !wave) return undefined;
    const draw = () => drawWave(current, wave, look);
    draw();
    const sizes = new ResizeObserver(draw);
    sizes.observe(current);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', draw);
    const theme = new MutationObserver(draw);
    theme.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
    return () => {
      sizes.disconnect();
      dark.removeEventListener('change', draw);
      theme.disconnect();
    };
  }, [wave, look.from, look.to, look.played]);
  return canvas;
}

export function useWave(address: string | undefined): { wave?: Wave; fault?: string } {
  const [state, setState] = useState<{ address?: string; wave?: Wave; fault?: string }>({});
  useEffect(() => {
    let isMine = true;
    if (!address) return undefined;
    loadWave(address)
      .then((wave) => isMine && setState({ address, wave }))
      .catch((error: Error) => isMine && setState({ address, fault: error.message }));
    return () => {
      isMine = false;
    };
  }, [address]);
  return state.address === address ? state : {};
}

export function WaveCanvas({ wave, look }: { wave: Wave; look: Look }) {
  const canvas = useDrawing(wave, look);
  return <canvas ref={canvas} class="wave" aria-hidden="true" />;
}

function Handle({
  edge,
  label,
  region,
  limits,
  move,
}: {
  edge: Edge;
  label: string;
  region: Region;
  limits: Limits;
  move: (edge: Edge, at: number) => void;
}) {
  const place = (region[edge] - limits.first) / (limits.last - limits.first);
  return (
    <button
      type="button"
      class={`handle ${edge}`}
      style={{ left: `${100 * place}%` }}
      role="slider"
      aria-label={label}
      aria-valuemin={Math.round(limits.first * 10) / 10}
      aria-valuemax={Math.round(limits.last * 10) / 10}
      aria-valuenow={Math.round(region[edge] * 10) / 10}
      aria-valuetext={`${region[edge].toFixed(1)} seconds`}
      data-edge={edge}
      onKeyDown={(event) => {
        const at = keyedEdge(event.key, event.shiftKey, region[edge], limits);
        if (at === undefined) return;
        event.preventDefault();
        move(edge, at);
      }}
    />
  );
}

export function RegionWave(props: {
  wave: Wave;
  region: Region | undefined;
  limits: Limits;
  labels: Record<Edge, string>;
  move: (edge: Edge, at: number) => void;
  draw?: (region: Region | undefined) => void; // where a region may be drawn anew
}) {
  const { wave, region, limits } = props;
  const stage = useRef<HTMLDivElement>(null);
  const drag = useRef<{ anchor: number; edge?: Edge } | undefined>(undefined);
  const [drawn, setDrawn] = useState<Region | undefined>(undefined);
  const shown = drawn ?? region;
  const timeAt = (event: PointerEvent) => {
    const box = stage.current?.getBoundingClientRect();
    if (!box) return 0;
    return limits.first + ((event.clientX - box.left) / box.width) * (limits.last - limits.first);
  };
  const press = (event: PointerEvent) => {
    const target = event.target as HTMLElement;
    const edge = target.dataset.edge as Edge | undefined;
    if (!edge && !props.draw) return;
    if (!edge) event.preventDefault();
    stage.current?.setPointerCapture(event.pointerId);
    drag.current = { anchor: timeAt(event), edge };
    if (!edge) setDrawn(beginRegion(timeAt(event), limits));
  };
  const pull = (event: PointerEvent) => {
    if (!drag.current) return;
    const { anchor, edge } = drag.current;
    if (edge) props.move(edge, timeAt(event));
    else setDrawn(dragRegion(anchor, timeAt(event), limits));
  };
  const release = () => {
    if (drag.current && !drag.current.edge && drawn) props.draw?.(settleRegion(drawn, limits));
    drag.current = undefined;
    setDrawn(undefined);
  };
  const share = (at: number) => (at - limits.first) / (limits.last - limits.first);
  return (
    <div>
      <div
        ref={stage}
        class={props.draw ? 'region-stage drawable' : 'region-stage'}
        onPointerDown={press}
        onPointerMove={pull}
        onPointerUp={release}
        onPointerCancel={release}
      >
        <WaveCanvas wave={wave} look={{ from: limits.first, to: limits.last }} />
        {limits.first < 0 && (
          <div
            class="clip-frame"
            style={{
              left: `${100 * share(0)}%`,
              width: `${100 * (share(wave.seconds) - share(0))}%`,
            }}
          />
        )}
        {shown && (
          <div
            class="region"
            style={{
              left: `${100 * share(shown.from)}%`,
              width: `${100 * (share(shown.to) - share(shown.from))}%`,
            }}
          />
        )}
        {shown &&
          (['from', 'to'] as const).map((edge) => (
            <Handle
              key={edge}
              edge={edge}
              label={props.labels[edge]}
              region={shown}
              limits={limits}
              move={props.move}
            />
          ))}
      </div>
      <div class="row apart small soft" aria-hidden="true">
        <span>{limits.first < 0 ? `−${clockText(-limits.first)}` : '0:00'}</span>
        <span>{clockText(limits.last)}</span>
      </div>
    </div>
  );
}
