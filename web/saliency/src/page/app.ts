// SPDX-License-Identifier: Apache-2.0
// What happens when: a picture or the camera is shown at once, and its map as soon as there is a
// model. What is shown last is what a person chose last.
import { isModel } from '../../../shared/models/folder';
import { handOut } from '../../../shared/page/downloads';
import { byId } from '../../../shared/page/elements';
import { clearError, say, showError } from '../../../shared/page/messages';
import { secondsText } from '../../../shared/page/words';
import { Camera, CameraError } from '../camera/camera';
import { Cancelled, type LookRunner } from '../engines';
import type { Pixels } from '../images/raster';
import { type Size, sizeText } from '../model';
import { openPicture } from '../pictures/open';
import { makeScene } from '../pictures/scene';
import { showAttention, showBoxes } from './boxes-panel';
import { chosenCamera, offerCameras, showCamera, showTime } from './camera-panel';
import { film } from './film';
import { chosenStyle, chosenView } from './look-panel';
import { ModelDesk } from './model-desk';
import { chosenSize } from './model-panel';
import { type Painting, paint } from './paint';
import {
  type Entry,
  type Subject,
  baseName,
  markPicture,
  offerPictures,
  showPicture,
  withdrawPicture,
} from './picture-panel';
import { type Scene, draw, placesText, showScene } from './viewer';
import { working } from './working';

const resultBox = byId('result-box', HTMLElement);
const places = byId('places', HTMLParagraphElement);
const stage = byId('stage', HTMLDivElement);

export class App {
  readonly desk: ModelDesk;
  private readonly filmed: Subject = { name: 'camera', boxes: [] };
  private subject: Subject | undefined; // that is shown
  private scene: Scene | undefined;
  private camera: Camera | undefined;
  private samples = 0;
  private turn = 0; // of what is shown; an older one has nothing more to show
  private touched = false;

  constructor(runner: LookRunner) {
    this.desk = new ModelDesk(runner, () => void this.refresh());
  }

  /** Nobody has chosen or started anything yet. */
  get untouched(): boolean {
    return !this.touched;
  }

  takeFiles(files: File[]): void {
    this.touched = true;
    if (isModel(files)) void this.desk.add(files);
    else this.addPictures(files);
  }

  addPictures(files: File[]): void {
    this.touched = true;
    const entries = files.map((file): Entry => {
      const name = file.name || 'pasted picture';
      return { name: baseName(name), open: () => openPicture(file, name), boxes: [] };
    });
    this.offer(entries);
  }

  makeSample(): void {
    this.touched = true;
    const number = ++this.samples;
    const open = () => Promise.resolve(makeScene(number));
    this.offer([{ name: `sample ${number}`, open, boxes: [] }]);
  }

  /** Another style or view. */
  redraw(): void {
    draw(chosenView(), chosenStyle());
  }

  /** What is shown, with another model, engine or frame. */
  refresh(): Promise<void> {
    return this.view((isMine) => (this.camera ? this.runFilm(isMine) : this.lookAgain(isMine)));
  }

  toggleCamera(): Promise<void> {
    this.touched = true;
    if (!this.camera) return this.startCamera();
    this.stopCamera();
    say('The camera is stopped.');
    return Promise.resolve();
  }

  /** Another one of several. */
  changeCamera(): Promise<void> {
    this.stopCamera();
    return this.startCamera();
  }

  async keep(what: Painting['what']): Promise<void> {
    const { scene } = this;
    if (!scene?.map) return;
    try {
      const { name, pixels, map } = scene;
      const painting = { what, pixels, map, style: chosenStyle() };
      const file = await working(paint(painting));
      handOut(file, `${name}_${what === 'map' ? 'saliency' : 'overlay'}.png`);
    } catch (error) {
      showError(error);
    }
  }

  private offer(entries: Entry[]): void {
    offerPictures(entries, (entry) => void this.select(entry));
    clearError();
    void this.selectFirst(entries);
  }

