import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'vitest';

/** A published table: one row for each client, one column for each feature. */
export interface FeatureTable<Feature extends string> {
  /** Tests one feature of a client. Passing tests enter the table. */
  readonly supports: (client: string, feature: Feature, run: () => Promise<void>) => void;
  /** Notes in the last column what a client must be configured with, beyond address and credentials. */
  readonly needs: (client: string, settings: string) => void;
  /** Returns the table of what has passed, in Markdown. */
  readonly toMarkdown: () => string;
}

const featureTable = <Feature extends string>(
  features: readonly Feature[],
  settingsTitle?: string,
): FeatureTable<Feature> => {
  const passed = new Map<string, Set<Feature>>();
  const settings = new Map<string, string>();
  const settingsCell = (text: string | undefined): string[] => (text === undefined ? [] : [text]);
  return {
    supports: (client, feature, run) => {
      test(`${client}: ${feature}`, async () => {
        await run();
        passed.set(client, (passed.get(client) ?? new Set()).add(feature));
      });
    },
    needs: (client, text) => {
      settings.set(client, text);
    },
    toMarkdown: () => {
      const titles = ['Client', ...features, ...settingsCell(settingsTitle)];
      const rows = [...passed].map(([client, own]) => [
        `\`${client}\``,
        ...features.map((feature) => (own.has(feature) ? 'yes' : '–')),
        ...settingsCell(settingsTitle && (settings.get(client) ?? 'none')),
      ]);
      return [titles, titles.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
    },
  };
};

export const inferenceTable = featureTable(
  ['Chat', 'Streaming', 'Responses', 'Tools', 'Structured', 'Embeddings', 'Errors'],
  'Settings',
);

export const delegatedTable = featureTable(['Chat', 'Streaming', 'Tools', 'Structured', 'Errors'], 'Settings');

export const oauthTable = featureTable(['Connect', 'Refresh', 'Revoke', 'Denial'], 'Settings');

export const webhookTable = featureTable(['Delivery', 'Forgery'], 'Settings');

/** Returns a package's name with its installed version; `alias` is the name that it is installed under. */
export const versioned = (alias: string): string => {
  const require = createRequire(import.meta.url);
  for (const folder of require.resolve.paths(alias) ?? []) {
    try {
      const { name, version } = JSON.parse(readFileSync(`${folder}/${alias}/package.json`, 'utf8'));
      return `${name} ${version}`;
    } catch {
      // The next folder may hold it.
    }
  }
  throw new Error(`${alias} is not installed`);
};
