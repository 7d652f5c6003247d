// SPDX-License-Identifier: Apache-2.0
// The page's elements by their ids, with the type that index.html gives them, and small ways of
// filling them.

export function byId<T extends HTMLElement>(id: string, type: new () => T): T {
  const element = document.getElementById(id);
  if (!(element instanceof type)) throw new Error(`index.html has no ${type.name} '${id}'.`);
  return element;
}

type Content = Node | string;

export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...content: Content[]
): HTMLElementTagNameMap[K] {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...content);
  return element;
}

/** Terms and what they are, in a <dl>; none hides it. */
export function fillFacts(list: HTMLElement, facts: [string, string][]): void {
  list.replaceChildren(
    ...facts.flatMap(([term, value]) => [make('dt', {}, term), make('dd', {}, value)]),
  );
  list.hidden = facts.length === 0;
}

export function swatch([red, green, blue]: [number, number, number]): HTMLElement {
  const element = make('span', { className: 'swatch' });
  element.style.background = `rgb(${red} ${green} ${blue})`;
  return element;
}
