import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { hasChromium, useBrowser } from './support/browser.ts';
import { useConsole } from './support/console.ts';
import { furnish } from './support/furnish.ts';
import { addPerson, openAs } from './support/people.ts';

/** Of the first load, as gzip sends it. */
const SCRIPT_BYTES_MAX = 250 * 1024;
/** All pages in one language. */
const WHOLE_SCRIPT_BYTES_MAX = 250 * 1024;
const STYLE_BYTES_MAX = 20 * 1024;

interface Chunk {
  readonly file: string;
  readonly isEntry?: boolean;
  readonly imports?: string[];
  readonly css?: string[];
}

const directory = inject('assetsDirectory');

const readManifest = async (): Promise<Record<string, Chunk>> =>
  JSON.parse(await readFile(join(directory, '.vite', 'manifest.json'), 'utf8'));

const gzipBytes = async (files: Iterable<string>): Promise<number> => {
  const sizes = await Promise.all([...files].map(async (file) => (await stat(join(directory, `${file}.gz`))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
};

describe('budgets', () => {
  test('all scripts together stay within what the first load may be', async () => {
    const chunks = Object.values(await readManifest());
    const scripts = new Set(chunks.map(({ file }) => file).filter((file) => file.endsWith('.js')));
    const bytes = await gzipBytes(scripts);
    expect(bytes).toBeLessThan(WHOLE_SCRIPT_BYTES_MAX);
    process.stderr.write(`scripts of all pages, both languages: ${Math.ceil(bytes / 1024)} KiB gzip\n`);
  });

  test('styles stay small', async () => {
    const chunks = Object.values(await readManifest());
    const bytes = await gzipBytes(new Set(chunks.flatMap(({ css }) => css ?? [])));
    expect(bytes).toBeLessThan(STYLE_BYTES_MAX);
  });
});

describe.skipIf(!hasChromium())('the first load in a browser', () => {
  const console = useConsole();
  const browser = useBrowser();

  test('downloads less than 250 KiB of script, from this site alone', async () => {
    const person = addPerson(console, 'business');
    furnish(console, person);
    const page = await openAs({ browser, console, person });
    await page.getByRole('meter', { name: 'This week' }).waitFor();
    const loaded = await page.evaluate(
      `performance.getEntriesByType('resource').map(({ name, encodedBodySize }) => ({ name, bytes: encodedBodySize }))`,
    );
    if (!Array.isArray(loaded)) throw new Error('no entries');
    const scripts = loaded.filter(({ name }) => String(name).endsWith('.js'));
    const bytes = scripts.reduce((sum: number, script) => sum + Number(script.bytes), 0);
    expect(bytes).toBeGreaterThan(50 * 1024);
    expect(bytes).toBeLessThan(SCRIPT_BYTES_MAX);
    process.stderr.write(`first load: ${scripts.length} scripts, ${Math.ceil(bytes / 1024)} KiB\n`);
    const others = loaded
      .map(({ name }) => String(name))
      .filter((url) => !/^data:/.test(url) && !url.startsWith(console.url));
    expect(others).toEqual([]);
  });
});
