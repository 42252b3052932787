import { copyFileSync, cpSync, existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { entryAddresses } from './entry-addresses.ts';
import { thirdPartyPackages } from './third-party-packages.ts';

const NODE_TARGET = 'node24';
const SERVICE_ENTRIES = ['src/main.ts', 'src/migrate.ts', 'src/worker.ts'];
/** Tests, the package for them, and the `testing` folders of others. */
const FOR_TESTS = /(^|\/)testing\/|\.test\.ts$/;

export interface Bundle {
  readonly files: string[];
  readonly bytes: number;
}

/**
 * Bundles a service for production into `dist/`: the given entries (by default all) and each migration. Workspace
 * packages go into the bundle; third-party packages stay in `node_modules`. The folder layout is kept, so
 * `src/migrate.js` still finds `../migrations`. `*.yaml` files beside them and the SQL functions in `migrations` are copied. `dist/package.json` lists the third-party packages with exact versions. Throws if a module would resolve files
 * relative to itself and miss them, or if code for tests would be in the bundle.
 */
export const bundleService = async (directory: string, named: readonly string[] = []): Promise<Bundle> => {
  const outputDirectory = join(directory, 'dist');
  const own = SERVICE_ENTRIES.filter((entry) => existsSync(join(directory, entry)));
  const entries = [...(named.length === 0 ? own : named), ...listMigrations(directory)];
  if (entries.length === 0) throw new Error(`${directory} has nothing to bundle: no ${SERVICE_ENTRIES.join(', no ')}.`);
  rmSync(outputDirectory, { recursive: true, force: true });
  const packages = thirdPartyPackages();
  const { metafile } = await build({
    absWorkingDir: directory,
    entryPoints: entries,
    outbase: '.',
    outdir: outputDirectory,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: NODE_TARGET,
    sourcemap: 'linked',
    // Identifiers are not minified, so names survive without it. It would set a name on every closure each time one is
    // created.
    keepNames: false,
    metafile: true,
    logLevel: 'silent',
    plugins: [packages.plugin, entryAddresses(entries.map((entry) => join(directory, entry)))],
  });
  const forTests = Object.keys(metafile.inputs).filter((file) => FOR_TESTS.test(file));
  if (forTests.length > 0) throw new Error(`code for tests would reach production: ${forTests.join(', ')}`);
  copyDataFiles(directory, outputDirectory);
  const manifest = { private: true, type: 'module', dependencies: packages.versions() };
  writeFileSync(join(outputDirectory, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  const outputs = Object.entries(metafile.outputs).filter(([file]) => !file.endsWith('.map'));
  return {
    files: outputs.map(([file]) => join(directory, file)),
    bytes: outputs.reduce((sum, [, output]) => sum + output.bytes, 0),
  };
};

/** Copies the service's data, such as a default configuration, and its SQL functions. */
const copyDataFiles = (directory: string, outputDirectory: string): void => {
  const migrations = join(directory, 'migrations');
  if (existsSync(migrations)) {
    const isData = (path: string) => statSync(path).isDirectory() || path.endsWith('.sql');
    cpSync(migrations, join(outputDirectory, 'migrations'), { recursive: true, filter: isData });
  }
  for (const file of readdirSync(directory).filter((name) => name.endsWith('.yaml'))) {
    copyFileSync(join(directory, file), join(outputDirectory, file));
  }
};

const listMigrations = (directory: string): string[] => {
  const migrations = join(directory, 'migrations');
  if (!existsSync(migrations)) return [];
  return readdirSync(migrations)
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .sort()
    .map((file) => `migrations/${file}`);
};
