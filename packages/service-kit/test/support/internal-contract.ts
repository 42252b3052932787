import { defineRoute, json, jsonBody } from '@svc/contracts';
import { z } from 'zod';

const base = {
  service: 'billing',
  caller: 'service',
  callers: ['inference-gateway'],
  errorShape: 'detail',
  tag: 'Internal',
  summary: 'Test',
  errors: [],
} as const;

/** Routes between services, as seen by the client and the internal application. */
export const internalTestRoutes = {
  getAccount: defineRoute({
    ...base,
    operationId: 'getAccount',
    method: 'GET',
    path: '/internal/accounts/{account_id}',
    request: {
      params: z.object({ account_id: z.string() }),
      query: z.object({ limit: z.int().optional(), name: z.string().optional() }),
    },
    responses: {
      200: json('ok', z.object({ account_id: z.string(), limit: z.int().nullable(), request_id: z.string() })),
    },
  }),
  admit: defineRoute({
    ...base,
    operationId: 'admit',
    method: 'POST',
    path: '/internal/admissions',
    request: { body: jsonBody(z.strictObject({ mode: z.string() })) },
    responses: {
      200: json('admitted', z.object({ verdict: z.literal('admitted') })),
      204: { description: 'nothing to say' },
    },
  }),
} as const;
