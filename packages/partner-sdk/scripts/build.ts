import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Compiles the package to ES modules and to CommonJS, each with its own declarations. Takes the folder to write. */
const cwd = fileURLToPath(new URL('../', import.meta.url));
const target = process.argv[2] ?? join(cwd, 'dist');
const formats = [
  { folder: 'esm', type: 'module', project: 'tsconfig.build.json' },
  { folder: 'cjs', type: 'commonjs', project: 'tsconfig.cjs.json' },
];

rmSync(target, { recursive: true, force: true });
for (const { folder, type, project } of formats) {
  const directory = join(target, folder);
  execFileSync('tsc', ['-p', project, '--outDir', directory], { cwd, stdio: 'inherit' });
  mkdirSync(directory, { recursive: true });
  // Node.js and TypeScript read the format of a file from the nearest manifest.
  const sideEffects = ['./element/index.js'];
  writeFileSync(join(directory, 'package.json'), `${JSON.stringify({ type, sideEffects })}\n`);
}
