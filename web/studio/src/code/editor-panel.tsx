// SPDX-License-Identifier: Apache-2.0
// The editor and the model that goes on where the caret is.
import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { streamCompletion } from '../api/completions';
import { handOut } from '../../../shared/page/downloads';
import { isRecord, keptInTab } from '../state/kept';
import { param, setParams } from '../state/route';
import { Select } from '../ui/fields';
import { Attempt, Fault } from '../ui/notice';
import { Sign } from '../ui/sign';
import type { CodeEditor } from './editor';
import { type Language, examples, fileEndings, languageNames, languageTitles } from './languages';
import { servedModel } from './model';
import { promptOf, trimmedProposal } from './prompt';
import { settings } from './settings';

type Texts = Partial<Record<Language, string>>;
const isTexts = (value: unknown): value is Texts => isRecord(value);
const texts = keptInTab<Texts>('texts', {}, isTexts);
const attempt = new Attempt();
const proposal = signal('');
const pause = 500; // ms after the last key

let abort = new AbortController();

/** Asks the model to go on at the caret; the text appears in grey while it comes. */
async function propose(editor: CodeEditor): Promise<void> {
  abort.abort();
  const mine = new AbortController();
  abort = mine;
  editor.propose(undefined);
  const around = editor.around();
  const { held, ...prompt } = promptOf(around);
  let text = '';
  const { maxTokens, temperature } = settings.value;
  const show = () => {
    const shown = trimmedProposal(text, around.after, held);
    if (!mine.signal.aborted && shown !== '') editor.propose({ at: around.at, text: shown });
  };
  await attempt.run(() =>
    streamCompletion(
      { model: servedModel(), ...prompt, max_tokens: maxTokens, temperature },
      (piece) => {
        text += piece;
        show();
      },
      mine.signal,
    ),
  );
}

const language = (): Language =>
  languageNames.find((name) => name === param('language')) ?? 'python';

/** The editor, which is loaded when this is first shown. */
function useEditor(now: Language) {
  const host = useRef<HTMLDivElement>(null);
  const [editor, setEditor] = useState<CodeEditor | undefined>(undefined);
  const [fault, setFault] = useState('');
  useEffect(() => {
    let made: CodeEditor | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isMine = true;
    const typed = (isTyped: boolean) => {
      clearTimeout(timer);
      abort.abort();
      if (isTyped && settings.value.byItself && servedModel()) {
        timer = setTimeout(() => made && void propose(made), pause);
      }
    };
    const open = async () => {
      const { CodeEditor: Editor } = await import('./editor');
      if (!isMine || !host.current) return;
      const text = texts.value[now] ?? examples[now];
      made = new Editor(host.current, text, now, {
        changed: (next, isTyped) => {
          texts.value = { ...texts.value, [language()]: next };
          typed(isTyped && proposal.value === '');
        },
        ghostChanged: (ghost) => (proposal.value = ghost?.text ?? ''),
        asked: () => made && void propose(made),
      });
      setEditor(made);
    };
    open().catch(() => isMine && setFault('The editor could not be loaded. Reload the page.'));
    return () => {
      isMine = false;
      clearTimeout(timer);
      abort.abort();
      made?.end();
    };
  }, []);
  return { host, editor, fault };
}

export function EditorPanel() {
  const now = language();
  const { host, editor, fault } = useEditor(now);
  const choose = (next: Language) => {
    setParams({ language: next === 'python' ? '' : next }, true);
  };
  useEffect(() => {
    if (!editor) return;
    editor.setLanguage(now);
    editor.setText(texts.value[now] ?? examples[now]);
  }, [editor, now]);
  const save = () =>
    handOut(
      new Blob([texts.value[now] ?? examples[now]], { type: 'text/plain' }),
      `code.${fileEndings[now]}`,
    );
  const hasProposal = proposal.value !== '';
  return (
    <section class="panel stack" aria-label="Editor">
      <div class="row apart">
        <Select
          label="Language"
          isLabelUnseen
          value={now}
          choices={languageNames.map((value) => ({ value, text: languageTitles[value] }))}
          change={choose}
        />
        <div class="row">
          <button type="button" class="plain" onClick={() => editor?.setText(examples[now])}>
            <Sign name="again" />
            Example
          </button>
          <button type="button" class="plain" onClick={save}>
            <Sign name="download" />
            Save
          </button>
        </div>
      </div>
      <div class="editor-host" ref={host} />
      {fault && (
        <p class="bad-words" role="alert">
          {fault}
        </p>
      )}
      <Fault text={attempt.fault} />
      <div class="row apart">
        <div class="row">
          {attempt.busy.value ? (
            <button type="button" onClick={() => abort.abort()}>
              <Sign name="stop" />
              Stop
            </button>
          ) : (
            <button
              type="button"
              class="main"
              disabled={!editor || !servedModel()}
              onClick={() => editor && propose(editor)}
            >
              <Sign name="spark" />
              Go on from here
            </button>
          )}
          {hasProposal && (
            <>
              <button type="button" onClick={() => editor?.take()}>
                <Sign name="check" />
                Take it
              </button>
              <button type="button" class="plain" onClick={() => editor?.propose(undefined)}>
                Let it go
              </button>
            </>
          )}
        </div>
        <p class="hint">
          <kbd>Ctrl</kbd> <kbd>Space</kbd> asks, <kbd>Tab</kbd> takes it, <kbd>Esc</kbd> lets it go,{' '}
          <kbd>Esc</kbd> <kbd>Tab</kbd> leaves the editor.
        </p>
      </div>
      <p class="unseen" role="status">
        {hasProposal && !attempt.busy.value ? `Proposed: ${proposal.value}` : ''}
      </p>
    </section>
  );
}
