import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** Limit of the browser entry, bundled, minified and compressed. */
const BUNDLE_BYTES_MAX = 12 * 1024;
const PACKAGE = fileURLToPath(new URL('../', import.meta.url));
const BINARIES = join(PACKAGE, 'node_modules', '.bin');
const run = promisify(execFile);

/** Compiled beside the sources, so that types of other packages resolve, and never in `dist`, which a pack may write. */
let folder: string;
/** A consumer that has installed the package as it is published. */
let consumer: string;

beforeAll(async () => {
  folder = await mkdtemp(join(PACKAGE, 'node_modules', '.built-'));
  consumer = join(folder, 'consumer');
  const installed = join(consumer, 'node_modules', '@svc', 'partner-sdk');
  await run(process.execPath, ['scripts/build.ts', join(installed, 'dist')], { cwd: PACKAGE });
  const manifest = JSON.parse(await readFile(join(PACKAGE, 'package.json'), 'utf8'));
  await writeFile(join(installed, 'package.json'), JSON.stringify({ ...manifest, ...manifest.publishConfig }));
  // Without a manifest, the name of the package would mean the sources around this folder.
  await writeFile(join(consumer, 'package.json'), '{}');
  await mkdir(join(consumer, 'node_modules', '@types'));
  await symlink(join(PACKAGE, 'node_modules', '@types', 'node'), join(consumer, 'node_modules', '@types', 'node'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const node = async (...args: string[]): Promise<string> =>
  (await run(process.execPath, args, { cwd: consumer })).stdout.trim();

/** Compiles a file of a consumer, its declarations included. Returns the complaints of the compiler. */
const compile = async (file: string, source: string, options: object): Promise<string> => {
  await writeFile(join(consumer, file), source);
  const compilerOptions = { strict: true, noEmit: true, skipLibCheck: false, target: 'es2022', ...options };
  await writeFile(join(consumer, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [file] }));
  return await run(join(BINARIES, 'tsc'), ['-p', '.'], { cwd: consumer }).then(
    () => '',
    (error: { stdout: string }) => error.stdout,
  );
};

describe('the published package', () => {
  test('depends on no other package', async () => {
    const manifest = JSON.parse(await readFile(join(PACKAGE, 'package.json'), 'utf8'));
    expect(manifest.dependencies).toBeUndefined();
    for (const format of ['esm', 'cjs']) {
      const root = join(consumer, 'node_modules', '@svc', 'partner-sdk', 'dist', format);
      const names = await readdir(root, { recursive: true });
      for (const name of names.filter((each) => each.endsWith('.js'))) {
        const imports = (await readFile(join(root, name), 'utf8')).matchAll(/(?: from |require\()['"]([^'"]+)/g);
        for (const [, from] of imports) expect(from, name).toMatch(/^\.\.?\//);
      }
    }
  });

  test('is not packed by npm, which would leave its entries out of the manifest', async () => {
    const packing = run('npm', ['pack', '--dry-run'], { cwd: PACKAGE });
    await expect(packing).rejects.toMatchObject({ stderr: expect.stringContaining('npx pnpm pack') });
  });

  test('maps its code to sources that the maps contain', async () => {
    for (const format of ['esm', 'cjs']) {
      const file = join(consumer, 'node_modules', '@svc', 'partner-sdk', 'dist', format, 'index.js');
      expect(await readFile(file, 'utf8')).toMatch(/\n\/\/# sourceMappingURL=index\.js\.map$/);
      const { sourcesContent } = JSON.parse(await readFile(`${file}.map`, 'utf8'));
      expect(sourcesContent).toEqual([await readFile(join(PACKAGE, 'src', 'index.ts'), 'utf8')]);
    }
  });

  const bundle = async (contents: string): Promise<Uint8Array> => {
    const built = await build({
      stdin: { contents, resolveDir: consumer },
      bundle: true,
      minify: true,
      format: 'esm',
      platform: 'browser',
      target: 'es2022',
      write: false,
      logLevel: 'silent',
    });
    return built.outputFiles[0]?.contents ?? new Uint8Array();
  };

  test.each(['', '/element'])('fits a browser entry into 12 KB: @svc/partner-sdk%s', async (entry) => {
    const code = await bundle(`export * from '@svc/partner-sdk${entry}'`);
    expect(gzipSync(code).byteLength).toBeLessThanOrEqual(BUNDLE_BYTES_MAX);
  });

  test('keeps the element of a page that only imports its entry, and drops what a page does not use', async () => {
    expect(new TextDecoder().decode(await bundle("import '@svc/partner-sdk/element'"))).toContain('svc-connect');
    expect((await bundle("import '@svc/partner-sdk'")).byteLength).toBe(0);
  });

  test.each(['', '/server', '/ai-sdk', '/element'])(
    'can be imported and required: @svc/partner-sdk%s',
    async (entry) => {
      const name = `@svc/partner-sdk${entry}`;
      const print = 'console.log(Object.keys(sdk).filter((name) => name !== "default").sort().join())';
      const imported = await node('--input-type=module', '-e', `import * as sdk from '${name}'; ${print}`);
      // Early releases of Node.js 20 cannot require ES modules.
      const required = await node('--no-experimental-require-module', '-e', `const sdk = require('${name}'); ${print}`);
      expect(imported).not.toBe('');
      expect(required).toBe(imported);
    },
  );

  const PAGE_OPTIONS = { lib: ['es2022', 'dom', 'dom.iterable'], types: [], module: 'esnext' };

  test.each(['', '/server', '/element'])(
    'declares no global of Node.js, such as Buffer: @svc/partner-sdk%s',
    async (entry) => {
      const source = `export * from '@svc/partner-sdk${entry}';`;
      expect(await compile('page.ts', source, { ...PAGE_OPTIONS, moduleResolution: 'bundler' })).toBe('');
    },
  );

  test('names no type of Node.js in any declaration', async () => {
    const root = join(consumer, 'node_modules', '@svc', 'partner-sdk', 'dist');
    const names = await readdir(root, { recursive: true });
    for (const name of names.filter((each) => each.endsWith('.d.ts'))) {
      expect(await readFile(join(root, name), 'utf8'), name).not.toMatch(/\bBuffer\b|\bNodeJS\b|['"]node[:'"]/);
    }
  });

  test('types a page that calls the service', async () => {
    const source = `import { SvcConnectElement } from '@svc/partner-sdk/element';
      import { createConnector, createSvcClient, type Usage } from '@svc/partner-sdk';
      createConnector({ issuer: 'https://svc.example', clientId: 'app_1', redirectUri: 'https://a.example/' });
      export const read = async (): Promise<Usage> =>
        await createSvcClient({ baseUrl: 'https://svc.example', tokens: async () => 'token' }).usage();
      const button = document.querySelector('svc-connect');
      button?.addEventListener('svc-connected', ({ detail }) => detail.svcUserId.trim());
      export const isButton = button instanceof SvcConnectElement;`;
    expect(await compile('page.ts', source, { ...PAGE_OPTIONS, moduleResolution: 'bundler' })).toBe('');
  });

  test('declares its server entry for CommonJS and for ES modules', async () => {
    const source = `import { verifyWebhook } from '@svc/partner-sdk/server';
      export const read = async (body: Uint8Array): Promise<string> => (await verifyWebhook(body, {}, 's')).event_id;`;
    const options = { lib: ['es2023'], types: ['node'], module: 'nodenext' };
    for (const file of ['server.cts', 'server.mts']) expect(await compile(file, source, options), file).toBe('');
  });
});
