import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findPreviousRelease } from '@svc/testing';
import type { TestProject } from 'vitest/node';
import { setUpStack } from '../support/global-setup.ts';
import { checkOutRelease } from './check-out-release.ts';
import { layOut, type Releases } from './two-releases.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Undefined if no release is tagged, or it is unavailable. */
    releases: Releases | undefined;
  }
}

/** Starts the product at the previous release, if there is one. */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  const present = new URL('../../../../', import.meta.url).pathname;
  const release = await findPreviousRelease(present);
  if (release === undefined) {
    project.provide('releases', undefined);
    return async () => undefined;
  }
  const folder = await mkdtemp(join(tmpdir(), 'svc-upgrade-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  const releases = { previous: join(folder, 'previous'), present, mixed: join(folder, 'services') };
  try {
    await checkOutRelease(present, release, releases.previous);
  } catch (error) {
    await remove();
    const why = error instanceof Error ? error.message : String(error);
    process.stderr.write(`NOT CHECKED: ${release} does not run on the new schema here (${why})\n`);
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
