// SPDX-License-Identifier: Apache-2.0
// What was made: one collection per kind, filled when a room asks for it and kept right by events.
import { type Signal, signal } from '@preact/signals';
import { api, withQuery } from '../api/client';
import { type Item, type ItemFile, type ItemKind, type Playlist, itemKinds } from '../api/types';
import { jobOutcome, listOf } from './jobs';

const time = ({ created }: Item) => Date.parse(created) || 0;

export class Collection {
  readonly items: Signal<Item[]> = signal([]);
  readonly isLoaded = signal(false);
  readonly hasMore = signal(false);

  constructor(
    readonly kind: ItemKind,
    private readonly page = 100,
  ) {}

  async load(): Promise<void> {
    const items = await this.ask();
    this.items.value = items;
    this.hasMore.value = items.length >= this.page;
    this.isLoaded.value = true;
  }

  async more(): Promise<void> {
    const after = this.items.value.at(-1)?.id;
    const items = await this.ask(after);
    const known = new Set(this.items.value.map(({ id }) => id));
    this.items.value = [...this.items.value, ...items.filter(({ id }) => !known.has(id))];
    this.hasMore.value = items.length >= this.page;
  }

  private async ask(after?: string): Promise<Item[]> {
    const path = withQuery('api/library', { kind: this.kind, limit: this.page, after });
    return listOf<Item>(await api.get(path), 'items');
  }

  put(item: Item): void {
    if (item.kind !== this.kind) return;
    const others = this.items.value.filter(({ id }) => id !== item.id);
    this.items.value = [item, ...others].sort((a, b) => time(b) - time(a));
  }

  remove(id: string): void {
    this.items.value = this.items.value.filter((item) => item.id !== id);
  }
}

export const collections = Object.fromEntries(
  itemKinds.map((kind) => [kind, new Collection(kind)]),
) as Record<ItemKind, Collection>;

export function tookLibraryEvent(news: Item | { id: string; deleted: true }): void {
  for (const collection of Object.values(collections)) {
    if ('deleted' in news) collection.remove(news.id);
    else if (collection.isLoaded.value) collection.put(news);
  }
}

/** With its outcome, however large that is. */
export async function fetchItem(id: string): Promise<Item> {
  const item = await api.get<Item>(`api/library/${encodeURIComponent(id)}`);
  if (item.outcome !== null || !item.job) return item;
  return { ...item, outcome: await jobOutcome(item.job).catch(() => null) };
}

export async function changeItem(
  item: Item,
  change: Partial<Pick<Item, 'title' | 'liked'>>,
): Promise<void> {
  const answer = await api.patch<Item | undefined>(
    `api/library/${encodeURIComponent(item.id)}`,
    change,
  );
  collections[item.kind]?.put(answer?.id ? answer : { ...item, ...change });
}

export async function deleteItem(item: Item): Promise<void> {
  await api.delete(`api/library/${encodeURIComponent(item.id)}?confirm=yes`);
  collections[item.kind]?.remove(item.id);
}

export const fileNamed = (item: Item, pattern: RegExp): ItemFile | undefined =>
  item.files.find(({ name }) => pattern.test(name));

const lastPart = (path: string) => path.split('/').at(-1) ?? path;
/** The file that an outcome names by a path of the server. */
export const fileOfPath = (item: Item, path: string): ItemFile | undefined =>
  item.files.find(({ name }) => name === path || lastPart(name) === lastPart(path));

export const playlists = signal<Playlist[]>([]);

export async function loadPlaylists(): Promise<void> {
  playlists.value = listOf<Playlist>(await api.get('api/playlists'), 'playlists');
}

export async function addPlaylist(name: string): Promise<void> {
  await api.post('api/playlists', { name });
  await loadPlaylists();
}

export async function changePlaylist(id: string, change: Partial<Playlist>): Promise<void> {
  await api.patch(`api/playlists/${encodeURIComponent(id)}`, change);
  await loadPlaylists();
}

export async function deletePlaylist(id: string): Promise<void> {
  await api.delete(`api/playlists/${encodeURIComponent(id)}`);
  await loadPlaylists();
}
