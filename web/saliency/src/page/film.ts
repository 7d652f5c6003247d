// SPDX-License-Identifier: Apache-2.0
// A running camera: picture after picture is looked at and shown with the map that belongs to it.
import { Smoothing } from '../camera/smoothing';
import type { Camera } from '../camera/camera';
import { FrameRate } from '../camera/frame-rate';
import { Pace, TARGET, largestWithin } from '../camera/pace';
import type { Look } from '../engines';
import type { Pixels, SaliencyMap } from '../images/raster';
import { type Size, areaOf } from '../model';
import { chosenSmoothing, showRate } from './camera-panel';
import type { Ready } from './model-desk';
import { chosenSize } from './model-panel';

/** Frames for a camera: none larger than the network has learned at. */
function paceFor({ model, choice }: Ready): Pace {
  const { size, sizes } = model.manifest;
  const within = sizes.filter((each) => areaOf(each) <= areaOf(size));
  const measured = { size: choice.trialSize, seconds: choice.chosen.seconds };
  return new Pace(within, largestWithin(within, measured, TARGET));
}

/** Until it is no longer wanted. */
export async function film(
  camera: Camera,
  ready: Ready,
  isWanted: () => boolean,
  look: (pixels: Pixels, size: Size) => Promise<Look>,
  show: (pixels: Pixels, map: SaliencyMap) => void,
): Promise<void> {
  const pace = paceFor(ready);
  const rate = new FrameRate();
  const smoothing = new Smoothing();
  while (isWanted()) {
    const pixels = await camera.nextFrame();
    if (!isWanted()) return;
    const own = chosenSize();
    const size = own ?? pace.size;
    const { map, seconds } = await look(pixels, size);
    if (!isWanted()) return;
    if (!own) pace.took(seconds);
    show(pixels, smoothing.next(map, chosenSmoothing()));
    showRate(rate.tick(performance.now() / 1000), size);
  }
}
