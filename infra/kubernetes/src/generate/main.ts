import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { generatedFiles } from './generated-files.ts';

/** Writes everything derived; with `--check` it changes nothing, and fails where a file is out of date. */
const INFRA = new URL('../../../', import.meta.url);
const isCheck = process.argv.includes('--check');

const readIfThere = (url: URL): string => {
  try {
    return readFileSync(url, 'utf8');
  } catch {
    return '';
  }
};

for (const { path, text } of generatedFiles()) {
  const url = new URL(path, INFRA);
  if (readIfThere(url) === text) continue;
  if (isCheck) {
    console.error(`infra/${path} is out of date: run \`npx pnpm generate\``);
    process.exitCode = 1;
  } else {
    mkdirSync(new URL('.', url), { recursive: true });
    writeFileSync(url, text);
    console.log(`infra/${path}`);
  }
}
