import { z } from 'zod';
import { receiptSchema } from '../billing/receipts.ts';
import { requestIdParams } from '../billing/usage.ts';
import { listOf, pageOf } from '../core/lists.ts';
import { created, defineRoute, json, jsonBody, optionalJsonBody } from '../core/route.ts';
import * as keys from './api-keys.ts';
import {
  gatewayUsageQuerySchema,
  gatewayUsageRecordSchema,
  usageSummaryGroupSchema,
  usageSummaryQuerySchema,
} from './usage-records.ts';

const console = {
  service: 'inference-gateway',
  errorShape: 'detail',
  tag: 'API keys',
  caller: 'console_session',
} as const;

/** Routes of API keys and their usage. */
export const keyRoutes = {
  createKey: defineRoute({
    ...console,
    stepUp: true,
    operationId: 'createKey',
    managementScope: 'api_keys:write',
    method: 'POST',
    path: '/v1/gateway/keys',
    verifiedEmail: true,
    summary: 'Create an API key',
    description: 'The answer has the key, once. Only its hash is stored.',
    request: { body: jsonBody(keys.createKeyRequestSchema) },
    responses: { 201: created('The key, shown only once.', keys.apiKeyCreatedSchema, '/v1/gateway/keys/{id}') },
    errors: [],
  }),
  listKeys: defineRoute({
    ...console,
    operationId: 'listKeys',
    managementScope: 'api_keys:read',
    method: 'GET',
    path: '/v1/gateway/keys',
    summary: 'List API keys',
    description:
      'Returns the keys of the account with their limits and their use of this month, without the keys themselves.',
    request: {},
    responses: { 200: json('The keys of this account.', listOf(keys.apiKeySchema)) },
    errors: [],
  }),
  getKey: defineRoute({
    ...console,
    operationId: 'getKey',
    managementScope: 'api_keys:read',
    method: 'GET',
    path: '/v1/gateway/keys/{key_id}',
    summary: 'Get an API key',
    description: 'Returns a key with its limits and its use of this month, without the key itself.',
    request: { params: keys.keyIdParams },
    responses: { 200: json('The key.', keys.apiKeySchema) },
    errors: [],
  }),
  updateKey: defineRoute({
    ...console,
    stepUp: true,
    operationId: 'updateKey',
    managementScope: 'api_keys:write',
    method: 'PATCH',
    path: '/v1/gateway/keys/{key_id}',
    summary: 'Change or pause an API key',
    description: 'Takes effect everywhere within one second.',
    request: { params: keys.keyIdParams, body: jsonBody(keys.updateKeyRequestSchema) },
    responses: { 200: json('The key.', keys.apiKeySchema) },
    errors: [],
  }),
  rotateKey: defineRoute({
    ...console,
    stepUp: true,
    operationId: 'rotateKey',
    managementScope: 'api_keys:write',
    method: 'POST',
    path: '/v1/gateway/keys/{key_id}/rotate',
    summary: 'Replace the secret of an API key',
    description: 'The previous secret stays valid for `overlap_seconds`. Any earlier secret ends at once.',
    request: { params: keys.keyIdParams, body: optionalJsonBody(keys.rotateKeyRequestSchema) },
    responses: { 200: json('The new secret, shown only once.', keys.apiKeyRotatedSchema) },
    errors: [],
  }),
  deleteKey: defineRoute({
    ...console,
    stepUp: true,
    operationId: 'deleteKey',
    managementScope: 'api_keys:write',
    method: 'DELETE',
    path: '/v1/gateway/keys/{key_id}',
    summary: 'Delete an API key',
    description: 'The key stops working everywhere within a second. Its usage records stay.',
    request: { params: keys.keyIdParams },
    responses: { 204: { description: 'The key stops working everywhere within one second.' } },
    errors: [],
  }),
  listGatewayUsage: defineRoute({
    ...console,
    operationId: 'listGatewayUsage',
    managementScope: 'usage:read',
    method: 'GET',
    path: '/v1/gateway/usage',
    summary: 'List usage metadata per request, newest first',
    request: { query: gatewayUsageQuerySchema },
    description: 'With `Accept: text/csv`, all pages as one CSV file.',
    responses: {
      200: {
        ...json('The records.', pageOf(gatewayUsageRecordSchema)),
        alternatives: { 'text/csv': z.string() },
      },
    },
    errors: [],
  }),
  summarizeGatewayUsage: defineRoute({
    ...console,
    operationId: 'summarizeGatewayUsage',
    managementScope: 'usage:read',
    method: 'GET',
    path: '/v1/gateway/usage/summary',
    summary: 'Sum up usage by key, model or day (UTC)',
    description: 'Returns requests, tokens and cost for each group.',
    request: { query: usageSummaryQuerySchema },
    responses: { 200: json('The groups.', listOf(usageSummaryGroupSchema)) },
    errors: [],
  }),
  getGatewayReceipt: defineRoute({
    ...console,
    caller: 'session_or_api_key',
    operationId: 'getGatewayReceipt',
    managementScope: 'usage:read',
    method: 'GET',
    path: '/v1/gateway/usage/{request_id}/receipt',
    summary: 'Get the signed receipt of a request',
    description: 'An API key reads the receipts of requests made with it.',
    request: { params: requestIdParams },
    responses: { 200: json('The receipt.', receiptSchema) },
    errors: ['not_found', 'not_settled', 'invalid_api_key'],
  }),
} as const;

/** Public routes of the inference gateway. */
