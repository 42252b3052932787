import { z } from 'zod';
import { idSchema } from '../core/ids.ts';
import { defineRoute, json, jsonBody, optionalJsonBody } from '../core/route.ts';
import {
  accountDeletionSchema,
  accountExportSchema,
  accountSchema,
  changeEmailRequestSchema,
  confirmPasswordResetSchema,
  deleteAccountRequestSchema,
  deviceHeaders,
  listedSessionSchema,
  mailedTokenRequestSchema,
  pendingEmailSchema,
  requestPasswordResetSchema,
  sessionCreatedSchema,
  updateAccountRequestSchema,
  upgradeAccountRequestSchema,
} from './accounts.ts';

const accounts = { service: 'auth', errorShape: 'detail', tag: 'Accounts' } as const;
const sessions = { ...accounts, tag: 'Sessions' } as const;

/** Routes of the profile of an account. */
const profileRoutes = {
  updateAccount: defineRoute({
    ...accounts,
    operationId: 'updateAccount',
    role: 'person',
    audit: 'organization.renamed',
    method: 'PATCH',
    path: '/v1/console/account',
    caller: 'console_session',
    managementScope: null,
    summary: 'Change the profile',
    description: 'Absent fields stay unchanged. Only a business account has a business name.',
    request: { body: jsonBody(updateAccountRequestSchema) },
    responses: { 200: json('The account.', z.object({ account: accountSchema })) },
    errors: [],
  }),
  upgradeAccount: defineRoute({
    ...accounts,
    operationId: 'upgradeAccount',
    role: 'person',
    audit: null,
    method: 'POST',
    path: '/v1/console/account/upgrade',
    caller: 'console_session',
    managementScope: null,
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
    ...sessions,
    operationId: 'listSessions',
    role: 'person',
    method: 'GET',
    path: '/v1/console/sessions',
    caller: 'console_session',
    managementScope: null,
    summary: 'List the console sessions of the account',
    description: 'The 200 sessions used last, the last used first.',
    request: {},
    responses: { 200: json('The sessions.', z.object({ data: z.array(listedSessionSchema) })) },
    errors: [],
  }),
  deleteSessionById: defineRoute({
    ...sessions,
    operationId: 'deleteSessionById',
    role: 'person',
    audit: null,
    method: 'DELETE',
    path: '/v1/console/sessions/{session_id}',
    caller: 'console_session',
    managementScope: null,
    summary: 'End one console session',
    description: 'Its token stops working in every service.',
    request: { params: z.object({ session_id: idSchema('ses') }) },
    responses: { 204: { description: 'Ended.' } },
    errors: ['not_found'],
  }),
  deleteOtherSessions: defineRoute({
    ...sessions,
    operationId: 'deleteOtherSessions',
    role: 'person',
    audit: null,
    method: 'DELETE',
    path: '/v1/console/sessions',
    caller: 'console_session',
    managementScope: null,
    summary: 'End all console sessions but this one',
    description: 'The session of this request stays. The others stop working in every service within a second.',
    request: {},
    responses: { 204: { description: 'Ended.' } },
    errors: [],
  }),
} as const;

const accountAnswer = { 200: json('The account.', z.object({ account: accountSchema })) } as const;

/** Routes that prove or change the address of an account, by links that are mailed. */
const emailRoutes = {
  requestVerification: defineRoute({
    ...accounts,
    operationId: 'requestVerification',
    role: 'person',
    audit: null,
    method: 'POST',
    path: '/v1/console/account/verification',
    caller: 'console_session',
    managementScope: null,
    summary: 'Mail a link that confirms the address',
    description: 'Mails nothing if the address is confirmed, or if several links were mailed within the hour.',
    request: {},
    responses: { 202: { description: 'Accepted.' } },
    errors: [],
  }),
  confirmVerification: defineRoute({
    ...accounts,
    operationId: 'confirmVerification',
    method: 'POST',
    path: '/v1/console/account/verification/confirm',
    caller: 'public',
    summary: 'Confirm the address by a mailed link',
    description: 'Takes the token of the mailed link. It works once, and no session is needed.',
    request: { body: jsonBody(mailedTokenRequestSchema) },
    responses: accountAnswer,
    errors: ['token_invalid'],
  }),
  changeEmail: defineRoute({
    ...accounts,
    operationId: 'changeEmail',
    role: 'person',
    audit: null,
    method: 'POST',
    path: '/v1/console/account/email',
    caller: 'console_session',
    managementScope: null,
    summary: 'Ask for a new email address',
    description:
      'Mails a link to the new address; the change takes effect once it is confirmed there. The present address gets a link that undoes the change for seven days. Replaces an earlier request.',
    request: { headers: deviceHeaders, body: jsonBody(changeEmailRequestSchema) },
    responses: { 202: json('The address that waits for its confirmation.', pendingEmailSchema) },
    errors: ['wrong_password', 'fresh_sign_in_required', 'email_taken', 'too_many_attempts'],
  }),
  confirmEmailChange: defineRoute({
    ...accounts,
    operationId: 'confirmEmailChange',
    method: 'POST',
    path: '/v1/console/account/email/confirm',
    caller: 'public',
    summary: 'Confirm the new address by a mailed link',
    description: 'Takes the token of the link that was mailed to the new address. The service also mails the old one.',
    request: { body: jsonBody(mailedTokenRequestSchema) },
    responses: accountAnswer,
    errors: ['token_invalid', 'email_taken'],
  }),
  undoEmailChange: defineRoute({
    ...accounts,
    operationId: 'undoEmailChange',
    method: 'POST',
    path: '/v1/console/account/email/undo',
    caller: 'public',
    summary: 'Undo a change of the address by a mailed link',
    description:
      'Restores the address that the link was mailed to and ends every session of the account. Second factors, API keys, grants and links end if they were added since the change or in the 24 hours before it.',
    request: { body: jsonBody(mailedTokenRequestSchema) },
    responses: accountAnswer,
    errors: ['token_invalid', 'email_taken'],
  }),
} as const;

