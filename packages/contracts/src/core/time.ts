import { z } from 'zod';

/** Time in RFC 3339, UTC. */
export const timestampSchema = z.iso.datetime().meta({ description: 'RFC 3339, UTC.' });

/** Time sent by a caller, in UTC; `+00:00` is accepted. The database has no year 0. */
export const timestampInputSchema = z.iso
  .datetime({ offset: true })
  .refine((text) => /(Z|\+00:00)$/.test(text) && !text.startsWith('0000'), { message: 'must be a time in UTC' })
  .meta({ description: 'RFC 3339, UTC.' });

/** Unix seconds, as in webhook `created` and the signature's `t`. */
export const unixSecondsSchema = z.int().min(0);
