// SPDX-License-Identifier: Apache-2.0
// Code: an editor in which the model goes on, and a chat.
import { useEffect } from 'preact/hooks';
import { models } from '../state/models';
import { param, setParams } from '../state/route';
import { Segments, Select } from '../ui/fields';
import { MoreModels, NoModel } from '../ui/model-choice';
import { Attempt, Fault } from '../ui/notice';
import { Chat } from './chat';
import { EditorPanel } from './editor-panel';
import { chooseServed, loadServed, served, servedModel } from './model';
import { CodeSettingsPanel } from './settings';
import './code.css';

const attempt = new Attempt();
const views = [
  { value: 'editor', text: 'Editor' },
  { value: 'chat', text: 'Chat' },
] as const;

function ServedChoice() {
  const all = served.value ?? [];
  if (all.length === 0) return null;
  return (
    <div class="model-choice">
      <Select
        label="Model"
        value={servedModel()}
        choices={all.map(({ id }) => ({ value: id, text: id }))}
        change={chooseServed}
      />
    </div>
  );
}

export default function CodeRoom() {
  const known = models.value; // a model that was trained or fetched is served from then on
  useEffect(() => void attempt.run(loadServed), [known]);
  const view = param('view') === 'chat' ? 'chat' : 'editor';
  const hasModel = (served.value ?? []).length > 0;
  return (
    <>
      <div class="room-head">
        <div>
          <h1>Code</h1>
          <p class="soft">Write, and the model goes on where the caret is.</p>
        </div>
        <ServedChoice />
      </div>
      <div class="stack">
        <Fault text={attempt.fault} />
        {served.value && !hasModel && <NoModel family="codelm" />}
        <Segments
          label="What to do"
          isLabelUnseen
          value={view}
          choices={views}
          change={(value) => setParams({ view: value === 'editor' ? '' : value }, true)}
        />
        <div class="columns wide-left">
          {view === 'editor' ? <EditorPanel /> : <Chat />}
          <div class="stack">
            <CodeSettingsPanel isChat={view === 'chat'} />
            <MoreModels family="codelm" />
          </div>
        </div>
      </div>
    </>
  );
}