  /** The first that can be read. */
  private async selectFirst(entries: Entry[]): Promise<void> {
    for (const entry of entries) if (await this.open(entry)) return;
  }

  private select(entry: Entry): Promise<boolean> {
    this.touched = true;
    clearError();
    return this.open(entry);
  }

  private async open(entry: Entry): Promise<boolean> {
    let opened = false;
    this.stopCamera();
    await this.view(async (isMine) => {
      const pixels = await working(entry.open()).catch((error: unknown) => {
        withdrawPicture(entry);
        throw error;
      });
      opened = true;
      if (!isMine()) return;
      this.subject = entry;
      markPicture(entry);
      this.show({ name: entry.name, pixels });
      stage.scrollIntoView({ block: 'nearest' }); // below the controls where screens are narrow
      showPicture(entry.name, pixels, entry);
      showTime('');
      await this.lookAgain(isMine);
    });
    return opened;
  }

  private async lookAgain(isMine: () => boolean): Promise<void> {
    const { scene } = this;
    const ready = this.desk.current;
    if (!scene || !ready) return;
    const size = chosenSize() ?? ready.model.manifest.size;
    showTime('Looking…');
    const { map, seconds } = await working(this.desk.look(scene.pixels, size, isMine));
    if (!isMine()) return;
    this.show({ ...scene, map });
    showTime(`${secondsText(seconds)} · ${sizeText(size)}`);
    places.textContent = placesText();
    say(`The map is ready. ${places.textContent}`);
  }

  private show(scene: Scene): void {
    const { subject } = this;
    const moved =
      this.scene?.pixels.width !== scene.pixels.width ||
      this.scene.pixels.height !== scene.pixels.height ||
      this.scene.name !== scene.name;
    this.scene = scene;
    showScene(scene);
    this.redraw();
    resultBox.hidden = !scene.map;
    const { width, height } = scene.pixels;
    if (moved && subject) showBoxes({ ...subject, width, height });
    else showAttention();
  }

  private startCamera(): Promise<void> {
    clearError();
    return this.view(async (isMine) => {
      const start = Camera.start(chosenCamera(), () => this.loseCamera());
      const camera = await working(start);
      if (!isMine()) return camera.stop();
      this.camera = camera;
      this.subject = this.filmed;
      this.scene = undefined;
      markPicture(undefined);
      showCamera(true);
      void offerCameras();
      say(`${camera.name} is running.`);
      stage.scrollIntoView({ block: 'nearest' });
      await this.runFilm(isMine);
    });
  }

  private async runFilm(isMine: () => boolean): Promise<void> {
    const { camera } = this;
    if (!camera) return;
    const ready = this.desk.current;
    const name = this.filmed.name;
    try {
      if (!ready) {
        const pixels = await camera.nextFrame();
        if (isMine()) this.show({ name, pixels });
        return; // the rest comes with the model
      }
      const look = (pixels: Pixels, size: Size) => this.desk.look(pixels, size, isMine);
      await film(camera, ready, isMine, look, (pixels, map) => {
        if (!this.scene) showPicture(camera.name, pixels);
        this.show({ name, pixels, map });
        places.textContent = '';
      });
    } catch (error) {
      if (isMine() && !(error instanceof Cancelled)) this.stopCamera();
      throw error;
    }
  }

  private stopCamera(): void {
    if (!this.camera) return;
    this.turn += 1;
    this.camera.stop();
    this.camera = undefined;
    showCamera(false);
    places.textContent = placesText();
  }

  private loseCamera(): void {
    if (!this.camera?.isOver) return; // it was an older one
    this.stopCamera();
    showError(new CameraError('The camera is gone: it was unplugged or taken away.'));
  }

  /** One turn of showing something, which ends the one before. */
  private async view(task: (isMine: () => boolean) => Promise<void>): Promise<void> {
    const turn = ++this.turn;
    const isMine = () => turn === this.turn;
    try {
      await task(isMine);
    } catch (error) {
      if (isMine() && !(error instanceof Cancelled)) showError(error);
    }
  }
}
