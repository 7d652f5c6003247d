// SPDX-License-Identifier: Apache-2.0
// Which engines were tried, what each was worth, which one runs and why; and a person's own choice.
import type { Choice, ChooseOptions, Verdict } from '../engines/choice';
import type { EngineId } from '../engines/engine';
import { byId, make } from '../../../shared/page/elements';
import { threadsText } from '../../../shared/page/isolation';
import { bytesText, secondsText } from '../../../shared/page/words';
import { engineNames } from './words';

const plan = byId('plan', HTMLParagraphElement);
const fold = byId('engines-fold', HTMLDetailsElement);
const rows = byId('engines', HTMLTableElement).tBodies[0];
const select = byId('engine', HTMLSelectElement);
const memory = byId('memory', HTMLInputElement);
const notes = byId('notes', HTMLUListElement);

function isEngineId(value: string): value is EngineId {
  return value in engineNames;
}

export function prepareEngineChoice(changed: () => void): void {
  select.append(make('option', { value: 'auto' }, 'Automatic: the fastest that agrees'));
  for (const [id, name] of Object.entries(engineNames)) {
    select.append(make('option', { value: id }, name));
  }
  select.addEventListener('change', changed);
  memory.addEventListener('change', changed);
  byId('threads', HTMLParagraphElement).textContent = threadsText();
}

export function chosenOptions(): ChooseOptions {
  const options: ChooseOptions = {};
  if (isEngineId(select.value)) options.only = [select.value];
  const gigabytes = memory.valueAsNumber;
  if (gigabytes > 0) options.memoryLimit = gigabytes * 1e9;
  return options;
}

function finding(verdict: Verdict): string {
  if (verdict.state === 'unavailable') return `not used: ${verdict.reason}`;
  const difference = verdict.difference.toExponential(1);
  if (verdict.state === 'wrong') return `wrong: differs by ${difference} from ubique, not used`;
  return `ready: ${secondsText(verdict.seconds)} for a trial, differs by ${difference}`;
}

function verdictRow(verdict: Verdict, chosen: EngineId): HTMLTableRowElement {
  const title = verdict.state === 'unavailable' ? engineNames[verdict.id] : verdict.title;
  const isChosen = verdict.id === chosen;
  return make(
    'tr',
    { className: isChosen ? 'chosen' : '' },
    make('th', { scope: 'row' }, isChosen ? `${title} (chosen)` : title),
    make('td', {}, finding(verdict)),
  );
}

export function showPlan(words: string): void {
  plan.textContent = words;
}

/** What is going to happen, before it starts. */
export function showChoice(choice: Choice, { only }: ChooseOptions): void {
  const chosen = choice.verdicts.find((verdict) => verdict.id === choice.chosen);
  const title = chosen && 'title' in chosen ? chosen.title : engineNames[choice.chosen];
  const why = only ? 'chosen by you; it agrees with ubique' : choice.why;
  plan.replaceChildren(
    'Ready: ',
    make('strong', {}, title),
    `, ${why}. About ${secondsText(choice.expectedSeconds)} and ` +
      `${bytesText(choice.peakBytes)} of memory.`,
  );
  if (choice.tiles > 1) {
    const words =
      ` The whole scan at once does not fit the memory limit: it is done in ${choice.tiles} ` +
      'sub-volumes, with the same result.';
    plan.append(make('span', { className: 'warn' }, words));
  }
  rows.replaceChildren(...choice.verdicts.map((verdict) => verdictRow(verdict, choice.chosen)));
  fold.hidden = false;
}

export function hideChoice(): void {
  fold.hidden = true;
}

export function showFallback(from: EngineId, to: EngineId, reason: string): void {
  const words = `${engineNames[from]} failed (${reason}); going on with ${engineNames[to]}.`;
  notes.append(make('li', {}, words));
  notes.hidden = false;
}

export function clearNotes(): void {
  notes.replaceChildren();
  notes.hidden = true;
}
