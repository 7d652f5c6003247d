// SPDX-License-Identifier: Apache-2.0
// A conversation with the model, piece by piece as it writes.
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { type ChatMessage, streamChat } from '../api/completions';
import { keptInTab } from '../state/kept';
import { TextArea } from '../ui/fields';
import { Attempt, Empty, Fault } from '../ui/notice';
import { Sign } from '../ui/sign';
import { partsOf } from './chat-text';
import { servedModel } from './model';
import { settings } from './settings';

const isChat = (value: unknown): value is ChatMessage[] =>
  Array.isArray(value) &&
  value.every((one) => typeof one?.content === 'string' && typeof one?.role === 'string');
const messages = keptInTab<ChatMessage[]>('chat', [], isChat);
const draft = signal('');
const attempt = new Attempt();
let abort = new AbortController();

async function ask(text: string): Promise<void> {
  const asked: ChatMessage[] = [...messages.value, { role: 'user', content: text }];
  let reply = '';
  messages.value = [...asked, { role: 'assistant', content: '' }];
  abort = new AbortController();
  const { maxTokens, temperature } = settings.value;
  const isDone = await attempt.run(() =>
    streamChat(
      { model: servedModel(), messages: asked, max_tokens: 4 * maxTokens, temperature },
      (piece) => {
        reply += piece;
        messages.value = [...asked, { role: 'assistant', content: reply }];
      },
      abort.signal,
    ),
  );
  if (!isDone && reply === '' && attempt.fault.value) {
    messages.value = asked.slice(0, -1); // the question can be sent again
    draft.value = text;
  }
}

function Message({ message, isWriting }: { message: ChatMessage; isWriting: boolean }) {
  const isMine = message.role === 'user';
  return (
    <li class={isMine ? 'said mine' : 'said'}>
      <span class="unseen">{isMine ? 'You:' : 'Model:'}</span>
      {partsOf(message.content).map(({ isCode, text }, i) =>
        isCode ? (
          <pre key={i} tabIndex={0}>
            {text}
          </pre>
        ) : (
          <p key={i}>{text}</p>
        ),
      )}
      {isWriting && message.content === '' && <p class="soft">Writing…</p>}
    </li>
  );
}

export function Chat() {
  const end = useRef<HTMLLIElement>(null);
  const all = messages.value;
  useEffect(() => end.current?.scrollIntoView({ block: 'nearest' }), [all]);
  const send = () => {
    const text = draft.value.trim();
    if (!text || attempt.busy.value) return;
    draft.value = '';
    void ask(text);
  };
  return (
    <section class="panel chat" aria-label="Chat">
      {all.length === 0 ? (
        <Empty sign="code" title="Ask something">
          <p>
            A model that was trained to talk answers; one that only completes code goes on in its
            own way.
          </p>
        </Empty>
      ) : (
        <ul class="talk" aria-live="polite" aria-busy={attempt.busy.value}>
          {all.map((message, i) => (
            <Message
              key={i}
              message={message}
              isWriting={attempt.busy.value && i === all.length - 1}
            />
          ))}
          <li ref={end} class="end" aria-hidden="true" />
        </ul>
      )}
      <Fault text={attempt.fault} />
      <form
        class="stack tight"
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          send();
        }}
      >
        <TextArea
          label="Your message"
          rows={2}
          value={draft.value}
          hint="Enter sends, Shift-Enter makes a new line."
          change={(text) => (draft.value = text)}
        />
        <div class="row">
          {attempt.busy.value ? (
            <button type="button" onClick={() => abort.abort()}>
              <Sign name="stop" />
              Stop
            </button>
          ) : (
            <button type="submit" class="main" disabled={draft.value.trim() === ''}>
              Send
            </button>
          )}
          {all.length > 0 && !attempt.busy.value && (
            <button type="button" class="plain" onClick={() => (messages.value = [])}>
              Begin anew
            </button>
          )}
        </div>
      </form>
    </section>
  );
}
