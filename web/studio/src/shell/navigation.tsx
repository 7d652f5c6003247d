// SPDX-License-Identifier: Apache-2.0
// The rooms, the queue in short, the machine's name, light or dark.
import { activeJobs } from '../state/jobs';
import { type RoomName, roomAddress, roomNames, route } from '../state/route';
import { session } from '../state/session';
import { type Theme, theme } from '../state/theme';
import { jobText, plural } from '../state/words';
import { JobProgress } from '../ui/job-line';
import { Sign, type SignName } from '../ui/sign';
import { queueIsOpen } from './queue';

export const roomTitles: Record<RoomName, string> = {
  music: 'Music',
  brain: 'Brain',
  gaze: 'Gaze',
  code: 'Code',
  puzzles: 'Puzzles',
  machine: 'Machine',
};

function Rooms() {
  return (
    <nav aria-label="Rooms">
      <ul class="rooms">
        {roomNames.map((name) => (
          <li key={name}>
            <a
              href={roomAddress(name)}
              aria-current={route.value.room === name ? 'page' : undefined}
            >
              <Sign name={name} />
              {roomTitles[name]}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function QueueButton() {
  const active = activeJobs.value;
  const [first] = active;
  return (
    <button type="button" class="queue-button" onClick={() => (queueIsOpen.value = true)}>
      <Sign name="queue" />
      <span class="grow">
        {active.length === 0 ? 'Queue' : plural(active.length, 'job')}
        {first && (
          <>
            <span class="detail small soft ellipsis">{jobText(first)}</span>
            <JobProgress job={first} label={`Progress of ${first.title}`} />
          </>
        )}
      </span>
    </button>
  );
}

const themeNames: { value: Theme; text: string; sign: SignName }[] = [
  { value: 'light', text: 'Light', sign: 'sun' },
  { value: 'system', text: 'As the system', sign: 'screen' },
  { value: 'dark', text: 'Dark', sign: 'moon' },
];

function ThemeChoice() {
  return (
    <fieldset>
      <legend class="unseen">Colours</legend>
      <div class="theme">
        {themeNames.map(({ value, text, sign }) => (
          <label key={value} title={text}>
            <input
              type="radio"
              class="unseen"
              name="theme"
              value={value}
              checked={theme.value === value}
              onChange={() => (theme.value = value)}
            />
            <Sign name={sign} />
            <span class="unseen">{text}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

export function Navigation() {
  const { value } = session;
  return (
    <header class="side">
      <a class="brand" href="#/music">
        <svg viewBox="0 0 32 32" aria-hidden="true">
          <rect width="32" height="32" rx="8" fill="#0f766e" />
          <path
            d="M9 8v9a7 7 0 0 0 14 0V8"
            fill="none"
            stroke="#fff"
            stroke-width="4"
            stroke-linecap="round"
          />
        </svg>
        Ubique
      </a>
      <Rooms />
      <div class="foot">
        <QueueButton />
        <ThemeChoice />
        {value && (
          <p class="machine-name small soft ellipsis" title={value.device.name}>
            {value.device.name}
          </p>
        )}
      </div>
    </header>
  );
}
