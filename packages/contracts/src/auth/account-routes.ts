import { z } from 'zod';
import { idSchema } from '../core/ids.ts';
import { defineRoute, json, jsonBody } from '../core/route.ts';
import {
  accountSchema,
  listedSessionSchema,
  sessionCreatedSchema,
  updateAccountRequestSchema,
  upgradeAccountRequestSchema,
} from './accounts.ts';

const accounts = { service: 'auth', errorShape: 'detail', tag: 'Accounts' } as const;

/** Routes of the profile of an account. */
const profileRoutes = {
  updateAccount: defineRoute({
    ...accounts,
    operationId: 'updateAccount',
    method: 'PATCH',
    path: '/v1/console/account',
    caller: 'console_session',
    summary: 'Change the profile',
    description: 'Absent fields stay unchanged. Only a business account has a business name.',
    request: { body: jsonBody(updateAccountRequestSchema) },
    responses: { 200: json('The account.', z.object({ account: accountSchema })) },
    errors: [],
  }),
  upgradeAccount: defineRoute({
    ...accounts,
    operationId: 'upgradeAccount',
    method: 'POST',
    path: '/v1/console/account/upgrade',
    caller: 'console_session',
    summary: 'Turn a personal account into a business account',
    description:
      'The new session token may do what a business account may. Other tokens of the account may do so once they are renewed. Sets the business name of an account that is a business already.',
    request: { body: jsonBody(upgradeAccountRequestSchema) },
    responses: { 200: json('The account, and this session with a new token.', sessionCreatedSchema) },
    errors: [],
  }),
} as const;

/** Routes of the sessions of an account. */
const sessionListRoutes = {
  listSessions: defineRoute({
    ...accounts,
    operationId: 'listSessions',
    method: 'GET',
    path: '/v1/console/sessions',
    caller: 'console_session',
    summary: 'List the console sessions of the account',
    description: 'The 200 sessions used last, the last used first.',
    request: {},
    responses: { 200: json('The sessions.', z.object({ data: z.array(listedSessionSchema) })) },
    errors: [],
  }),
  deleteSessionById: defineRoute({
    ...accounts,
    operationId: 'deleteSessionById',
    method: 'DELETE',
    path: '/v1/console/sessions/{session_id}',
    caller: 'console_session',
    summary: 'End one console session',
    description: 'Its token stops working in every service.',
    request: { params: z.object({ session_id: idSchema('ses') }) },
    responses: { 204: { description: 'Ended.' } },
    errors: ['not_found'],
  }),
  deleteOtherSessions: defineRoute({
    ...accounts,
    operationId: 'deleteOtherSessions',
    method: 'DELETE',
    path: '/v1/console/sessions',
    caller: 'console_session',
    summary: 'End all console sessions but this one',
    request: {},
    responses: { 204: { description: 'Ended.' } },
    errors: [],
  }),
} as const;

/** Routes with which a person manages an account. */
export const accountLifeRoutes = { ...profileRoutes, ...sessionListRoutes } as const;
