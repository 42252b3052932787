import { z } from 'zod';

/** An instant as RFC 3339 in UTC. */
export const timestampSchema = z.iso.datetime().meta({ description: 'RFC 3339, UTC.' });

/** An instant that a caller names: in UTC, which some libraries write as `+00:00`. Databases know no year 0. */
export const timestampInputSchema = z.iso
  .datetime({ offset: true })
  .refine((text) => /(Z|\+00:00)$/.test(text) && !text.startsWith('0000'), { message: 'must be a time in UTC' })
  .meta({ description: 'RFC 3339, UTC.' });

/** Integer Unix seconds: webhook `created` and the signature's `t`. */
export const unixSecondsSchema = z.int().min(0);
