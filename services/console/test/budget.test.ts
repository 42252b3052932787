import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { hasChromium, useBrowser } from './support/browser.ts';
import { useConsole } from './support/console.ts';
import { furnish } from './support/furnish.ts';
import { addPerson, openAs } from './support/people.ts';

/** Of the first load, as a browser gets it: compressed. */
const SCRIPT_BYTES_MAX = 110 * 1024;
/** Fewer would mean that the page came from a cache. */
const SCRIPT_BYTES_MIN = 50 * 1024;
/** All pages, in both languages. */
const WHOLE_SCRIPT_BYTES_MAX = 282 * 1024;
const STYLE_BYTES_MAX = 20 * 1024;
/** Of sign-up, which another service renders, with all that its script imports. */
const METER_BYTES_MAX = 10 * 1024;
/** The dictionaries of password strength, which a worker loads when a new password is typed. */
const WORKER_BYTES_MAX = 1_100 * 1024;

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
  test('all scripts together stay below 282 KiB', async () => {
    const chunks = Object.values(await readManifest());
    const scripts = new Set(chunks.map(({ file }) => file).filter((file) => file.endsWith('.js')));
    const bytes = await gzipBytes(scripts);
    expect(bytes).toBeLessThan(WHOLE_SCRIPT_BYTES_MAX);
    process.stderr.write(`scripts of all pages, both languages: ${Math.ceil(bytes / 1024)} KiB gzip\n`);
  });

  test('the meter of password strength stays within 10 KiB on sign-up, and its worker within 1,100 KiB', async () => {
    const manifest = await readManifest();
    const files = new Set<string>();
    const follow = (chunk: Chunk | undefined): void => {
      if (chunk === undefined || files.has(chunk.file)) return;
      files.add(chunk.file);
      for (const name of chunk.imports ?? []) follow(manifest[name]);
    };
    follow(manifest['src/web/password-strength.ts']);
    expect(files).toContain('password-strength.js');
    expect(await gzipBytes(files)).toBeLessThan(METER_BYTES_MAX);
    const workers = (await readdir(join(directory, 'assets'))).filter((name) =>
      /^strength-worker-.*\.js\.br$/.test(name),
    );
    expect(workers).toHaveLength(1);
    expect((await stat(join(directory, 'assets', String(workers[0])))).size).toBeLessThan(WORKER_BYTES_MAX);
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

  test('downloads at most 110 KiB of script, from this site only', async () => {
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
    expect(bytes).toBeGreaterThan(SCRIPT_BYTES_MIN);
    expect(bytes).toBeLessThanOrEqual(SCRIPT_BYTES_MAX);
    process.stderr.write(`first load: ${scripts.length} scripts, ${Math.ceil(bytes / 1024)} KiB\n`);
    const others = loaded
      .map(({ name }) => String(name))
      .filter((url) => !/^data:/.test(url) && !url.startsWith(console.url));
    expect(others).toEqual([]);
  });
});
