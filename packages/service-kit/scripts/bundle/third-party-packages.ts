import { existsSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import type { OnResolveResult, Plugin, PluginBuild } from 'esbuild';

const WORKSPACE = '@svc/';
/** Marks resolutions that this plugin starts, so that it does not handle them again. */
const ASKED_BY_US = { isAskedByUs: true };

/** Plugin that keeps third-party packages out of a bundle and records them. */
export interface ThirdPartyPackages {
  readonly plugin: Plugin;
  /** Names and exact versions, in alphabetical order. */
  readonly versions: () => Record<string, string>;
}

export const thirdPartyPackages = (): ThirdPartyPackages => {
  const versions = new Map<string, string>();
  const plugin: Plugin = {
    name: 'third-party-packages',
    setup: (build) => {
      build.onResolve({ filter: /^[^./]/ }, async ({ path, resolveDir, kind, pluginData }) => {
        if (pluginData === ASKED_BY_US || kind === 'entry-point' || path.startsWith(WORKSPACE)) return undefined;
        if (!isBuiltin(path)) {
          const name = packageName(path);
          const version = await findVersion(build, { path, resolveDir, name });
          if (version !== undefined) versions.set(name, version);
        }
        return { path, external: true } satisfies OnResolveResult;
      });
    },
  };
  return { plugin, versions: () => Object.fromEntries([...versions].sort(([a], [b]) => (a < b ? -1 : 1))) };
};

const packageName = (specifier: string): string => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');

/** Returns the version that this importer resolves; undefined for an optional package that is not installed. */
const findVersion = async (
  build: PluginBuild,
  { path, resolveDir, name }: { path: string; resolveDir: string; name: string },
): Promise<string | undefined> => {
  const resolved = await build.resolve(path, { resolveDir, kind: 'import-statement', pluginData: ASKED_BY_US });
  if (resolved.errors.length > 0) return undefined;
  for (let directory = dirname(resolved.path); directory !== dirname(directory); directory = dirname(directory)) {
    const file = join(directory, 'package.json');
    if (!existsSync(file)) continue;
    const manifest: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (isManifestOf(manifest, name)) return manifest.version;
  }
  return undefined;
};

const isManifestOf = (value: unknown, name: string): value is { version: string } =>
  typeof value === 'object' &&
  value !== null &&
  'name' in value &&
  value.name === name &&
  'version' in value &&
  typeof value.version === 'string';
