// SPDX-License-Identifier: Apache-2.0
// What a room made before: open it again, or delete it.
import { useEffect } from 'preact/hooks';
import type { Item, ItemKind } from '../api/types';
import { collections, deleteItem } from '../state/library';
import { param, setParams } from '../state/route';
import { whenText } from '../state/words';
import { confirm } from './dialog';
import { Attempt, Fault } from './notice';
import { Sign } from './sign';

const attempt = new Attempt();

async function remove(item: Item): Promise<void> {
  const isSure = await confirm(
    `Delete “${item.title}”?`,
    'The result and its files are deleted. This cannot be undone.',
    'Delete',
  );
  if (!isSure) return;
  await attempt.run(() => deleteItem(item));
  if (param('item') === item.id) setParams({ item: '' });
}

export function ItemList({
  kind,
  title,
  isOurs = () => true,
}: {
  kind: ItemKind;
  title: string;
  isOurs?: (item: Item) => boolean;
}) {
  const collection = collections[kind];
  useEffect(() => void attempt.run(() => collection.load()), [kind]);
  const items = collection.items.value.filter(isOurs);
  if (items.length === 0) return <Fault text={attempt.fault} />;
  return (
    <section class="panel" aria-label={title}>
      <h2>{title}</h2>
      <Fault text={attempt.fault} />
      <ul class="item-list">
        {items.map((item) => (
          <li key={item.id} class="row">
            <button
              type="button"
              class="plain grow item-open"
              aria-current={param('item') === item.id ? 'true' : undefined}
              onClick={() => setParams({ item: item.id, job: '' }, true)}
            >
              <span class="ellipsis grow">{item.title}</span>
              <span class="small soft">{whenText(item.created)}</span>
            </button>
            <button
              type="button"
              class="icon plain"
              aria-label={`Delete ${item.title}`}
              onClick={() => remove(item)}
            >
              <Sign name="trash" />
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
