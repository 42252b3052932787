import { readFile, writeFile } from 'node:fs/promises';
import { openapiDocument } from './document.ts';
import { errorsPage } from './errors-page.ts';
import { eventSchemasDocument } from './event-schemas.ts';

/** Writes the generated files, or with `--check` says which of them are out of date and fails. */
const files: Record<string, string> = {
  '../../generated/openapi.json': `${JSON.stringify(openapiDocument(), null, 2)}\n`,
  '../../generated/event-schemas.json': `${JSON.stringify(eventSchemasDocument(), null, 2)}\n`,
  '../../../../docs/errors.md': errorsPage(),
};

const isCheck = process.argv.includes('--check');
for (const [path, text] of Object.entries(files)) {
  const url = new URL(path, import.meta.url);
  if (!isCheck) {
    await writeFile(url, text);
  } else if ((await readFile(url, 'utf8').catch(() => '')) !== text) {
    console.error(`${url.pathname} is out of date: run \`npx pnpm generate\``);
    process.exitCode = 1;
  }
}
