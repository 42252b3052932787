import { hash } from 'node:crypto';

/** Image types that can be stored. SVG is excluded because it can contain scripts. */
export type IconType = 'image/png' | 'image/jpeg' | 'image/webp';

/** An icon to show. */
export interface Icon {
  readonly contentType: IconType | 'image/svg+xml';
  readonly bytes: Buffer;
}

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const JPEG = Buffer.from([0xff, 0xd8, 0xff]);

/** Detects the type of an image by its first bytes, ignoring its name. Returns undefined for other types. */
export const sniffIconType = (bytes: Buffer): IconType | undefined => {
  if (bytes.subarray(0, PNG.length).equals(PNG)) return 'image/png';
  if (bytes.subarray(0, JPEG.length).equals(JPEG)) return 'image/jpeg';
  const isRiff = bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP';
  return isRiff ? 'image/webp' : undefined;
};

const HUES = 360;

/** Draws the initial of an app's name on a color derived from its id. */
export const drawMonogram = (clientId: string, name: string): Icon => {
  const hue = hash('sha256', clientId, 'buffer').readUInt16BE() % HUES;
  // Restricted to letters and digits: other characters could end the text or the document.
  const initial = /[\p{L}\p{N}]/u.exec(name)?.[0].toUpperCase() ?? '#';
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" width="64" height="64">` +
    `<rect width="64" height="64" rx="14" fill="hsl(${hue} 55% 38%)"/>` +
    `<text x="32" y="43" text-anchor="middle" font-family="system-ui,sans-serif" font-size="32" font-weight="600" fill="#fff">${initial}</text>` +
    `</svg>`;
  return { contentType: 'image/svg+xml', bytes: Buffer.from(svg) };
};
