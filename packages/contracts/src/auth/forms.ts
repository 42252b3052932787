import { z } from 'zod';
import { FORM_BYTES_MAX } from '../core/limits.ts';

/** Body of a form (RFC 1866), read by the handler itself. */
export const formBody = <S extends z.ZodType>(schema: S) =>
  ({
    contentType: 'application/x-www-form-urlencoded',
    schema,
    required: true,
    bytesMax: FORM_BYTES_MAX,
    raw: true,
  }) as const;

/** A page in a response. */
export const page = { contentType: 'text/html', schema: z.string() } as const;
