// SPDX-License-Identifier: Apache-2.0
// The frame: navigation, the room that the address names, banner, queue, player, questions. Rooms
// are loaded when they are opened.
import { type Signal, signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { Player } from '../music/player';
import { type RoomName, route } from '../state/route';
import { needsToken, startFault } from '../state/session';
import { Questions } from '../ui/dialog';
import { Notice } from '../ui/notice';
import { Banner } from './banner';
import { Navigation, roomTitles } from './navigation';
import { QueueDrawer } from './queue';
import { TokenPage } from './token-page';

type Room = ComponentType;
const loaders: Record<RoomName, () => Promise<{ default: Room }>> = {
  music: () => import('../music/room'),
  brain: () => import('../brain/room'),
  gaze: () => import('../gaze/room'),
  code: () => import('../code/room'),
  puzzles: () => import('../puzzles/room'),
  machine: () => import('../machine/room'),
};
const loaded: Signal<Partial<Record<RoomName, Room>>> = signal({});
const fault = signal('');

async function load(name: RoomName): Promise<void> {
  fault.value = '';
  try {
    const { default: room } = await loaders[name]();
    loaded.value = { ...loaded.value, [name]: room };
  } catch {
    fault.value = 'This room could not be loaded. Reload the page when the server is there.';
  }
}

function CurrentRoom() {
  const name = route.value.room;
  useEffect(() => {
    document.title = `${roomTitles[name]} · Ubique studio`;
    if (!loaded.value[name]) void load(name);
  }, [name]);
  const Inside = loaded.value[name];
  return (
    <main class="room" id="room" tabIndex={-1} aria-label={roomTitles[name]}>
      {startFault.value && <Notice kind="bad">{startFault.value}</Notice>}
      {fault.value && <Notice kind="bad">{fault.value}</Notice>}
      {Inside ? <Inside /> : !fault.value && <p class="soft">Loading…</p>}
    </main>
  );
}

export function App() {
  if (needsToken.value) return <TokenPage />;
  return (
    <>
      <a class="skip" href="#room" onClick={skip}>
        Skip the navigation
      </a>
      <div class="shell">
        <Navigation />
        <div class="content">
          <Banner />
          <CurrentRoom />
          <Player />
        </div>
      </div>
      <QueueDrawer />
      <Questions />
    </>
  );
}

/** The address is the room's, so the link may not change it. */
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById('room')?.focus();
}
