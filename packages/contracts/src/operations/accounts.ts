import { z } from 'zod';
import { accountSchema } from '../auth/accounts.ts';
import { factorSchema } from '../auth/factors.ts';
import { memberSchema } from '../auth/organizations.ts';
import { idSchema } from '../core/ids.ts';
import { defineRoute, json, jsonBody } from '../core/route.ts';
import { timestampSchema } from '../core/time.ts';

/** Longest address that a lookup takes. No stored address is longer. */
const EMAIL_CHARACTERS_MAX = 254;

const operation = {
  service: 'auth',
  caller: 'service',
  callers: ['operator'],
  errorShape: 'detail',
  tag: 'Operations',
  method: 'POST',
} as const;

const params = z.object({ svc_user_id: idSchema('usr') });

/** An account as an operator sees it. */
export const inspectedAccountSchema = z.object({
  account: accountSchema,
  has_password: z.boolean(),
  factors: z.array(factorSchema),
  recovery_codes_left: z.int().min(0),
  sessions: z.int().min(0).describe('Live console sessions.'),
  last_used_at: timestampSchema.nullable().describe('Last use of a live session.'),
  connections: z.int().min(0).describe('Apps that are connected.'),
  erased_at: timestampSchema.nullable().describe('When the account is erased; null unless that was asked for.'),
});

export type InspectedAccount = z.infer<typeof inspectedAccountSchema>;

/**
 * Operator routes over accounts. All are POST, so that every use is in the audit log, and take an address only in the
 * body, so that none is in a log.
 */
export const accountOperations = {
  findAccount: defineRoute({
    ...operation,
    operationId: 'findAccount',
    path: '/internal/operations/auth/accounts/find',
    summary: 'Find an account by its address or id',
    request: {
      body: jsonBody(
        z.union([
          z.strictObject({ email: z.string().min(1).max(EMAIL_CHARACTERS_MAX) }),
          z.strictObject({ svc_user_id: idSchema('usr') }),
        ]),
      ),
    },
    responses: { 200: json('The account.', inspectedAccountSchema) },
    errors: ['not_found'],
  }),
  resetFactors: defineRoute({
    ...operation,
    operationId: 'resetFactors',
    path: '/internal/operations/auth/accounts/{svc_user_id}/factors/reset',
    summary: 'Remove every second factor and recovery code of an account, and mail its owner',
    request: { params },
    responses: { 200: json('The number of removed factors.', z.object({ removed: z.int().min(0) })) },
    errors: ['not_found'],
  }),
  endAccountSessions: defineRoute({
    ...operation,
    operationId: 'endAccountSessions',
    path: '/internal/operations/auth/accounts/{svc_user_id}/sessions/end',
    summary: 'End every session of an account; with `access` also its connections and API keys',
    request: { params, body: jsonBody(z.strictObject({ access: z.boolean() })) },
    responses: { 200: json('The number of ended sessions.', z.object({ ended: z.int().min(0) })) },
    errors: ['not_found'],
  }),
  eraseAccount: defineRoute({
    ...operation,
    operationId: 'eraseAccount',
    path: '/internal/operations/auth/accounts/{svc_user_id}/erase',
    summary: 'End all access to an account and have it erased, after the delay or at once',
    request: { params, body: jsonBody(z.strictObject({ at_once: z.boolean() })) },
    responses: { 200: json('When it is erased.', z.object({ erased_at: timestampSchema })) },
    errors: ['not_found', 'last_owner'],
  }),
  announceErasures: defineRoute({
    ...operation,
    operationId: 'announceErasures',
    path: '/internal/operations/auth/erasures/announce',
    summary: 'Publish again which accounts were erased since a moment, for a service that was restored to it',
    request: { body: jsonBody(z.strictObject({ since: timestampSchema })) },
    responses: { 200: json('The number of accounts.', z.object({ announced: z.int().min(0) })) },
    errors: [],
  }),
} as const;

const inspectedMemberSchema = memberSchema.omit({ seat: true });

/** An organization as an operator sees it. */
export const inspectedOrganizationSchema = z.object({
  svc_user_id: idSchema('usr'),
  name: z.string(),
  second_factor_required: z.boolean(),
  erased_at: timestampSchema.nullable().describe('When the organization is erased; null unless that was asked for.'),
  members: z.array(inspectedMemberSchema),
});

export type InspectedOrganization = z.infer<typeof inspectedOrganizationSchema>;

/** Operator routes over organizations. All are POST, so that every use is in the audit log. */
export const organizationOperations = {
  showOrganization: defineRoute({
    ...operation,
    operationId: 'showOrganization',
    path: '/internal/operations/auth/organizations/{svc_user_id}/show',
    summary: 'Show an organization with its members',
    request: { params },
    responses: { 200: json('The organization.', inspectedOrganizationSchema) },
    errors: ['not_found'],
  }),
  addOwner: defineRoute({
    ...operation,
    operationId: 'addOwner',
    path: '/internal/operations/auth/organizations/{svc_user_id}/owners/add',
    summary: 'Make a person an owner of an organization that has lost its last one',
    request: {
      params,
      body: jsonBody(
        z.union([
          z.strictObject({ email: z.string().min(1).max(EMAIL_CHARACTERS_MAX) }),
          z.strictObject({ svc_user_id: idSchema('usr') }),
        ]),
      ),
    },
    responses: { 200: json('The owner.', inspectedMemberSchema) },
    errors: ['not_found'],
  }),
} as const;
