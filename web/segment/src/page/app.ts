// SPDX-License-Identifier: Apache-2.0
// What happens when: a scan and a model are chosen in any order, a plan is made as soon as there
// are both, a person starts it. One piece of work at a time; a newer one ends the older.
import {
  Cancelled,
  type Choice,
  type ChooseOptions,
  type LoadedModel,
  type Runner,
} from '../engines';
import { type ModelFolder, droppedFolder, isModel } from '../../../shared/models/folder';
import { loadModel } from '../models/load';
import { NeedsVolume, ScanDesk } from '../scans/scan-desk';
import type { Prepared, ScanFacts, ScanSource } from '../scans/workshop';
import {
  chosenOptions,
  clearNotes,
  hideChoice,
  showChoice,
  showFallback,
  showPlan,
} from './engine-panel';
import { clearError, say, showError } from '../../../shared/page/messages';
import { markChosen, offerAdded } from '../../../shared/page/model-list';
import { showModel } from './model-panel';
import { hideResult, showResult } from './result-panel';
import { allowStart, showBusy, showIdle, showProgress } from './run-panel';
import { askForVolume, headFor, showScan } from './scan-panel';
import { showLabelPicture, showScanPicture } from './viewer';
import { secondsText } from '../../../shared/page/words';

const firstSteps = 'Choose a scan to go on.';

/** No engine was found: a person's own settings are the first thing to change. */
function adviseOn(error: unknown, { only, memoryLimit }: ChooseOptions): unknown {
  if (error instanceof Cancelled || !(error instanceof Error)) return error;
  if (!only && memoryLimit === undefined) return error;
  const more = memoryLimit === undefined ? '' : ' or a higher memory limit';
  return new Error(`${error.message} Choose another engine${more} under Advanced.`);
}

export class App {
  private readonly desk = new ScanDesk();
  private scan: ScanFacts | undefined;
  private model: LoadedModel | undefined;
  private folder: ModelFolder | undefined; // that the model came from
  private prepared: Prepared | undefined;
  private choice: Choice | undefined;
  private turn = 0; // of the work under way; work of an older turn has nothing more to say
  private busy = false;
  private touched = false;

  constructor(private readonly runner: Runner) {}

  /** Nobody has chosen or started anything yet. */
  get untouched(): boolean {
    return !this.touched;
  }

  takeFiles(files: File[]): void {
    if (isModel(files)) void this.addModel(files);
    else void this.openScan({ kind: 'file', file: files[0] });
  }

  openHead(): void {
    void this.openScan(headFor(this.model?.manifest));
  }

  openScan(source: ScanSource): Promise<void> {
    this.touched = true;
    const what = source.kind === 'head' ? 'Making a head' : 'Reading the scan';
    return this.work(what, async (isMine) => {
      const scan = await this.desk.open(source).catch((error: unknown) => {
        if (error instanceof NeedsVolume && source.kind === 'file') {
          askForVolume(error.volumes, (volume) => void this.openScan({ ...source, volume }));
        }
        throw error;
      });
      if (!isMine()) return;
      this.scan = scan;
      this.forget();
      showScan(scan);
      say(`The scan ${scan.name} is open.`);
      await showScanPicture(scan.picture, scan.name);
      await this.plan(isMine);
    });
  }

  chooseModel(folder: ModelFolder): Promise<void> {
    return this.loadModel(folder, () => undefined);
  }

  addModel(files: File[]): Promise<void> {
    this.touched = true;
    const folder = droppedFolder(files);
    return this.loadModel(folder, (model) => offerAdded(folder, model.manifest.name));
  }

  /** Another engine or memory limit. */
  planAgain(): Promise<void> {
    this.choice = undefined;
    return this.work('Trying engines', (isMine) => this.plan(isMine));
  }

  segment(): Promise<void> {
    this.touched = true;
    return this.work('Starting', async (isMine) => {
      if (!this.choice) await this.plan(isMine);
      if (isMine()) await this.run(isMine);
    });
  }

  cancel(): void {
    this.turn += 1;
    this.stopWorkers();
    this.settle();
    const ready = this.scan && this.model;
    if (!this.choice) showPlan(ready ? 'Cancelled. Press Segment to go on.' : firstSteps);
    say('Cancelled.');
  }

  private loadModel(folder: ModelFolder, loaded: (model: LoadedModel) => void): Promise<void> {
    return this.work('Loading the model', async (isMine) => {
      const model = await loadModel(folder).catch((error: unknown) => {
        markChosen(this.folder); // the one before stays in use
        throw error;
      });
      if (!isMine()) return;
      this.model = model;
      this.folder = folder;
      loaded(model);
      this.forget();
      showModel(model.manifest);
      await this.plan(isMine);
    });
  }

  /** What was made with another scan or model. */
  private forget(): void {
    this.prepared = undefined;
    this.choice = undefined;
    hideChoice();
    hideResult();
    clearNotes();
  }

  /** Prepares the scan and finds the engine, as far as that has not been done. */
  private async plan(isMine: () => boolean): Promise<void> {
    const { scan, model } = this;
    if (!scan || !model) {
      showPlan(scan ? 'Choose a model to go on.' : firstSteps);
      return;
    }
    if (!this.prepared) {
      showBusy('Preparing the scan');
      const prepared = await this.desk.prepare(model.manifest.preprocessing);
      if (!isMine()) return;
      this.prepared = prepared;
    }
    showPlan('Looking for the fastest engine that gives the right numbers here.');
    showBusy('Trying engines');
    const options = chosenOptions();
    const choice = await this.runner.choose(model, this.prepared.shape, options).catch((error) => {
      throw adviseOn(error, options);
    });
    if (!isMine()) return;
    this.choice = choice;
    showChoice(choice, options);
    say(`Ready to segment, about ${secondsText(choice.expectedSeconds)}.`);
  }

  private async run(isMine: () => boolean): Promise<void> {
    const { scan, model, prepared } = this;
    if (!scan || !model || !prepared) return;
    clearNotes();
    showBusy('Segmenting');
    const { shape, values, affine } = prepared;
    const segmented = await this.runner.segment(
      { shape, values },
      (progress) => isMine() && showProgress(progress),
      (from, to, reason) => isMine() && showFallback(from, to, reason),
    );
    if (!isMine()) return;
    showBusy("Bringing the labels to the scan's own grid");
    const native = await this.desk.label({ shape, affine, values: segmented.labels });
    if (!isMine()) return;
    const { labels } = model.manifest;
    await showLabelPicture(native.picture, native.values, scan.shape, labels);
    if (!isMine()) return;
    showResult({ name: scan.name, labels, segmented, native });
    say(`Done in ${secondsText(segmented.seconds)}. The volumes are in the table.`);
  }

  /** One turn of work, which ends the one before. */
  private async work(what: string, task: (isMine: () => boolean) => Promise<void>): Promise<void> {
    const turn = ++this.turn;
    const isMine = () => turn === this.turn;
    if (this.busy) this.stopWorkers(); // else the chosen engine stays warm
    this.busy = true;
    clearError();
    showBusy(what);
    try {
      await task(isMine);
    } catch (error) {
      if (isMine() && !(error instanceof Cancelled)) this.fail(error);
    } finally {
      if (isMine()) this.settle();
    }
  }

  private fail(error: unknown): void {
    showError(error);
    const ready = this.scan && this.model;
    if (!this.choice && ready) showPlan('It did not work: see the message above.');
  }

  private settle(): void {
    this.busy = false;
    showIdle();
    allowStart(this.scan !== undefined && this.model !== undefined);
  }

  private stopWorkers(): void {
    this.desk.cancel();
    this.runner.cancel();
  }
}
