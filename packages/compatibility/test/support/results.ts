import { createRequire } from 'node:module';
import { test } from 'vitest';

/** Columns of the published table. */
const FEATURES = ['Chat', 'Streaming', 'Responses', 'Tools', 'Embeddings', 'Errors'] as const;

export type Feature = (typeof FEATURES)[number];

const passed = new Map<string, Set<Feature>>();

/** Tests one feature of a client with base URL and key alone. Passing tests enter the published table. */
export const supports = (client: string, feature: Feature, run: () => Promise<void>): void => {
  test(`${client}: ${feature}`, async () => {
    await run();
    passed.set(client, (passed.get(client) ?? new Set()).add(feature));
  });
};

/** Returns the table of what has passed, in Markdown. */
export const resultsTable = (): string => {
  const rows = [...passed].map(([client, features]) => [
    `\`${client}\``,
    ...FEATURES.map((feature) => (features.has(feature) ? 'yes' : '–')),
  ]);
  return [['Client', ...FEATURES], FEATURES.map(() => '---').concat('---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
};

/** Returns a package's name with its installed version; `alias` is the name that it is installed under. */
export const versioned = (alias: string): string => {
  const require = createRequire(import.meta.url);
  for (const folder of require.resolve.paths(alias) ?? []) {
    try {
      const { name, version } = require(`${folder}/${alias}/package.json`);
      return `${name} ${version}`;
    } catch {
      // The next folder may hold it.
    }
  }
  throw new Error(`${alias} is not installed`);
};
