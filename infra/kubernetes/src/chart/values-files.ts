import { stringify } from 'yaml';
import { z } from 'zod';
import type { ChartValue } from './chart-value.ts';

type Defaults = ReadonlyMap<string, unknown>;

/** Values by their names, as in `values.yaml`. */
interface Tree {
  readonly branches: Map<string, Tree>;
  value?: ChartValue;
}

/** Arranges values by the names of their paths. */
const treeOf = (values: readonly ChartValue[]): Tree => {
  const root: Tree = { branches: new Map() };
  for (const value of values) {
    let tree = root;
    for (const name of value.path.split('.')) {
      const branch = tree.branches.get(name) ?? { branches: new Map() };
      tree.branches.set(name, branch);
      tree = branch;
    }
    tree.value = value;
  }
  return root;
};

/** Writes `values.yaml`: each value with its default below its meaning. */
export const valuesText = (values: readonly ChartValue[], defaults: Defaults): string =>
  `${[...treeOf(values).branches].flatMap(([name, tree]) => valueLines(name, tree, defaults, 0)).join('\n')}\n`;

const valueLines = (name: string, { branches, value }: Tree, defaults: Defaults, indentation: number): string[] => {
  const margin = ' '.repeat(indentation);
  if (value === undefined) {
    return [
      `${margin}${name}:`,
      ...[...branches].flatMap(([branch, tree]) => valueLines(branch, tree, defaults, indentation + 2)),
    ];
  }
  const entry = stringify({ [name]: defaults.get(value.path) }, { lineWidth: 0, version: '1.1' }).trimEnd();
  return [`# ${value.meaning}.`, ...entry.split('\n')].map((line) => (line === '' ? '' : `${margin}${line}`));
};

/** Returns the schema of all values. An umbrella chart adds `global`. */
export const valuesSchema = (values: readonly ChartValue[]): z.ZodType =>
  objectSchema(treeOf(values), { global: z.looseObject({}).optional() });

const objectSchema = ({ branches }: Tree, further: Record<string, z.ZodType> = {}): z.ZodType =>
  z.strictObject({
    ...Object.fromEntries(
      [...branches].map(([name, tree]) => [
        name,
        tree.value?.schema.describe(tree.value.meaning) ?? objectSchema(tree),
      ]),
    ),
    ...further,
  });

/** Writes `values.schema.json`, by which Helm checks values. */
export const valuesSchemaText = (values: readonly ChartValue[]): string =>
  `${JSON.stringify(z.toJSONSchema(valuesSchema(values), { target: 'draft-7', io: 'input' }), null, 2)}\n`;

const DEFAULT_CHARACTERS_MAX = 60;
const HEADINGS = { meaning: '| value | meaning | default |', italian: '| valore | significato | predefinito |' };

/** Writes the table of values for a guide, with one row for the same value of all services or images. */
export const valuesTable = (
  values: readonly ChartValue[],
  defaults: Defaults,
  language: 'meaning' | 'italian',
): string => {
  const rows = Map.groupBy(values, ({ path }) =>
    path.replace(/^services\.\w+/, 'services.<service>').replace(/^images\.digests\.\w+/, 'images.digests.<image>'),
  );
  const lines = [...rows].map(([path, members]) => {
    const shownDefaults = new Set(members.map((member) => shown(defaults.get(member.path))));
    const [first = ''] = shownDefaults;
    return `| \`${path}\` | ${members[0]?.[language]} | ${shownDefaults.size > 1 ? IN_FILE : first} |`;
  });
  return [HEADINGS[language], '| --- | --- | --- |', ...lines].join('\n');
};

const IN_FILE = '`values.yaml`';

const shown = (value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (text === '') return '';
  return text.length > DEFAULT_CHARACTERS_MAX || text.includes('\n') ? IN_FILE : `\`${text}\``;
};
