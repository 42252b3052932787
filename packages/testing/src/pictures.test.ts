import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PNG } from 'pngjs';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { comparePicture, encodePalette } from './pictures.ts';

const SIZE = 100;

/** White, with a black square of `side` pixels in the corner. */
const squareOf = (side: number): Buffer => {
  const picture = new PNG({ width: SIZE, height: SIZE });
  picture.data.fill(0xff);
  for (let y = 0; y < side; y += 1) picture.data.fill(0, y * SIZE * 4, (y * SIZE + side) * 4);
  for (let at = 3; at < picture.data.length; at += 4) picture.data[at] = 0xff;
  return PNG.sync.write(picture);
};

describe('comparing a picture with its reference', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'svc-pictures-'));
    vi.stubEnv('UPDATE_PICTURES', '1');
    comparePicture({ folder, name: 'square', bytes: squareOf(20) });
    vi.stubEnv('UPDATE_PICTURES', '');
  });
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  test('accepts an equal one', () => {
    expect(() => comparePicture({ folder, name: 'square', bytes: squareOf(20) })).not.toThrow();
  });

  test('throws if a line of pixels differs, and leaves both pictures', () => {
    expect(() => comparePicture({ folder, name: 'square', bytes: squareOf(21) })).toThrow('differs in 41 pixels');
    expect(existsSync(join(folder, '.differences', 'square.png'))).toBe(true);
    expect(existsSync(join(folder, '.differences', 'square.difference.png'))).toBe(true);
  });

  test('throws if there is no reference', () => {
    expect(() => comparePicture({ folder, name: 'circle', bytes: squareOf(20) })).toThrow('does not exist');
  });

  test('keeps the file of an equal reference when it updates', () => {
    const path = join(folder, 'square.png');
    const before = readFileSync(path);
    vi.stubEnv('UPDATE_PICTURES', '1');
    comparePicture({ folder, name: 'square', bytes: squareOf(20) });
    expect(readFileSync(path)).toEqual(before);
  });
});

describe('encoding with a palette', () => {
  test('keeps the colors of a picture with few of them', () => {
    const picture = PNG.sync.read(squareOf(33));
    expect(PNG.sync.read(encodePalette(picture)).data.equals(picture.data)).toBe(true);
  });

  test('keeps every color near its own in a picture with many', () => {
    const picture = new PNG({ width: SIZE, height: SIZE });
    for (let at = 0; at < picture.data.length; at += 4) picture.data.set([at % 251, (at / 4) % 199, 9, 0xff], at);
    const decoded = PNG.sync.read(encodePalette(picture)).data;
    const worst = Math.max(...picture.data.map((value, at) => Math.abs(value - (decoded[at] ?? 0))));
    expect(worst).toBeLessThan(64);
  });
});
