import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findChromium } from '@svc/testing';
import { build } from 'vite';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Directory of the pages as built for this run. */
    readonly assetsDirectory: string;
    /** Empty where there is no browser. */
    readonly chromiumPath: string;
  }
}

/** Builds the pages as a release does, so that the tests try what people get. */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  const directory = await mkdtemp(join(tmpdir(), 'svc-console-'));
  // Vitest says `test`, and libraries would be built with their development checks.
  const { NODE_ENV } = process.env;
  process.env.NODE_ENV = 'production';
  await build({
    configFile: fileURLToPath(new URL('../../vite.config.ts', import.meta.url)),
    logLevel: 'error',
    build: { outDir: directory },
  });
  process.env.NODE_ENV = NODE_ENV;
  project.provide('assetsDirectory', directory);
  project.provide('chromiumPath', (await findChromium()) ?? '');
  return () => rm(directory, { recursive: true, force: true });
};
