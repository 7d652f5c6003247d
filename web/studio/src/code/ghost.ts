// SPDX-License-Identifier: Apache-2.0
// Text that a model proposes at the caret, shown in grey: Tab takes it, Ctrl-Right takes a word,
// Escape or typing something else lets it go, typing the same keeps what is left of it.
import { Prec, type Extension, StateEffect, StateField } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView, WidgetType, keymap } from '@codemirror/view';

export interface Ghost {
  at: number;
  text: string;
}

export const setGhost = StateEffect.define<Ghost | undefined>();

class GhostWidget extends WidgetType {
  constructor(readonly text: string) {
    super();
  }
  override eq(other: GhostWidget): boolean {
    return other.text === this.text;
  }
  toDOM(): HTMLElement {
    const element = document.createElement('span');
    element.className = 'cm-ghost';
    element.textContent = this.text;
    element.setAttribute('aria-hidden', 'true'); // it is told by the status line
    return element;
  }
  override ignoreEvent(): boolean {
    return false;
  }
}

/** What is left of a proposal when somebody typed `typed` at its place. */
export function leftOf(ghost: Ghost, at: number, typed: string): Ghost | undefined {
  if (at !== ghost.at || !ghost.text.startsWith(typed)) return undefined;
  const text = ghost.text.slice(typed.length);
  return text === '' ? undefined : { at: at + typed.length, text };
}

/** The first word of a proposal with the space before it, or its first line break. */
export function firstWord(text: string): string {
  return /^(\s*\n\s*|[^\S\n]*(\w+|[^\w\s]+))/.exec(text)?.[0] ?? text;
}

export const ghostField = StateField.define<Ghost | undefined>({
  create: () => undefined,
  update(ghost, transaction) {
    for (const effect of transaction.effects) if (effect.is(setGhost)) return effect.value;
    if (!ghost) return undefined;
    if (!transaction.docChanged) return transaction.selection ? undefined : ghost;
    let left: Ghost | undefined;
    let changes = 0;
    transaction.changes.iterChanges((from, to, _newFrom, _newTo, inserted) => {
      changes += 1;
      left = from === to ? leftOf(ghost, from, inserted.toString()) : undefined;
    });
    return changes === 1 ? left : undefined;
  },
  provide: (field) =>
    EditorView.decorations.from(field, (ghost): DecorationSet => {
      if (!ghost) return Decoration.none;
      const widget = Decoration.widget({ widget: new GhostWidget(ghost.text), side: 1 });
      return Decoration.set([widget.range(ghost.at)]);
    }),
});

function insert(view: EditorView, ghost: Ghost, text: string): boolean {
  const left = leftOf(ghost, ghost.at, text);
  view.dispatch({
    changes: { from: ghost.at, insert: text },
    selection: { anchor: ghost.at + text.length },
    effects: setGhost.of(left),
    scrollIntoView: true,
    userEvent: 'input.complete',
  });
  return true;
}

function withGhost(act: (view: EditorView, ghost: Ghost) => boolean) {
  return (view: EditorView): boolean => {
    const ghost = view.state.field(ghostField, false);
    return ghost ? act(view, ghost) : false;
  };
}

export const takeGhost = withGhost((view, ghost) => insert(view, ghost, ghost.text));

export const ghostText = (changed: (ghost: Ghost | undefined) => void): Extension => [
  ghostField,
  EditorView.updateListener.of((update) => {
    const now = update.state.field(ghostField);
    if (now !== update.startState.field(ghostField)) changed(now);
  }),
  Prec.highest(
    keymap.of([
      { key: 'Tab', run: takeGhost },
      {
        key: 'Mod-ArrowRight',
        run: withGhost((view, ghost) => insert(view, ghost, firstWord(ghost.text))),
      },
      {
        key: 'Escape',
        run: withGhost((view) => {
          view.dispatch({ effects: setGhost.of(undefined) });
          return true;
        }),
      },
    ]),
  ),
];
