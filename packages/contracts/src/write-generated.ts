import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Writes the files whose text has changed; paths are relative to `folder`. With `--check` on the command line it writes
 * nothing, names the files that are out of date and sets exit code 1.
 */
export const writeGenerated = (files: Readonly<Record<string, string>>, folder: URL): void => {
  const isCheck = process.argv.includes('--check');
  for (const [path, text] of Object.entries(files)) {
    const url = new URL(path, folder);
    if (readIfPresent(url) === text) continue;
    if (isCheck) {
      process.stderr.write(`${fileURLToPath(url)} is out of date: run \`npx pnpm generate\`\n`);
      process.exitCode = 1;
      continue;
    }
    mkdirSync(new URL('.', url), { recursive: true });
    writeFileSync(url, text);
    process.stdout.write(`${fileURLToPath(url)}\n`);
  }
};

const readIfPresent = (url: URL): string | undefined => {
  try {
    return readFileSync(url, 'utf8');
  } catch {
    return undefined;
  }
};
