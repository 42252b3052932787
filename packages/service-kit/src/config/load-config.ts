import type { z } from 'zod';
import type { Logger } from '../logging/create-logger.ts';
import { type SettingMetadata, settingMetadata } from './setting.ts';

/** A missing or invalid variable. `expected` never contains the given value. */
export interface ConfigFault {
  readonly name: string;
  readonly expected: string;
}

/** Thrown at start-up for an invalid configuration. The message lists every fault, one per line, without values. */
export class ConfigError extends Error {
  readonly code = 'config_invalid';
  readonly faults: readonly ConfigFault[];

  constructor(faults: readonly ConfigFault[]) {
    super(
      ['The configuration is invalid:', ...faults.map(({ name, expected }) => `  ${name}: ${expected}`)].join('\n'),
    );
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

/**
 * Parses the environment once. An empty variable counts as unset, and only variables named in the schema are read.
 * Throws ConfigError with all faults at once.
 */
export const loadConfig = <S extends z.ZodObject>(schema: S, environment: NodeJS.ProcessEnv): z.infer<S> => {
  const input: Record<string, string | undefined> = {};
  for (const name of Object.keys(schema.shape)) {
    const text = environment[name];
    input[name] = text === undefined || text.trim() === '' ? undefined : text;
  }
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  throw new ConfigError(result.error.issues.map((issue) => toFault(schema, issue)));
};

const toFault = (schema: z.ZodObject, issue: z.core.$ZodIssue): ConfigFault => {
  const name = issue.path.map(String).join('.') || '(several)';
  // Messages of `setting.*` and cross-field rules contain no value; those of other schemas might quote it.
  if (issue.code === 'custom') return { name, expected: issue.message };
  const member = schema.shape[name];
  const metadata = member === undefined ? undefined : settingMetadata(member);
  return { name, expected: `expected ${metadata?.expected ?? 'another value'}` };
};

/** One variable of a service, as shown in documents. */
export interface SettingDescription extends SettingMetadata {
  readonly name: string;
}

/**
 * Lists the variables of a schema in order. Throws if one was not made by `setting`, since it would be undocumented.
 */
export const describeSettings = (schema: z.ZodObject): SettingDescription[] =>
  Object.entries(schema.shape).map(([name, member]) => {
    const metadata = settingMetadata(member);
    if (metadata === undefined) throw new Error(`${name} has no metadata: make it with setting.*`);
    return { name, ...metadata };
  });

/** Renders `.env.example`. Required variables are empty; the others are commented out with their defaults. */
export const renderEnvExample = (schema: z.ZodObject): string => {
  const blocks = describeSettings(schema).map((item) => {
    const notes = [item.expected, item.required ? 'required' : 'optional', ...(item.secret ? ['secret'] : [])];
    const line = item.required ? `${item.name}=` : `# ${item.name}=${item.default ?? ''}`;
    return `# ${item.description}\n# (${notes.join('; ')})\n${line}\n`;
  });
  return `# Generated from the configuration schema; not edited by hand.\n\n${blocks.join('\n')}`;
};

/** Renders the configuration table of a service's README as Markdown. */
export const renderSettingsTable = (schema: z.ZodObject): string => {
  const rows = describeSettings(schema).map((item) => {
    const fallback = item.default === undefined ? (item.required ? 'required' : '') : `\`${item.default}\``;
    const cells = [`\`${item.name}\``, item.description, item.expected, fallback, item.secret ? 'yes' : ''];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  return ['| variable | meaning | value | default | secret |', '| --- | --- | --- | --- | --- |', ...rows, ''].join(
    '\n',
  );
};

/** Returns a loggable summary of the configuration: secrets only as set or unset, URLs without credentials. */
export const summarizeConfig = <S extends z.ZodObject>(schema: S, config: z.infer<S>): Record<string, string> => {
  const values: Record<string, unknown> = config;
  const entries = describeSettings(schema).map(({ name, secret }): [string, string] => {
    const value = values[name];
    if (value === undefined) return [name, '(unset)'];
    return [name, secret ? '(set)' : withoutUserinfo(Array.isArray(value) ? value.join(',') : String(value))];
  });
  return Object.fromEntries(entries);
};

const withoutUserinfo = (text: string): string => text.replace(/\/\/[^/@\s]*@/g, '//');

/** Shorter names resemble too many others. */
const NAME_CHARACTERS_MIN = 6;
const EDITS_MAX = 2;

/**
 * Logs the settings of a service that starts, without secrets. Warns of every variable whose name resembles a setting that is
 * not set, because loadConfig ignores unknown variables.
 */
export const logStart = <S extends z.ZodObject>(
  logger: Logger,
  started: { readonly schema: S; readonly config: z.infer<S>; readonly environment: NodeJS.ProcessEnv },
): void => {
  const { schema, config, environment } = started;
  logger.info({ settings: summarizeConfig(schema, config) }, 'starting');
  for (const { name, meant } of findMisspelled(schema, environment)) {
    logger.warn({ component: 'configuration', name, target: meant }, 'a variable is ignored: is its name misspelled?');
  }
};

/** Lists unknown variables with the unset setting that each resembles. */
const findMisspelled = (schema: z.ZodObject, environment: NodeJS.ProcessEnv) => {
  const known = Object.keys(schema.shape);
  const unset = known.filter((name) => environment[name] === undefined && name.length >= NAME_CHARACTERS_MIN);
  return Object.keys(environment).flatMap((name) => {
    if (known.includes(name) || name.length < NAME_CHARACTERS_MIN) return [];
    const meant = unset.find((setting) => countEdits(name, setting) <= EDITS_MAX);
    return meant === undefined ? [] : [{ name, meant }];
  });
};

/** Levenshtein distance of two names. */
const countEdits = (from: string, to: string): number => {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const [line, character] of [...from].entries()) {
    const next = [line + 1];
    for (let column = 0; column < to.length; column += 1) {
      const replaced = (row[column] ?? 0) + (to[column] === character ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
};
