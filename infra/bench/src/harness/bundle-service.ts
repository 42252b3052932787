import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const manifestSchema = z.object({ dependencies: z.record(z.string(), z.string()) });

/** Bundles a service as for production and answers the path of its main module. Throws where the build fails. */
export const bundleService = (directory: string): string => {
  const build = join(ROOT, 'packages', 'service-kit', 'scripts', 'bundle', 'main.ts');
  execFileSync(process.execPath, [build], { cwd: directory, stdio: ['ignore', 'ignore', 'inherit'] });
  const output = join(directory, 'dist');
  linkPackages(output);
  return join(output, 'src', 'main.js');
};

/** Gives a bundle the third-party packages that its manifest names, in those versions, from this workspace's store. */
const linkPackages = (output: string): void => {
  const manifest = manifestSchema.parse(JSON.parse(readFileSync(join(output, 'package.json'), 'utf8')));
  const store = join(ROOT, 'node_modules', '.pnpm');
  const stored = readdirSync(store);
  for (const [name, version] of Object.entries(manifest.dependencies)) {
    const entry = `${name.replace('/', '+')}@${version}`;
    // What follows an underscore or a bracket names the peers that the package was installed with.
    const found = stored.find(
      (other) => other === entry || other.startsWith(`${entry}_`) || other.startsWith(`${entry}(`),
    );
    if (found === undefined) throw new Error(`${entry} is not installed`);
    const link = join(output, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(store, found, 'node_modules', name), link);
  }
};
