import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import { readFonts } from '@svc/pages/read-fonts';
import pixelmatch from 'pixelmatch';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { afterAll, beforeAll } from 'vitest';
import { CHROMIUM_ARGS } from './find-chromium.ts';

/** Pixels of a picture as RGBA, row by row. */
interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const COLORS_MAX = 256;
/** The upper four bits of each channel. */
const REGION_MASK = 0xf0f0f0;
const BIT_DEPTH = 8;
const COLOR_TYPE_PALETTE = 3;

/**
 * Encodes a picture as PNG with a palette, at a third of the size. Frequent colors stay exact; the others, at the edges
 * of letters, become the nearest of them.
 */
export const encodePalette = ({ width, height, data }: Pixels): Buffer => {
  const pixels = Array.from({ length: width * height }, (_, index) => colorAt(data, index * 4));
  const counts = new Map<number, number>();
  for (const color of pixels) counts.set(color, (counts.get(color) ?? 0) + 1);
  const palette = choosePalette(counts);
  const indexes = new Map([...counts.keys()].map((color) => [color, nearest(palette, color)]));
  const rows = Buffer.alloc((width + 1) * height);
  for (const [at, color] of pixels.entries()) {
    // Each row begins with its filter: none.
    rows[at + Math.floor(at / width) + 1] = indexes.get(color) ?? 0;
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([BIT_DEPTH, COLOR_TYPE_PALETTE], 8);
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(palette.flatMap(channelsOf))),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
};

/** Takes the most frequent color of each region of the color space, then the most frequent others. */
const choosePalette = (counts: ReadonlyMap<number, number>): readonly number[] => {
  const colors = [...counts].sort(([, one], [, other]) => other - one).map(([color]) => color);
  const firsts = new Map<number, number>();
  for (const color of colors) {
    const region = color & REGION_MASK;
    if (!firsts.has(region)) firsts.set(region, color);
  }
  return [...new Set([...firsts.values(), ...colors])].slice(0, COLORS_MAX);
};

const colorAt = (data: Uint8Array, at: number): number =>
  ((data[at] ?? 0) << 16) | ((data[at + 1] ?? 0) << 8) | (data[at + 2] ?? 0);

const channelsOf = (color: number): readonly [number, number, number] => [
  color >> 16,
  (color >> 8) & 0xff,
  color & 0xff,
];

const nearest = (palette: readonly number[], color: number): number => {
  const [red, green, blue] = channelsOf(color);
  let best = 0;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const [index, candidate] of palette.entries()) {
    const [r, g, b] = channelsOf(candidate);
    const distance = (red - r) ** 2 + (green - g) ** 2 + (blue - b) ** 2;
    if (distance >= bestDistance) continue;
    best = index;
    bestDistance = distance;
  }
  return best;
};

/** A chunk with its length and checksum (PNG specification, section 5.3). */
const chunk = (type: string, content: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), content]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(content.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
};

/** Difference of color below which two pixels count as equal, from 0 to 1: the edges of letters vary between machines. */
const PIXEL_THRESHOLD = 0.2;
/** Number of pixels that may differ. A letter that changes is more. */
const DIFFERENT_PIXELS_MAX = 25;
/** Folder beside the references for pictures of differences; Git ignores it. */
const DIFFERENCES = '.differences';

/** With this variable set, pictures replace their references. */
const isUpdating = (): boolean => process.env['UPDATE_PICTURES'] === '1';

interface TakenPicture {
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

/** The two looks of a page: between them, both languages, both themes and both widths. */
export const LOOKS = [
  { name: 'wide', locale: 'en', colorScheme: 'light', width: 1280, height: 860 },
  { name: 'phone', locale: 'it', colorScheme: 'dark', width: 390, height: 780 },
] as const;

export type Look = (typeof LOOKS)[number];

/** Sets the width and the theme of a page. */
export const wear = async (page: Page, { colorScheme, width, height }: Look): Promise<void> => {
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
};

/** Ids, whose characters are others in each run. Pictures show as many zeros. */
const VARYING_ID = String.raw`\b(app|evt|key|msg|req|ses|usr|whsec)_([0-9A-Za-z]{4,})`;
const VARYING_ORIGIN = String.raw`127\.0\.0\.1:\d+`;

const FIX_VARYING = `(() => {
  const id = new RegExp(${JSON.stringify(VARYING_ID)}, 'g');
  const origin = new RegExp(${JSON.stringify(VARYING_ORIGIN)}, 'g');
  const fix = (text) => text
    .replace(id, (whole, prefix, rest) => prefix + '_' + '0'.repeat(rest.length))
    .replace(origin, 'svc.example');
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const text = fix(node.data);
    if (text !== node.data) node.data = text;
  }
  for (const input of document.querySelectorAll('input')) {
    const text = fix(input.value);
    if (text !== input.value) input.value = text;
  }
})()`;

/** Takes a picture of what a window shows, or of one element, without what differs between two runs. */
export const takePicture = async (page: Page, element: Locator | undefined = undefined): Promise<Uint8Array> => {
  await page.evaluate('document.fonts.ready.then(() => undefined)');
  await page.evaluate(FIX_VARYING);
  return await (element ?? page).screenshot({ animations: 'disabled', caret: 'hide', scale: 'css' });
};

const ORIGIN = 'http://svc.example';

/** Files by path that a document loads, such as `/assets/page.css`. */
type DocumentFiles = ReadonlyMap<string, string | Uint8Array>;

/** Shows a document that a renderer has returned, with the fonts of the pages, and no server. */
const showDocument = async (page: Page, document: string, files: DocumentFiles = new Map()): Promise<void> => {
  const served: DocumentFiles = new Map<string, string | Uint8Array>([...readFonts(), ...files, ['/', document]]);
  await page.unrouteAll();
  await page.route(`${ORIGIN}/**`, async (route) => {
    const path = new URL(route.request().url()).pathname;
    const body = served.get(path);
    if (body === undefined) return await route.fulfill({ status: 404 });
    await route.fulfill({ contentType: typeOf(path), body: typeof body === 'string' ? body : Buffer.from(body) });
  });
  await page.goto(`${ORIGIN}/`);
};

const typeOf = (path: string): string => {
  if (path.endsWith('.css')) return 'text/css';
  if (path.endsWith('.js')) return 'text/javascript';
  return path.endsWith('.woff2') ? 'font/woff2' : 'text/html; charset=utf-8';
};

/** Compares pictures of documents with the references in a folder. */
export interface PictureBook {
  /** Takes a picture in each look: wide, light and English, then on a phone, dark and Italian. */
  readonly compare: (
    name: string,
    documentIn: (locale: Look['locale']) => string,
    files?: DocumentFiles,
  ) => Promise<void>;
}

/** Starts a browser before the tests of a file and ends it after them. */
export const usePictureBook = (folder: string, chromiumPath: string | undefined): PictureBook => {
  let browser: Browser | undefined;
  let page: Page;
  beforeAll(async () => {
    if (chromiumPath === undefined) return;
    browser = await chromium.launch({
      executablePath: chromiumPath,
      args: CHROMIUM_ARGS,
    });
    page = await browser.newPage();
  });
  afterAll(() => browser?.close());
  return {
    compare: async (name, documentIn, files) => {
      for (const look of LOOKS) {
        await wear(page, look);
        await showDocument(page, documentIn(look.locale), files);
        comparePicture({ folder, name: `${name}-${look.name}`, bytes: await takePicture(page) });
      }
    },
  };
};
