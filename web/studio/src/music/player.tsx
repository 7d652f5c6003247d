// SPDX-License-Identifier: Apache-2.0
// The player below every room, once something was played.
import { clockText } from '../state/words';
import { Fault } from '../ui/notice';
import { Sign } from '../ui/sign';
import { isPlaying, length, position, seek, soundFault, toggle, track } from './playing';
import { WaveCanvas, useWave } from './waveform';
import './player.css';

export function Player() {
  const now = track.value;
  const { wave } = useWave(now?.url);
  if (!now) return null;
  const seconds = length.value || wave?.seconds || 0;
  return (
    <section class="player" aria-label="Player">
      <button
        type="button"
        class="main icon"
        aria-label={isPlaying.value ? `Pause ${now.title}` : `Play ${now.title}`}
        onClick={toggle}
      >
        <Sign name={isPlaying.value ? 'pause' : 'play'} full={!isPlaying.value} />
      </button>
      <div class="grow">
        <div class="row apart">
          <strong class="ellipsis grow">{now.title}</strong>
          <span class="small soft clock">
            {clockText(position.value)} / {clockText(seconds)}
          </span>
        </div>
        <div class="seek">
          {wave && (
            <WaveCanvas wave={wave} look={{ from: 0, to: seconds, played: position.value }} />
          )}
          <input
            type="range"
            min={0}
            max={seconds || 1}
            step={0.1}
            value={position.value}
            aria-label="Position"
            aria-valuetext={`${clockText(position.value)} of ${clockText(seconds)}`}
            onInput={(event) => seek(event.currentTarget.valueAsNumber)}
          />
        </div>
      </div>
      <Fault text={soundFault} />
    </section>
  );
}
