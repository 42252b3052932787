import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { setUpStack } from '../support/global-setup.ts';
import { checkOutPreviousRelease } from './previous-release.ts';
import { layOut, type Releases } from './two-releases.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Undefined if the previous release is unavailable. */
    releases: Releases | undefined;
  }
}

/** Starts the product at the previous release. */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-upgrade-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  const present = new URL('../../../../', import.meta.url).pathname;
  const releases = { previous: join(folder, 'previous'), present, mixed: join(folder, 'services') };
  try {
    await checkOutPreviousRelease(releases.previous);
  } catch (error) {
    await remove();
    const why = error instanceof Error ? error.message : String(error);
    process.stderr.write(`NOT CHECKED: the previous release does not run on the new schema here (${why})\n`);
    project.provide('releases', undefined);
    return async () => undefined;
  }
  await layOut(releases);
  project.provide('releases', releases);
  const stop = await setUpStack({ SAMPLE_PARTNER: 'off', SVC_SERVICES_DIR: releases.mixed })(project);
  return async () => {
    await stop();
    await remove();
  };
};
