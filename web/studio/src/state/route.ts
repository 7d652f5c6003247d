// SPDX-License-Identifier: Apache-2.0
// Where one is, in the address: #/music?task=repaint&item=12. A reload, a second tab and the back
// button then show the same.
import { signal } from '@preact/signals';

export const roomNames = ['music', 'brain', 'gaze', 'code', 'puzzles', 'machine'] as const;
export type RoomName = (typeof roomNames)[number];
export type Params = Record<string, string>;

export interface Route {
  room: RoomName;
  params: Params;
}

export function parseRoute(hash: string): Route {
  const [path, query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const room = roomNames.find((name) => name === path.replace(/\/+$/, '')) ?? 'music';
  return { room, params: Object.fromEntries(new URLSearchParams(query)) };
}

export function routeText({ room, params }: Route): string {
  const words = new URLSearchParams();
  for (const key of Object.keys(params).sort()) if (params[key] !== '') words.set(key, params[key]);
  const query = words.toString();
  return `#/${room}${query ? `?${query}` : ''}`;
}

export const route = signal<Route>(parseRoute(globalThis.location?.hash ?? ''));

// What the address of each room was when one left it: going back there finds it so.
const left = new Map<RoomName, Params>();

export function listenToAddress(): void {
  addEventListener('hashchange', () => {
    route.value = parseRoute(location.hash);
  });
  if (location.hash === '') history.replaceState(null, '', routeText(route.value));
}

export function roomAddress(room: RoomName): string {
  return routeText({
    room,
    params: route.value.room === room ? route.value.params : (left.get(room) ?? {}),
  });
}

export function go(room: RoomName, params: Params = {}): void {
  left.set(route.value.room, route.value.params);
  location.hash = routeText({ room, params });
}

/** Changes parts of the address; the empty string removes one. Without a new entry in the history
 * unless one is asked for: a slider is no place to go back to. */
export function setParams(change: Params, isStep = false): void {
  const { room, params } = route.value;
  const next: Route = { room, params: { ...params, ...change } };
  for (const [key, value] of Object.entries(next.params)) if (value === '') delete next.params[key];
  const text = routeText(next);
  left.set(room, next.params);
  if (text === routeText(route.value)) return;
  if (isStep) history.pushState(null, '', text);
  else history.replaceState(null, '', text);
  route.value = next;
}

export function param(key: string): string {
  return route.value.params[key] ?? '';
}
