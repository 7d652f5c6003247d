// SPDX-License-Identifier: Apache-2.0
// Sound as a row of peaks, and the drawing of it.

export interface Wave {
  seconds: number;
  peaks: Float32Array; // the loudest of each stretch, 0 to 1
}

export const wavePieces = 1200;

/** The loudest sample of each of `pieces` stretches, over all channels. */
export function peaksOf(channels: readonly Float32Array[], pieces = wavePieces): Float32Array {
  const length = channels[0]?.length ?? 0;
  const peaks = new Float32Array(Math.min(pieces, length));
  for (const samples of channels) {
    for (let piece = 0; piece < peaks.length; ++piece) {
      const begin = Math.floor((piece * length) / peaks.length);
      const end = Math.floor(((piece + 1) * length) / peaks.length);
      for (let i = begin; i < end; ++i) {
        const value = Math.abs(samples[i]);
        if (value > peaks[piece]) peaks[piece] = value;
      }
    }
  }
  return peaks;
}

const cache = new Map<string, Promise<Wave>>();
const mostKept = 20;

async function decode(address: string): Promise<Wave> {
  const response = await fetch(address);
  if (!response.ok) throw new Error('This sound cannot be fetched.');
  const bytes = await response.arrayBuffer();
  const context = new OfflineAudioContext(1, 1, 48_000);
  const sound = await context.decodeAudioData(bytes).catch(() => {
    throw new Error('The browser cannot read this sound. WAV, FLAC, OGG and MP3 work.');
  });
  const channels = Array.from({ length: sound.numberOfChannels }, (_, i) =>
    sound.getChannelData(i),
  );
  return { seconds: sound.duration, peaks: peaksOf(channels) };
}

/** Of a sound at that address, which is decoded once. */
export function loadWave(address: string): Promise<Wave> {
  const known = cache.get(address);
  if (known) return known;
  const wave = decode(address);
  cache.set(address, wave);
  wave.catch(() => cache.delete(address));
  const [oldest] = cache.keys();
  if (cache.size > mostKept) cache.delete(oldest);
  return wave;
}

export interface Look {
  from: number; // the seconds at the left and right edge of the canvas
  to: number;
  played?: number; // seconds that are drawn in the accent colour
}

function fit(canvas: HTMLCanvasElement): CanvasRenderingContext2D | null {
  const scale = devicePixelRatio || 1;
  const { clientWidth, clientHeight } = canvas;
  const width = Math.max(1, Math.round(clientWidth * scale));
  const height = Math.max(1, Math.round(clientHeight * scale));
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  return canvas.getContext('2d');
}

/** Bars from the middle, as wide as two pixels of the screen with one between them. */
export function drawWave(canvas: HTMLCanvasElement, wave: Wave, look: Look): void {
  const context = fit(canvas);
  if (!context) return;
  const style = getComputedStyle(canvas);
  const [plain, accent] = [style.getPropertyValue('--wave'), style.getPropertyValue('--accent')];
  const { width, height } = canvas;
  const scale = devicePixelRatio || 1;
  const step = 3 * scale;
  context.clearRect(0, 0, width, height);
  for (let x = 0; x + step <= width; x += step) {
    const begin = look.from + ((look.to - look.from) * x) / width;
    const end = look.from + ((look.to - look.from) * (x + step)) / width;
    if (end <= 0 || begin >= wave.seconds) continue;
    const first = Math.max(0, Math.floor((begin / wave.seconds) * wave.peaks.length));
    const last = Math.min(wave.peaks.length, Math.ceil((end / wave.seconds) * wave.peaks.length));
    let peak = 0;
    for (let i = first; i < last; ++i) peak = Math.max(peak, wave.peaks[i]);
    const tall = Math.max(scale, Math.min(1, peak) * (height - 2 * scale));
    context.fillStyle = look.played !== undefined && begin < look.played ? accent : plain;
    context.fillRect(x, (height - tall) / 2, 2 * scale, tall);
  }
}
