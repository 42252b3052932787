import { z } from 'zod';
import { leaseRecallSchema, recalledLeasesSchema } from '../billing/leases.ts';
import { pathIdSchema } from '../core/ids.ts';
import { defineRoute, json, jsonBody } from '../core/route.ts';
import { priceListSchema } from './prices.ts';

/** Internal routes of the inference gateway. */
export const inferenceGatewayInternalRoutes = {
  readKeyName: defineRoute({
    service: 'inference-gateway',
    caller: 'service',
    errorShape: 'detail',
    tag: 'Internal',
    callers: ['auth'],
    operationId: 'readKeyName',
    method: 'GET',
    path: '/internal/accounts/{svc_user_id}/keys/{key_id}/name',
    summary: 'Get the name of an API key, for a mail to its owner',
    description: 'Also of a deleted key. Null if the account has no such key.',
    request: { params: z.object({ svc_user_id: pathIdSchema, key_id: pathIdSchema }) },
    responses: { 200: json('The name.', z.object({ name: z.string().nullable() })) },
    errors: [],
  }),
  recallLeases: defineRoute({
    service: 'inference-gateway',
    caller: 'service',
    errorShape: 'detail',
    tag: 'Internal',
    callers: ['billing'],
    operationId: 'recallLeases',
    method: 'POST',
    path: '/internal/lease-recalls',
    summary: 'Give back what leases of this process hold unspent',
    description: 'Asked of one process, at its own address. Running requests keep what they hold.',
    request: { body: jsonBody(leaseRecallSchema) },
    responses: { 200: json('Reports of the leases that this process has.', recalledLeasesSchema) },
    errors: [],
  }),
  readPriceList: defineRoute({
    service: 'inference-gateway',
    caller: 'service',
    errorShape: 'detail',
    tag: 'Internal',
    callers: ['auth'],
    operationId: 'readPriceList',
    method: 'GET',
    path: '/internal/prices',
    summary: 'List the prices of inference, for the page that shows them',
    request: {},
    responses: { 200: json('The prices.', priceListSchema) },
    errors: [],
  }),
} as const;
