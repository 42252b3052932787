import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

/** A service of docker-compose.yml, as far as the tests look. */
const serviceSchema = z.looseObject({
  image: z.string().optional(),
  build: z
    .strictObject({ context: z.literal('.'), dockerfile: z.string(), args: z.record(z.string(), z.string()) })
    .optional(),
  environment: z.record(z.string(), z.coerce.string()).default({}),
  command: z.array(z.string()).optional(),
  depends_on: z.record(z.string(), z.strictObject({ condition: z.string() })).default({}),
  healthcheck: z.looseObject({ test: z.array(z.string()).optional(), disable: z.boolean().optional() }).optional(),
  volumes: z.array(z.string()).default([]),
  ports: z.array(z.string()).default([]),
  read_only: z.boolean().optional(),
  cap_drop: z.array(z.string()).optional(),
  security_opt: z.array(z.string()).optional(),
  privileged: z.boolean().optional(),
  profiles: z.array(z.string()).default([]),
});

/** A service of docker-compose.yml. */
export type ComposeService = z.infer<typeof serviceSchema>;

/** The file at the root of the repository. */
export const COMPOSE_FILE = new URL('../../../../docker-compose.yml', import.meta.url);

/** Reads the compose file with its anchors and merges resolved, and variables as they stand. */
export const readCompose = (): Record<string, ComposeService> => {
  const file: unknown = parse(readFileSync(COMPOSE_FILE, 'utf8'), { merge: true });
  return z.looseObject({ services: z.record(z.string(), serviceSchema) }).parse(file).services;
};

const VARIABLE = /\$\{(\w+)(?::([-?+])([^${}]*))?\}/g;

/**
 * Returns the text as compose fills it in: `${NAME}`, `${NAME:-default}`, `${NAME:+replacement}`, `${NAME:?message}`, nested ones from the
 * inside. Throws for one that must be set and is not.
 */
export const interpolate = (text: string, variables: Readonly<Record<string, string>>): string => {
  const filled = text.replaceAll(VARIABLE, (_, name: string, kind: string | undefined, rest: string) => {
    const value = variables[name] ?? '';
    if (kind === '+') return value === '' ? '' : rest;
    if (value !== '' || kind === undefined) return value;
    if (kind === '?') throw new Error(`${name} is not set: ${rest}`);
    return rest;
  });
  return filled === text ? filled : interpolate(filled, variables);
};

/** Names of the variables that a text takes from the environment. */
export const variablesIn = (text: string): string[] => [...text.matchAll(/\$\{(\w+)/g)].map(([, name = '']) => name);
