import { z } from 'zod';
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
