import { mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';

/** The services that move from release to release. */
export const SERVICES = ['auth', 'billing', 'inference-gateway', 'webhook-dispatcher'] as const;

/** One of them. */
export type Service = (typeof SERVICES)[number];

/** Which code a service runs. */
export type Release = 'previous' | 'present';

/** Where the releases are, and the folder of services that the stack is given. */
export interface Releases {
  readonly previous: string;
  readonly present: string;
  readonly mixed: string;
}

/** Has a service run the code of one release from its next start. Its migrations are run by `migrations` alone. */
export const choose = async (releases: Releases, service: Service, release: Release): Promise<void> => {
  const folder = join(releases.mixed, service, 'src');
  await mkdir(folder, { recursive: true });
  const link = join(folder, 'main.ts');
  await rm(link, { force: true });
  await symlink(join(releases[release], 'services', service, 'src', 'main.ts'), link);
};

/** Lays out the folder of services with the previous release throughout, schema included. */
export const layOut = async (releases: Releases): Promise<void> => {
  for (const service of SERVICES) {
    await choose(releases, service, 'previous');
    const from = join(releases.previous, 'services', service);
    await symlink(join(from, 'migrations'), join(releases.mixed, service, 'migrations'));
    await symlink(join(from, 'src', 'migrate.ts'), join(releases.mixed, service, 'src', 'migrate.ts'));
  }
};
