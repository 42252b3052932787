import { defineRoute, json, jsonBody, optionalJsonBody } from '../core/route.ts';
import { deviceHeaders, sessionCreatedSchema, sessionRenewedSchema } from './accounts.ts';
import * as factors from './factors.ts';

const detail = { service: 'auth', errorShape: 'detail', tag: 'Accounts' } as const;
const console = { ...detail, caller: 'console_session' } as const;

/** Routes of second factors, and of sign-in and step-up with them. */
export const factorRoutes = {
  finishSignIn: defineRoute({
    ...detail,
    operationId: 'finishSignIn',
    method: 'POST',
    path: '/v1/console/sessions/second-factor',
    caller: 'public',
    summary: 'Sign in: second factor',
    description:
      'The challenge comes with the 401 `second_factor_required` of sign-in. It lasts ten minutes and begins one session. Failures count like wrong passwords.',
    request: { headers: deviceHeaders, body: jsonBody(factors.secondFactorRequestSchema) },
    responses: { 201: json('A console session.', sessionCreatedSchema) },
    errors: ['challenge_invalid', 'invalid_second_factor', 'too_many_attempts'],
  }),
  reauthenticate: defineRoute({
    ...console,
    operationId: 'reauthenticate',
    method: 'POST',
    path: '/v1/console/session/reauthenticate',
    summary: 'Prove again who you are',
    description:
      'Sensitive endpoints answer 403 `reauthentication_required` if the person authenticated too long ago. They accept the new token. The session stays the same.',
    request: { body: jsonBody(factors.reauthenticateRequestSchema) },
    responses: { 200: json('The same session with a new token.', sessionRenewedSchema) },
    errors: ['wrong_password', 'wrong_code', 'fresh_sign_in_required', 'too_many_attempts'],
  }),
  listFactors: defineRoute({
    ...console,
    operationId: 'listFactors',
    method: 'GET',
    path: '/v1/console/account/factors',
    summary: 'List the second factors',
    request: {},
    responses: { 200: json('The factors in use, oldest first.', factors.factorListSchema) },
    errors: [],
  }),
  addTotp: defineRoute({
    ...console,
    stepUp: true,
    operationId: 'addTotp',
    method: 'POST',
    path: '/v1/console/account/factors/totp',
    summary: 'Add an authenticator app (TOTP, RFC 6238)',
    description: 'The factor is in use once a code of it is confirmed, within an hour.',
    request: { body: optionalJsonBody(factors.addTotpRequestSchema) },
    responses: { 201: json('Secret and URL for the authenticator app, shown only once.', factors.totpAddedSchema) },
    errors: ['factor_limit_reached'],
  }),
  confirmTotp: defineRoute({
    ...console,
    stepUp: true,
    operationId: 'confirmTotp',
    method: 'POST',
    path: '/v1/console/account/factors/totp/{factor_id}/confirm',
    summary: 'Confirm an authenticator app with its first code',
    request: { params: factors.factorIdParams, body: jsonBody(factors.confirmTotpRequestSchema) },
    responses: { 200: json('The factor is in use.', factors.recoveryCodesSchema) },
    errors: ['not_found', 'wrong_code'],
  }),
  deleteFactor: defineRoute({
    ...console,
    stepUp: true,
    operationId: 'deleteFactor',
    method: 'DELETE',
    path: '/v1/console/account/factors/{factor_id}',
    summary: 'Remove a second factor',
    description: 'With the last one the recovery codes end too.',
    request: { params: factors.factorIdParams },
    responses: { 204: { description: 'Removed.' } },
    errors: ['not_found'],
  }),
  renewRecoveryCodes: defineRoute({
    ...console,
    stepUp: true,
    operationId: 'renewRecoveryCodes',
    method: 'POST',
    path: '/v1/console/account/factors/recovery-codes',
    summary: 'Replace the recovery codes',
    request: {},
    responses: { 201: json('The new codes.', factors.recoveryCodesSchema) },
    errors: ['second_factor_missing'],
  }),
} as const;
