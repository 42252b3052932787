import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

/** The part of a service in docker-compose.yml that the tests check. */
const serviceSchema = z.looseObject({
  image: z.string().optional(),
  build: z
    .strictObject({ context: z.literal('.'), dockerfile: z.string(), args: z.record(z.string(), z.string()) })
    .optional(),
  environment: z.record(z.string(), z.coerce.string()).default({}),
  command: z.array(z.string()).optional(),
  depends_on: z.record(z.string(), z.strictObject({ condition: z.string() })).default({}),
  healthcheck: z
    .looseObject({
      test: z.array(z.string()).optional(),
      disable: z.boolean().optional(),
      interval: z.string().optional(),
    })
    .optional(),
  logging: z.looseObject({ driver: z.string(), options: z.record(z.string(), z.string()) }).optional(),
  mem_limit: z.string().optional(),
  volumes: z.array(z.string()).default([]),
  ports: z.array(z.string()).default([]),
  read_only: z.boolean().optional(),
  cap_drop: z.array(z.string()).optional(),
  security_opt: z.array(z.string()).optional(),
  privileged: z.boolean().optional(),
  profiles: z.array(z.string()).default([]),
});

export type ComposeService = z.infer<typeof serviceSchema>;

/** The compose file at the repository's root. */
export const COMPOSE_FILE = new URL('../../../../docker-compose.yml', import.meta.url);

/** Reads the compose file with resolved anchors and merges, and unresolved variables. */
export const readCompose = (): Record<string, ComposeService> => {
  const file: unknown = parse(readFileSync(COMPOSE_FILE, 'utf8'), { merge: true });
  return z.looseObject({ services: z.record(z.string(), serviceSchema) }).parse(file).services;
};

const VARIABLE = /\$\{(\w+)(?::([-?+])([^${}]*))?\}/g;

/**
 * Interpolates `${NAME}`, `${NAME:-default}`, `${NAME:+replacement}` and `${NAME:?message}` like compose, nested ones from
 * the inside. Throws if a required variable is missing.
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

/** Lists the variables that a text reads from the environment. */
export const variablesIn = (text: string): string[] => [...text.matchAll(/\$\{(\w+)/g)].map(([, name = '']) => name);
