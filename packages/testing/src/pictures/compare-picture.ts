import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import pixelmatch from 'pixelmatch';
import { PNG } from 'pngjs';
import { encodePalette } from './encode-palette.ts';

/** Difference of color below which two pixels count as equal, from 0 to 1: the edges of letters vary between machines. */
const PIXEL_THRESHOLD = 0.2;
/** Number of pixels that may differ. A letter that changes is more. */
const DIFFERENT_PIXELS_MAX = 25;
/** Folder beside the references for pictures of differences; Git ignores it. */
const DIFFERENCES = '.differences';

/** With this variable set, pictures replace their references. */
const isUpdating = (): boolean => process.env['UPDATE_PICTURES'] === '1';

export interface TakenPicture {
  /** Folder of the references. */
  readonly folder: string;
  readonly name: string;
  /** As PNG. */
  readonly bytes: Uint8Array;
}

/**
 * Compares a picture with its reference. Throws if they differ, after it has written the picture and one of the
 * differences beside the reference. `UPDATE_PICTURES=1` makes it the reference instead.
 */
export const comparePicture = ({ folder, name, bytes }: TakenPicture): void => {
  const path = join(folder, `${name}.png`);
  const reference = readIfPresent(path);
  const taken = PNG.sync.read(Buffer.from(bytes));
  if (isUpdating()) {
    // An equal picture stays as it is, byte for byte.
    if (reference === undefined || differenceOf(PNG.sync.read(reference), taken).count > DIFFERENT_PIXELS_MAX)
      write(path, encodePalette(taken));
    return;
  }
  const update = 'Look at it, then run `npx pnpm -r --if-present run pictures`.';
  if (reference === undefined) throw new Error(`${path} does not exist. ${update}`);
  const { count, picture } = differenceOf(PNG.sync.read(reference), taken);
  if (count <= DIFFERENT_PIXELS_MAX) return;
  const shown = join(folder, DIFFERENCES, name);
  write(`${shown}.png`, bytes);
  if (picture !== undefined) write(`${shown}.difference.png`, encodePalette(picture));
  throw new Error(`${path} differs in ${count} pixels: see ${shown}.*. ${update}`);
};

const differenceOf = (one: PNG, other: PNG): { count: number; picture?: PNG } => {
  const { width, height } = one;
  if (width !== other.width || height !== other.height) return { count: Number.POSITIVE_INFINITY };
  const picture = new PNG({ width, height });
  const count = pixelmatch(one.data, other.data, picture.data, width, height, { threshold: PIXEL_THRESHOLD });
  return { count, picture };
};

const readIfPresent = (path: string): Buffer | undefined => {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
};

const write = (path: string, bytes: Uint8Array): void => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
};
