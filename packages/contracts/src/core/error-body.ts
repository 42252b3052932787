import { z } from 'zod';

/** `{"detail": {"code", "message", ...}}`: every error that is not a 422, outside the token endpoint and the API-key gateway. */
export const errorBodySchema = z
  .object({
    detail: z.looseObject({
      code: z.string(),
      message: z.string(),
      resets_at: z.string().optional().meta({ description: 'On 402 limit errors: when the window ends.' }),
    }),
  })
  .meta({ id: 'ErrorBody' });

/** RFC 6749 section 5.2. */
export const oauthErrorSchema = z
  .object({ error: z.string(), error_description: z.string().optional() })
  .meta({ id: 'OAuthError' });

/** The common chat-completions wire format's error. */
export const wireErrorSchema = z
  .object({
    error: z.object({
      message: z.string(),
      type: z.string(),
      param: z.string().nullable(),
      code: z.string().nullable(),
    }),
  })
  .meta({ id: 'WireError' });
