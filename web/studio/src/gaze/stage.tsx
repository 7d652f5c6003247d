// SPDX-License-Identifier: Apache-2.0
// The picture with its map, and boxes drawn on it with the pointer.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Box } from '../../../saliency/src/looks/attention';
import { drawMap, drawOverlay } from '../../../saliency/src/looks/heatmap';
import type { MeasuredMap, Pixels } from '../../../saliency/src/images/raster';
import { boxBetween, freeName } from './boxes';
import { contourLevels, look } from './look';

export interface Scene {
  pixels: Pixels;
  map?: MeasuredMap; // of the same size
}

/** What is shown, at the picture's own size. */
export function drawScene({ pixels, map }: Scene): Pixels {
  const { view, palette, alpha, peaks } = look.value;
  if (!map || view === 'picture') return pixels;
  const style = { palette, alpha, peaks, contours: contourLevels(look.value) };
  return view === 'map' ? drawMap(map, style) : drawOverlay(pixels, map, style);
}

type Place = readonly [number, number];

export function GazeStage({
  scene,
  boxes,
  change,
  words,
}: {
  scene: Scene | undefined;
  boxes: Box[];
  change: (boxes: Box[]) => void;
  words: string; // while there is no picture
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [drag, setDrag] = useState<{ from: Place; to: Place } | undefined>(undefined);
  const now = look.value;
  useEffect(() => {
    const { current } = canvas;
    if (!current || !scene) return;
    const { width, height, data } = drawScene(scene);
    current.width = width;
    current.height = height;
    const image = new ImageData(data as Uint8ClampedArray<ArrayBuffer>, width, height);
    current.getContext('2d')?.putImageData(image, 0, 0);
  }, [scene, now]);
  if (!scene) {
    return (
      <div class="gaze-stage">
        <p class="stage-words">{words}</p>
      </div>
    );
  }
  const { width, height } = scene.pixels;
  const placeOf = (event: PointerEvent & { currentTarget: SVGSVGElement }): Place => {
    const rect = event.currentTarget.getBoundingClientRect();
    return [
      ((event.clientX - rect.left) / rect.width) * width,
      ((event.clientY - rect.top) / rect.height) * height,
    ];
  };
  const drawn = drag && boxBetween(drag.from, drag.to, { width, height }, freeName(boxes));
  const release = () => {
    if (drawn) change([...boxes, drawn]);
    setDrag(undefined);
  };
  const stroke = Math.max(width, height) / 300;
  return (
    <div class="gaze-stage" data-shown={scene.map ? 'map' : 'picture'}>
      <div class="plate">
        <canvas
          ref={canvas}
          role="img"
          aria-label={scene.map ? 'The picture with the map of attention' : 'The picture'}
        />
        <svg
          viewBox={`0 0 ${width} ${height}`}
          preserveAspectRatio="none"
          aria-hidden="true"
          onPointerDown={(event) => {
            event.currentTarget.setPointerCapture(event.pointerId);
            setDrag({ from: placeOf(event), to: placeOf(event) });
          }}
          onPointerMove={(event) => drag && setDrag({ ...drag, to: placeOf(event) })}
          onPointerUp={release}
          onPointerCancel={() => setDrag(undefined)}
        >
          {[...boxes, ...(drawn ? [drawn] : [])].map((box) => (
            <g key={box.name}>
              <rect
                x={box.x}
                y={box.y}
                width={box.width}
                height={box.height}
                stroke-width={stroke}
              />
              <text x={box.x + 2 * stroke} y={box.y + 9 * stroke} font-size={8 * stroke}>
                {box.name}
              </text>
            </g>
          ))}
        </svg>
      </div>
    </div>
  );
}
