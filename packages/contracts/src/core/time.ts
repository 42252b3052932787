import { z } from 'zod';

/** An instant as RFC 3339 in UTC. */
export const timestampSchema = z.iso.datetime().meta({ description: 'RFC 3339, UTC.' });

/** Integer Unix seconds: webhook `created` and the signature's `t`. */
export const unixSecondsSchema = z.int().min(0);
