import { crc32, deflateSync } from 'node:zlib';

/** Pixels of a picture as RGBA, row by row. */
export interface Pixels {
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
