import type { z } from 'zod';
import { settingMetadata } from './setting.ts';

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
