import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { renderSettingsTable } from '@svc/service-kit';
import { expect, it } from 'vitest';
import { configSchema } from './support/dispatcher.ts';

it('the README says what the configuration schema says', async () => {
  const file = fileURLToPath(new URL('../README.md', import.meta.url));
  const table = `<!-- configuration -->\n${renderSettingsTable(configSchema)}<!-- /configuration -->`;
  const expected = readFileSync(file, 'utf8').replace(/<!-- configuration -->.*<!-- \/configuration -->/s, () => table);
  await expect(expected).toMatchFileSnapshot(file);
});
