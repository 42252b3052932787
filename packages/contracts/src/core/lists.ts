import { z } from 'zod';

/** Returns the schema of a list that stays small: `{"data": [...]}`. */
export const listOf = <S extends z.ZodType>(item: S) => z.object({ data: z.array(item) });

/** Returns the schema of a paged list: `{"data": [...], "has_more": boolean}`. */
export const pageOf = <S extends z.ZodType>(item: S) => z.object({ data: z.array(item), has_more: z.boolean() });

/** Query of a paged list. `after` is the id of the last record of the previous page. */
export const pageQuery = { limit: z.int().min(1).max(100).default(50), after: z.string().min(1).max(128).optional() };
