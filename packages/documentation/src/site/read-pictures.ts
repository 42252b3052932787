import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';

/** PNG files by path below `docs/`. */
export type Pictures = ReadonlyMap<string, Buffer>;

/** Reads every picture below a folder, but none of the differences that tests leave. */
export const readPictures = (directory: string): Pictures => {
  const paths = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.png') && !path.split(sep).some((part) => part.startsWith('.')))
    .sort();
  return new Map(paths.map((path) => [path.replaceAll(sep, '/'), readFileSync(join(directory, path))]));
};

/** Returns the size of a PNG file (PNG specification, section 11.2.2). */
export const sizeOf = (png: Buffer): { width: number; height: number } => ({
  width: png.readUInt32BE(16),
  height: png.readUInt32BE(20),
});
