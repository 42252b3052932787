import { z } from 'zod';

/**
 * Errors other than 422, outside the token endpoint and the API-key gateway: `{"detail": {"code", "message", ...}}`.
 */
export const errorBodySchema = z
  .object({
    detail: z.looseObject({
      code: z.string(),
      message: z.string(),
      resets_at: z
        .string()
        .nullish()
        .meta({ description: 'On 402 limit errors: the end of the window. Null for a budget in total.' }),
      manage_url: z
        .string()
        .optional()
        .meta({ description: 'Where the user can change the app’s budget, or resume the app.' }),
    }),
  })
  .meta({ id: 'ErrorBody' });

/** Error of the OAuth endpoints (RFC 6749 section 5.2). */
export const oauthErrorSchema = z
  .object({ error: z.string(), error_description: z.string().optional() })
  .meta({ id: 'OAuthError' });

/** Error in the common chat-completions wire format. */
export const wireErrorSchema = z
  .object({
    error: z.object({
      message: z.string(),
      type: z.string(),
      param: z.string().nullable(),
      code: z.string().nullable(),
      request_id: z.string().optional().meta({ description: 'On 409 `duplicate_request`: the first request.' }),
      state: z.string().optional().meta({ description: 'On 409 `duplicate_request`: the state of the first request.' }),
    }),
  })
  .meta({ id: 'WireError' });
