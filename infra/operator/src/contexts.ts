import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { serviceNames } from '@svc/contracts';
import { parse } from 'yaml';
import { z } from 'zod';
import { OperatorError } from './operator-error.ts';

/** Time for a password manager to ask its owner for a passphrase. */
const TOKEN_COMMAND_TIMEOUT_MS = 60_000;
/** Permission bits of the file's group and of everyone else. */
const OTHERS = 0o077;

const tokenSchema = z.union(
  [
    z.strictObject({ file: z.string().min(1) }),
    z.strictObject({ env: z.string().min(1) }),
    z.strictObject({ command: z.array(z.string()).min(1) }),
  ],
  'name a file, an env or a command that holds the credential',
);
const contextSchema = z.union(
  [
    z.strictObject({ data_dir: z.string().min(1) }),
    z.strictObject({
      operator: z.string().min(1).optional(),
      token: tokenSchema,
      urls: z.partialRecord(z.enum(serviceNames), z.url({ protocol: /^https?$/ })),
    }),
  ],
  'has either data_dir, or token and urls',
);
const fileSchema = z.strictObject({
  current: z.string().optional(),
  contexts: z.record(z.string(), contextSchema),
});

/** One environment: a local stack's folder, or addresses and the source of a credential. */
export type Context = z.infer<typeof contextSchema>;

/** Contents of the file of contexts. */
export interface Contexts {
  readonly file: string;
  readonly current?: string | undefined;
  readonly contexts: Readonly<Record<string, Context>>;
}

/**
 * Reads the file of contexts: SVC_CONFIG, or `svc/contexts.yaml` in the user's folder for settings. Without the file
 * there are none. Throws OperatorError if it is invalid.
 */
export const readContexts = (env: NodeJS.ProcessEnv): Contexts => {
  const file = env.SVC_CONFIG ?? join(env.XDG_CONFIG_HOME ?? join(homedir(), '.config'), 'svc', 'contexts.yaml');
  const text = readIfPresent(file, env.SVC_CONFIG !== undefined);
  if (text === undefined) return { file, contexts: {} };
  const parsed = fileSchema.safeParse(parseYaml(text, file));
  if (parsed.success) return { file, ...parsed.data };
  const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'the file'}: ${message}`);
  throw new OperatorError(`${file} is invalid: ${faults.join('; ')}`);
};

/** Returns the context of a name. Throws OperatorError if there is none. */
export const findContext = ({ file, contexts }: Contexts, name: string): Context => {
  const found = contexts[name];
  if (found !== undefined) return found;
  const known = Object.keys(contexts).join(', ') || 'none';
  throw new OperatorError(`there is no context "${name}" in ${file}. Contexts: ${known}.`);
};

/** Reads a context's credential from its source. Throws OperatorError if the source has none. */
export const readToken = (
  token: z.infer<typeof tokenSchema>,
  { file, env }: { file: string; env: NodeJS.ProcessEnv },
): string => {
  const read = () => {
    if ('env' in token) return env[token.env] ?? '';
    return 'file' in token ? readTokenFile(pathFrom(file, token.file)) : runTokenCommand(token);
  };
  const value = read().trim();
  if (value === '') throw new OperatorError(`${Object.values(token).flat().join(' ')} has no credential`);
  return value;
};

/** Resolves `~/` and paths relative to the file of contexts. */
export const pathFrom = (file: string, path: string): string => resolve(dirname(file), expandHome(path));

const expandHome = (path: string): string => (path.startsWith('~/') ? join(homedir(), path.slice(2)) : path);

const readTokenFile = (path: string): string => {
  const text = readIfPresent(path, true) ?? '';
  if ((statSync(path).mode & OTHERS) === 0) return text;
  throw new OperatorError(`${path} can be read by others: chmod 600 ${path}`);
};

const runTokenCommand = ({ command: [program = '', ...args] }: { command: string[] }): string => {
  try {
    const stdio = ['inherit', 'pipe', 'inherit'] as const;
    return execFileSync(program, args, { encoding: 'utf8', timeout: TOKEN_COMMAND_TIMEOUT_MS, stdio: [...stdio] });
  } catch {
    throw new OperatorError(`the command "${program}" gave no credential`);
  }
};

const readIfPresent = (path: string, isNeeded: boolean): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    if (isNeeded) throw new OperatorError(`${path} cannot be read`);
    return undefined;
  }
};

const parseYaml = (text: string, file: string): unknown => {
  try {
    return parse(text);
  } catch {
    throw new OperatorError(`${file} is no YAML`);
  }
};
