import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import type { TestProject } from 'vitest/node';
import { findChromium } from './browser.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Directory of the pages as built for this run. */
    assetsDirectory: string;
    /** Empty where there is no browser. */
    chromiumPath: string;
  }
}

/** Builds the pages as a release does, so that the tests try what people get. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), 'svc-console-'));
  await build({
    configFile: fileURLToPath(new URL('../../vite.config.ts', import.meta.url)),
    logLevel: 'error',
    build: { outDir: directory },
  });
  project.provide('assetsDirectory', directory);
  project.provide('chromiumPath', (await findChromium()) ?? '');
  return () => rm(directory, { recursive: true, force: true });
}
