import { mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';

/** Services that move between releases. */
export const SERVICES = ['auth', 'billing', 'inference-gateway', 'webhook-dispatcher'] as const;

export type Service = (typeof SERVICES)[number];

/** Release of the code that a service runs. */
export type Release = 'previous' | 'present';

/** Folders of the releases, and the folder of services that the stack uses. */
export interface Releases {
  readonly previous: string;
  readonly present: string;
  readonly mixed: string;
}

/** Makes a service run one release from its next start. Only `migrations` runs its migrations. */
export const choose = async (releases: Releases, service: Service, release: Release): Promise<void> => {
  const folder = join(releases.mixed, service, 'src');
  await mkdir(folder, { recursive: true });
  const link = join(folder, 'main.ts');
  await rm(link, { force: true });
  await symlink(join(releases[release], 'services', service, 'src', 'main.ts'), link);
};

/** Lays out the folder of services at the previous release, schema included. */
export const layOut = async (releases: Releases): Promise<void> => {
  for (const service of SERVICES) {
    await choose(releases, service, 'previous');
    const from = join(releases.previous, 'services', service);
    await symlink(join(from, 'migrations'), join(releases.mixed, service, 'migrations'));
    await symlink(join(from, 'src', 'migrate.ts'), join(releases.mixed, service, 'src', 'migrate.ts'));
  }
};
