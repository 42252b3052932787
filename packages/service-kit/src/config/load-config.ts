import type { z } from 'zod';
import { settingMetadata } from './setting.ts';

/** One variable that is missing or wrong. `expected` never contains what was set. */
export interface ConfigFault {
  name: string;
  expected: string;
}

/** Start-up failed on configuration; the message lists every fault, one to a line, and no value. */
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
 * Parses the environment once. An empty variable counts as unset, and only variables that the schema names are read.
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
  // Messages of `setting.*` and of cross-field rules are written by us; those of other schemas could quote the value.
  if (issue.code === 'custom') return { name, expected: issue.message };
  const member = schema.shape[name];
  const metadata = member === undefined ? undefined : settingMetadata(member);
  return { name, expected: `expected ${metadata?.expected ?? 'another value'}` };
};