/** Routes for people who have forgotten their password. */
const recoveryRoutes = {
  requestPasswordReset: defineRoute({
    ...accounts,
    operationId: 'requestPasswordReset',
    method: 'POST',
    path: '/v1/console/password-resets',
    caller: 'public',
    summary: 'Mail a link that sets a new password',
    description:
      'Answers the same, in the same time, whether or not the address has an account. An address gets five mails an hour, and as many more at the request of each device that has signed in to the account before.',
    request: { headers: deviceHeaders, body: jsonBody(requestPasswordResetSchema) },
    responses: { 202: { description: 'Accepted.' } },
    errors: ['too_many_attempts'],
  }),
  confirmPasswordReset: defineRoute({
    ...accounts,
    operationId: 'confirmPasswordReset',
    method: 'POST',
    path: '/v1/console/password-resets/confirm',
    caller: 'public',
    summary: 'Set a new password by a mailed link',
    description:
      'The link works once, within 30 minutes. Ends every session of the account; its connections and API keys as well, unless `keep_access`. If the address was never confirmed before, the second factors end too. After a change of address that was undone or can be undone, everything ends that was added since that change or in the 24 hours before it.',
    request: { body: jsonBody(confirmPasswordResetSchema) },
    responses: { 204: { description: 'The password is set.' } },
    errors: ['token_invalid'],
  }),
} as const;

/** Routes that hand over or delete what is held about a person. */
const deletionRoutes = {
  exportAccount: defineRoute({
    ...accounts,
    stepUp: true,
    operationId: 'exportAccount',
    role: 'owner',
    method: 'GET',
    path: '/v1/console/account/export',
    caller: 'console_session',
    managementScope: null,
    summary: 'Export everything that is held about the person',
    description: 'Streamed: an incomplete JSON document means that the export failed. Holds no secrets.',
    request: {},
    responses: { 200: json('The export.', accountExportSchema) },
    errors: [],
  }),
  deleteAccount: defineRoute({
    ...accounts,
    stepUp: true,
    operationId: 'deleteAccount',
    role: 'owner',
    audit: 'account.deletion_requested',
    method: 'DELETE',
    path: '/v1/console/account',
    caller: 'console_session',
    managementScope: null,
    summary: 'Delete the account',
    description:
      'Wants the password of an account that has one. Ends sessions, connections and API keys at once, deactivates apps and cancels the subscription for the end of its period. At `erased_at` the apps are deleted, the subscription ends and every service erases what names the person; ledgers and usage records keep the pseudonymous id. Until then a mailed link cancels the deletion.',
    request: { body: optionalJsonBody(deleteAccountRequestSchema) },
    responses: { 202: json('The time of the erasure.', accountDeletionSchema) },
    errors: ['wrong_password', 'fresh_sign_in_required', 'too_many_attempts', 'last_owner'],
  }),
  cancelDeletion: defineRoute({
    ...accounts,
    operationId: 'cancelDeletion',
    method: 'POST',
    path: '/v1/console/account/deletion/cancel',
    caller: 'public',
    summary: 'Cancel the deletion of the account by a mailed link',
    description: 'Apps stay deactivated until their owner activates them.',
    request: { body: jsonBody(mailedTokenRequestSchema) },
    responses: { 204: { description: 'Cancelled.' } },
    errors: ['token_invalid'],
  }),
} as const;

/** Routes with which a person manages an account. */
export const accountLifeRoutes = {
  ...profileRoutes,
  ...sessionListRoutes,
  ...emailRoutes,
  ...recoveryRoutes,
  ...deletionRoutes,
} as const;
