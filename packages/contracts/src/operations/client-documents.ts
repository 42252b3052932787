import { z } from 'zod';
import { clientIdSchema } from '../core/client-id.ts';
import { listOf } from '../core/lists.ts';
import { defineRoute, json, jsonBody } from '../core/route.ts';
import { timestampSchema } from '../core/time.ts';

const operation = {
  service: 'auth',
  caller: 'service',
  callers: ['operator'],
  errorShape: 'detail',
  tag: 'Operations',
  method: 'POST',
  errors: [],
} as const;

/** Host of client ID metadata documents, as in their URLs: in lower case, with the port unless it is 443. */
const hostRequestSchema = z.strictObject({ host: z.string().regex(/^[a-z0-9.[\]:-]{1,261}$/) });

const clientDocumentSchema = z.object({
  client_id: clientIdSchema,
  host: z.string(),
  name: z.string().describe('As the client calls itself.'),
  active: z.boolean(),
  suspended_at: timestampSchema.nullable(),
  fetched_at: timestampSchema,
  expires_at: timestampSchema,
  connections: z.int().min(0).describe('People who are connected.'),
});

/** Operator routes over clients that no business registered. */
export const documentOperations = {
  listClientDocuments: defineRoute({
    ...operation,
    operationId: 'listClientDocuments',
    path: '/internal/operations/auth/client-documents/list',
    summary: 'List the clients of metadata documents, the last fetched first, at most 100',
    request: {},
    responses: { 200: json('The clients.', listOf(clientDocumentSchema)) },
  }),
  blockClientHost: defineRoute({
    ...operation,
    operationId: 'blockClientHost',
    path: '/internal/operations/auth/client-documents/block',
    summary: 'Refuse the metadata documents of a host, suspend its clients and end their connections',
    request: { body: jsonBody(hostRequestSchema) },
    responses: { 200: json('Number of suspended clients.', z.object({ suspended: z.int().min(0) })) },
  }),
  unblockClientHost: defineRoute({
    ...operation,
    operationId: 'unblockClientHost',
    path: '/internal/operations/auth/client-documents/unblock',
    summary: 'Accept the metadata documents of a host again. Connections do not come back',
    request: { body: jsonBody(hostRequestSchema) },
    responses: { 200: json('Number of clients that may ask again.', z.object({ resumed: z.int().min(0) })) },
  }),
} as const;
