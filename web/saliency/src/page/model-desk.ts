// SPDX-License-Identifier: Apache-2.0
// The model and the engine that runs it: loaded, tried, held against ubique. A newer choice ends an
// older one. Knows nothing of the picture that is shown.
import { type ModelFolder, droppedFolder } from '../../../shared/models/folder';
import { showError } from '../../../shared/page/messages';
import { markChosen, offerAdded } from '../../../shared/page/model-list';
import { Cancelled, type Choice, type Look, type LookRunner, engineNames } from '../engines';
import { largestDifference, pictureAgrees } from '../engines/check';
import { restore } from '../images/frame';
import type { Pixels } from '../images/raster';
import { loadModel } from '../models/load';
import type { LoadedModel, Size } from '../model';
import { openPicture } from '../pictures/open';
import {
  addNote,
  chosenEngine,
  clearNotes,
  showChoice,
  showEngine,
  showPlan,
} from './engine-panel';
import { showModel } from './model-panel';
import { working } from './working';

export interface Ready {
  model: LoadedModel;
  choice: Choice;
}

export class ModelDesk {
  private model: LoadedModel | undefined;
  private folder: ModelFolder | undefined; // that the model came from
  private ready: Ready | undefined;
  private engine = ''; // that is at work
  private turn = 0;

  /** `onReady` is called whenever another model or engine can be used. */
  constructor(
    private readonly runner: LookRunner,
    private readonly onReady: () => void,
  ) {}

  get current(): Ready | undefined {
    return this.ready;
  }

  choose(folder: ModelFolder): Promise<void> {
    return this.work(async (isMine) => this.load(folder, isMine));
  }

  add(files: File[]): Promise<void> {
    const folder = droppedFolder(files);
    return this.work(async (isMine) => {
      const model = await this.load(folder, isMine);
      if (model) offerAdded(folder, model.manifest.name);
    });
  }

  /** Another engine. */
  chooseAgain(): Promise<void> {
    const { model } = this;
    return model ? this.work((isMine) => this.use(model, isMine)) : Promise.resolve();
  }

  /** With the engine that was chosen, or the one after it. */
  look(pixels: Pixels, size: Size, isWanted: () => boolean): Promise<Look> {
    return this.runner.look(pixels, size, isWanted, (from, to, reason) => {
      addNote(`${engineNames[from]} failed (${reason}); going on with ${engineNames[to]}.`);
      this.engine = engineNames[to];
      showEngine(this.engine);
    });
  }

  private async load(
    folder: ModelFolder,
    isMine: () => boolean,
  ): Promise<LoadedModel | undefined> {
    showPlan('Loading the model…');
    const model = await loadModel(folder).catch((error: unknown) => {
      if (isMine()) markChosen(this.folder); // the one before stays in use
      throw error;
    });
    if (!isMine()) return undefined;
    const before = { model: this.ready?.model, folder: this.folder };
    this.folder = folder;
    try {
      await this.use(model, isMine);
    } catch (error) {
      if (before.model && isMine()) {
        this.folder = before.folder;
        markChosen(this.folder);
        await this.use(before.model, isMine);
      }
      throw error;
    }
    return model;
  }

  private async use(model: LoadedModel, isMine: () => boolean): Promise<void> {
    this.model = model;
    this.ready = undefined;
    showModel(model.manifest);
    clearNotes();
    showPlan('Looking for the fastest engine that gives the right maps here…');
    const choice = await this.runner.choose(model, chosenEngine());
    if (!isMine()) return;
    this.engine = choice.chosen.title;
    await this.checkPicture(model, isMine);
    if (!isMine()) return;
    showChoice(choice);
    showEngine(this.engine);
    this.ready = { model, choice };
    this.onReady();
  }

  /** The whole way from a file to its map, which browsers that alter pixels get wrong. */
  private async checkPicture({ manifest, picture }: LoadedModel, isMine: () => boolean) {
    const file = new Blob([picture.file as Uint8Array<ArrayBuffer>], { type: 'image/png' });
    const pixels = await openPicture(file, manifest.picture.file);
    const { map } = await this.look(pixels, manifest.picture.frame, isMine);
    const whole = restore(map, [pixels.height, pixels.width]);
    const difference = largestDifference(whole.values, picture.whole) / 255;
    if (pictureAgrees(difference, manifest)) return;
    addNote(
      'This browser alters the pixels of pictures before a page sees them, as some do against ' +
        `tracking: maps are off by up to ${Math.round(100 * difference)} %. Allow this page to ` +
        'read canvases for exact ones.',
    );
  }

  /** One turn of work, which ends the one before. */
  private async work(task: (isMine: () => boolean) => Promise<unknown>): Promise<void> {
    const turn = ++this.turn;
    const isMine = () => turn === this.turn;
    try {
      await working(task(isMine));
    } catch (error) {
      if (!isMine() || error instanceof Cancelled) return;
      showError(error);
      showPlan(this.ready ? 'The model before stays in use.' : 'No model can be used yet.');
    }
  }
}
