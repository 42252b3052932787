import type { z } from 'zod';
import type { Logger } from '../logging/create-logger.ts';
import { summarizeConfig } from './describe-config.ts';

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
