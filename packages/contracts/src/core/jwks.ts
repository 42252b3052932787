import { z } from 'zod';

/** Key set (RFC 7517 section 5). */
export const jwksSchema = z
  .object({ keys: z.array(z.looseObject({ kty: z.string(), kid: z.string() })) })
  .meta({ id: 'JsonWebKeySet' });
