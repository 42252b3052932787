import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { gzipSync } from 'node:zlib';

const BLOCK_BYTES = 512;
const NAME_BYTES_MAX = 100;

/**
 * Packs a folder for npm: a gzipped ustar archive (POSIX.1-1988) below `package/`. Not by the system's `tar`, which
 * stores hard links that npm leaves out.
 */
export const packFolder = async (folder: string): Promise<Buffer> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const parts: Buffer[] = [];
  for (const entry of entries.filter(
    (one) => one.isFile() && !one.parentPath.includes(`${folder}${sep}node_modules`),
  )) {
    const file = join(entry.parentPath, entry.name);
    const content = await readFile(file);
    const padding = Buffer.alloc((BLOCK_BYTES - (content.length % BLOCK_BYTES)) % BLOCK_BYTES);
    parts.push(header(join('package', relative(folder, file)).replaceAll(sep, '/'), content.length), content, padding);
  }
  return gzipSync(Buffer.concat([...parts, Buffer.alloc(2 * BLOCK_BYTES)]), { level: 1 });
};

const header = (path: string, size: number): Buffer => {
  const block = Buffer.alloc(BLOCK_BYTES);
  const cut = path.length <= NAME_BYTES_MAX ? -1 : path.indexOf('/', path.length - NAME_BYTES_MAX - 1);
  block.write(path.slice(cut + 1), 0);
  block.write('0000755\0', 100);
  block.write('0000000\0', 108);
  block.write('0000000\0', 116);
  block.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
  block.write('00000000000\0', 136);
  block.write('        0', 148);
  block.write('ustar\x0000', 257);
  if (cut > 0) block.write(path.slice(0, cut), 345);
  const checksum = block.reduce((sum, byte) => sum + byte, 0);
  block.write(`${checksum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
};
