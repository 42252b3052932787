import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readCodeBlocks, siteSections } from '@svc/documentation';
import { freePort, readStackFile, waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type GuideShell, openGuideShell } from './support/guide-shell.ts';
import { type NpmRegistry, startNpmRegistry } from './support/npm-registry.ts';

const DOCS = fileURLToPath(new URL('../../../docs/', import.meta.url));
const COMPILER = join(import.meta.dirname, '..', 'node_modules', '.bin', 'tsc');
const START_TIMEOUT_MS = 120_000;
const COMMAND_TIMEOUT_MS = 120_000;
/** The strictest settings that a partner may use; the SDK's declarations are checked too. */
const COMPILER_OPTIONS = {
  strict: true,
  skipLibCheck: false,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  target: 'es2024',
  noEmit: true,
  allowImportingTsExtensions: true,
  types: ['node'],
};
/** Module resolution as in Node.js and as in bundlers. */
const MODULE_OPTIONS = [{ module: 'nodenext' }, { module: 'esnext', moduleResolution: 'bundler' }];

const blocksOf = async (source: string) => readCodeBlocks(await readFile(join(DOCS, source), 'utf8'));

let registry: NpmRegistry;
let folder: string;
let env: NodeJS.ProcessEnv;
let variables: Record<string, string>;

beforeAll(async () => {
  registry = await startNpmRegistry();
  folder = await mkdtemp(join(tmpdir(), 'svc-guides-'));
  const settings = { registry: registry.url, cache: join(folder, '.npm'), audit: 'false', fund: 'false' };
  const ofNpm = Object.entries(settings).map(([name, value]) => [`npm_config_${name}`, value]);
  env = { ...process.env, ...Object.fromEntries(ofNpm), npm_config_update_notifier: 'false' };
  // The sample partner app starts after the stack is ready.
  const partner = await waitFor(async () => (await readStackFile(inject('dataDir'))).processes['sample-partner']?.url, {
    timeoutMs: START_TIMEOUT_MS,
  });
  variables = { SVC: inject('baseUrl'), PARTNER: partner, PORT: String(await freePort()) };
});
afterAll(async () => {
  registry.close();
  await rm(folder, { recursive: true, force: true });
});

/** Follows the guides of a section literally, in one shell, from an empty folder. */
const followSection = (title: string, sources: readonly string[]): void => {
  describe(title, () => {
    let shell: GuideShell;
    beforeAll(async () => {
      shell = openGuideShell({ folder: await mkdtemp(join(folder, 'empty-')), env, variables });
    });
    afterAll(() => shell.close());

    test.each(sources)('docs/%s works as written', { timeout: COMMAND_TIMEOUT_MS }, async (source) => {
      for (const block of await blocksOf(source)) await shell.follow(block);
    });

    test('its TypeScript compiles with the SDK declarations', {
      timeout: COMMAND_TIMEOUT_MS,
    }, async () => {
      const files = (await Promise.all(sources.map(blocksOf)))
        .flat()
        .flatMap(({ role }) => (role?.kind === 'file' ? [role.name] : []));
      const include = files.filter((name) => name.endsWith('.ts'));
      if (include.length === 0) return;
      const cwd = shell.folder();
      const command = { cwd, env, timeout: COMMAND_TIMEOUT_MS };
      await promisify(execFile)('npm', ['install', '--silent', '--no-save', '@types/node', '@types/express'], command);
      for (const options of MODULE_OPTIONS) {
        const compilerOptions = { ...COMPILER_OPTIONS, ...options };
        await writeFile(join(cwd, 'tsconfig.json'), JSON.stringify({ compilerOptions, include }));
        const complaints = await promisify(execFile)(COMPILER, ['-p', '.'], command).catch((error) => error.stdout);
        expect(complaints, options.module).toMatchObject({ stdout: '' });
      }
    });
  });
};

for (const { titles, sources } of siteSections) {
  const guides = sources.filter((source) => source.startsWith('guides/') && source !== 'guides/operators.md');
  if (guides.length > 0) followSection(titles.en, guides);
}

describe('every block of code in the guides', () => {
  test('is followed here or states why not', async () => {
    const sources = siteSections.flatMap((section) => section.sources).filter((source) => source.startsWith('guides/'));
    for (const source of sources) {
      for (const { role, code } of await blocksOf(source)) {
        expect(role, `docs/${source}: ${code}`).toBeDefined();
        if (role?.kind === 'not-run') expect(role.reason, `docs/${source}`).not.toBe('');
      }
    }
  });
});
