import { z } from 'zod';

/** `{"data": [...]}`: a list that stays small. */
export const listOf = <S extends z.ZodType>(item: S) => z.object({ data: z.array(item) });

/** `{"data": [...], "has_more": boolean}`: a list that grows without bound and is read in pages. */
export const pageOf = <S extends z.ZodType>(item: S) => z.object({ data: z.array(item), has_more: z.boolean() });

/** `limit` and `after` of a paged list; `after` is the id of the last record already seen. */
export const pageQuery = { limit: z.int().min(1).max(100).default(50), after: z.string().min(1).max(128).optional() };
