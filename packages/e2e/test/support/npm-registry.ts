import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packFolder } from './tarball.ts';

const STORE = fileURLToPath(new URL('../../../../node_modules/.pnpm/', import.meta.url));

/** A local registry. */
export interface NpmRegistry {
  readonly url: string;
  readonly close: () => void;
}

/**
 * Starts a registry that offers the packages installed in this workspace, so that a guide's `npm install` needs no
 * network and gets only versions of the lockfile.
 */
export const startNpmRegistry = async (): Promise<NpmRegistry> => {
  const packages = readInstalled();
  const server = createServer(async (request, response) => {
    const [name = '', version] = decodeURIComponent(request.url?.slice(1) ?? '').split('/-/');
    const versions = packages.get(name);
    if (versions === undefined) return response.writeHead(404).end('{}');
    if (version !== undefined) return response.end(await packFolder(versions.get(version) ?? ''));
    const manifests = [...versions].map(([known, folder]) => {
      const manifest = { ...readManifest(folder), dist: { tarball: `${url}/${name}/-/${known}` } };
      return [known, manifest] as const;
    });
    const latest = manifests.at(-1)?.[0];
    response.setHeader('content-type', 'application/json');
    return response.end(JSON.stringify({ name, 'dist-tags': { latest }, versions: Object.fromEntries(manifests) }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on a port
  return { url, close: () => server.close() };
};

/** Reads the folders of all installed packages, by name and version. */
const readInstalled = (): ReadonlyMap<string, ReadonlyMap<string, string>> => {
  const packages = new Map<string, Map<string, string>>();
  for (const entry of readdirSync(STORE)) {
    // Such as `@types+node@24.10.1` and `openai@7.55.0_undici@8.12.4`.
    const [, key = '', version = ''] = /^(@?[^@]+)@([^_(]+)/.exec(entry) ?? [];
    const name = key.replace('+', '/');
    if (version === '' || version.includes('+')) continue;
    const versions = packages.get(name) ?? new Map<string, string>();
    packages.set(name, versions.set(version, join(STORE, entry, 'node_modules', name)));
  }
  return packages;
};

const readManifest = (folder: string): Record<string, unknown> => {
  const manifest: Record<string, unknown> = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  // Build scripts are not needed here.
  const { scripts: _scripts, devDependencies: _development, ...rest } = manifest;
  return rest;
};
