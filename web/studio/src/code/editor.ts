// SPDX-License-Identifier: Apache-2.0
// CodeMirror with what this room needs. It lives in a shadow root: there its styles are style sheets
// of the document's own making, which a strict content security policy allows, and not <style>
// elements, which it refuses.
import { closeBrackets } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { cpp } from '@codemirror/lang-cpp';
import { javascript } from '@codemirror/lang-javascript';
import { python } from '@codemirror/lang-python';
import {
  HighlightStyle,
  bracketMatching,
  indentOnInput,
  indentUnit,
  syntaxHighlighting,
} from '@codemirror/language';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import {
  EditorView,
  drawSelection,
  highlightActiveLine,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { type Ghost, ghostText, setGhost, takeGhost } from './ghost';
import type { Language } from './languages';

const languages: Record<Language, () => Extension> = {
  python: () => [python(), indentUnit.of('    ')],
  javascript: () => [javascript({ typescript: true }), indentUnit.of('  ')],
  cpp: () => [cpp(), indentUnit.of('  ')],
};

/** Colours that hold on light and dark ground: the page's variables reach into the shadow root. */
const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.controlKeyword], color: 'var(--code-keyword)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--code-text)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--code-number)' },
  { tag: [tags.comment], color: 'var(--soft)', fontStyle: 'italic' },
  {
    tag: [tags.function(tags.variableName), tags.function(tags.definition(tags.variableName))],
    color: 'var(--code-function)',
  },
  { tag: [tags.typeName, tags.className], color: 'var(--code-type)' },
]);

const theme = EditorView.theme({
  '&': { height: '100%', fontSize: '14px', color: 'var(--ink)', backgroundColor: 'transparent' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55' },
  '.cm-content': { caretColor: 'var(--accent)', padding: '0.6rem 0' },
  '.cm-cursor': { borderLeftColor: 'var(--accent)', borderLeftWidth: '2px' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--soft)', border: '0' },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--accent) 7%, transparent)' },
  '.cm-activeLineGutter': { backgroundColor: 'transparent', color: 'var(--ink)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground':
    {
      backgroundColor: 'color-mix(in srgb, var(--accent) 28%, transparent)',
    },
  '.cm-ghost': { color: 'var(--soft)', fontStyle: 'italic', whiteSpace: 'pre-wrap' },
});

export interface EditorEvents {
  changed: (text: string, isTyped: boolean) => void;
  ghostChanged: (ghost: Ghost | undefined) => void;
  asked: () => void; // Ctrl-Space
}

export class CodeEditor {
  private readonly view: EditorView;
  private readonly language = new Compartment();

  constructor(host: HTMLElement, text: string, language: Language, events: EditorEvents) {
    const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
    const ask = () => {
      events.asked();
      return true;
    };
    const listener = EditorView.updateListener.of((update) => {
      if (!update.docChanged) return;
      const isTyped = update.transactions.some(
        (one) => one.isUserEvent('input.type') || one.isUserEvent('delete'),
      );
      events.changed(update.state.doc.toString(), isTyped);
    });
    const state = EditorState.create({
      doc: text,
      selection: { anchor: text.length },
      extensions: [
        ghostText(events.ghostChanged),
        lineNumbers(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        highlightActiveLine(),
        syntaxHighlighting(colours),
        theme,
        listener,
        keymap.of([
          { key: 'Ctrl-Space', run: ask },
          ...defaultKeymap,
          ...historyKeymap,
          indentWithTab,
        ]),
        this.language.of(languages[language]()),
        EditorView.contentAttributes.of({ 'aria-label': 'Code', spellcheck: 'false' }),
        EditorView.lineWrapping,
      ],
    });
    this.view = new EditorView({ state, parent: root, root });
  }

  /** The text before and after the caret. */
  around(): { before: string; after: string; at: number } {
    const { state } = this.view;
    const { head } = state.selection.main;
    return { before: state.sliceDoc(0, head), after: state.sliceDoc(head), at: head };
  }

  propose(ghost: Ghost | undefined): void {
    if (ghost && ghost.at > this.view.state.doc.length) return;
    this.view.dispatch({ effects: setGhost.of(ghost) });
  }

  take(): void {
    takeGhost(this.view);
    this.view.focus();
  }

  setText(text: string): void {
    const { doc } = this.view.state;
    if (doc.toString() === text) return;
    this.view.dispatch({
      changes: { from: 0, to: doc.length, insert: text },
      selection: { anchor: text.length },
    });
  }

  setLanguage(language: Language): void {
    this.view.dispatch({ effects: this.language.reconfigure(languages[language]()) });
  }

  focus(): void {
    this.view.focus();
  }

  end(): void {
    this.view.destroy();
  }
}
