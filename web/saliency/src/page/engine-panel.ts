// SPDX-License-Identifier: Apache-2.0
// Which engines were tried, what each was worth, which one runs; and a person's own choice.
import { byId, make } from '../../../shared/page/elements';
import { threadsText } from '../../../shared/page/isolation';
import { secondsText } from '../../../shared/page/words';
import { type Choice, type EngineId, type Verdict, engineIds, engineNames } from '../engines';
import { sizeText } from '../model';

const plan = byId('plan', HTMLParagraphElement);
const fold = byId('engines-fold', HTMLDetailsElement);
const rows = byId('engines', HTMLTableElement).tBodies[0];
const select = byId('engine', HTMLSelectElement);
const notes = byId('notes', HTMLUListElement);

export function prepareEngineChoice(changed: () => void): void {
  select.append(make('option', { value: 'auto' }, 'Automatic: the fastest that agrees'));
  for (const id of engineIds) select.append(make('option', { value: id }, engineNames[id]));
  select.addEventListener('change', changed);
  byId('threads', HTMLParagraphElement).textContent = threadsText();
}

export function chosenEngine(): EngineId | undefined {
  return engineIds.find((id) => id === select.value);
}

export function showPlan(words: string): void {
  plan.textContent = words;
}

function finding(verdict: Verdict, choice: Choice): string {
  if (verdict.state === 'unavailable') return `not used: ${verdict.reason}`;
  const difference = verdict.difference.toExponential(1);
  if (verdict.state === 'wrong') return `wrong: differs by ${difference} from ubique, not used`;
  const time = `${secondsText(verdict.seconds)} at ${sizeText(choice.trialSize)}`;
  return `ready: ${time}, differs by ${difference}`;
}

function verdictRow(verdict: Verdict, choice: Choice): HTMLTableRowElement {
  const title = verdict.state === 'unavailable' ? engineNames[verdict.id] : verdict.title;
  const isChosen = verdict.id === choice.chosen.id;
  return make(
    'tr',
    { className: isChosen ? 'chosen' : '' },
    make('th', { scope: 'row' }, isChosen ? `${title} (chosen)` : title),
    make('td', {}, finding(verdict, choice)),
  );
}

/** The one at work. */
export function showEngine(title: string): void {
  plan.replaceChildren('Ready: ', make('strong', {}, title), ', agrees with ubique.');
}

export function showChoice(choice: Choice): void {
  rows.replaceChildren(...choice.verdicts.map((verdict) => verdictRow(verdict, choice)));
  fold.hidden = false;
}

export function addNote(words: string): void {
  notes.append(make('li', {}, words));
  notes.hidden = false;
}

export function clearNotes(): void {
  notes.replaceChildren();
  notes.hidden = true;
}
