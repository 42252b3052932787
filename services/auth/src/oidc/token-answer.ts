import type { ValidationIssue } from '@svc/contracts';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { digestOpaqueValue } from './opaque-value.ts';
import type { TokenQuestion } from './token-state.ts';

/** RFC 6749 section 5.2: also when a competing request was faster. */
export const INVALID_GRANT = { error: 'invalid_grant', error_description: 'grant request is invalid' } as const;

/** What a form presents, by digest: at the token endpoint what its grant type wants, elsewhere nothing. */
export const presentedIn = (ctx: KoaContextWithOIDC): Omit<TokenQuestion, 'clientId'> => {
  const { grant_type: grantType, code, refresh_token: refreshToken } = ctx.oidc.params ?? {};
  const digestOf = (value: unknown): Buffer | null => (typeof value === 'string' ? digestOpaqueValue(value) : null);
  return {
    code: grantType === 'authorization_code' ? digestOf(code) : null,
    refreshToken: grantType === 'refresh_token' ? digestOf(refreshToken) : null,
  };
};

/** A form without these is not an OAuth request at all (spec 2.11): 422, before anything else that may be wrong with it. */
export const findFormIssues = (ctx: KoaContextWithOIDC): ValidationIssue[] => {
  const form = ctx.oidc.body ?? {};
  const isMissing = (name: string): boolean => form[name] === undefined || form[name] === '';
  const hasBasic = /^basic(?: |$)/i.test(ctx.headers.authorization ?? '');
  const missing = [
    ...(isMissing('grant_type') ? ['grant_type'] : []),
    // RFC 6749 section 2.3.1: with HTTP Basic, the client's id stands in the header.
    ...(isMissing('client_id') && !hasBasic ? ['client_id'] : []),
  ];
  return missing.map((name) => ({ loc: ['form', name], type: 'missing', msg: 'Field required' }));
};

/** RFC 7636 section 4.1. */
const CODE_VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/**
 * Says whether a request fails on its verifier's form alone. It can match no challenge, so it is a wrong one (RFC 7636
 * section 4.6), where the library calls the request malformed.
 */
export const hasMalformedVerifier = (ctx: KoaContextWithOIDC): boolean => {
  const { code, redirect_uri, code_verifier } = ctx.oidc.params ?? {};
  const isWhole = [code, redirect_uri, code_verifier].every((value) => typeof value === 'string');
  return isWhole && !CODE_VERIFIER.test(String(code_verifier));
};

/** Adds what the service tells beyond RFC 6749: who the user is. */
export const withUserId = (body: unknown, ctx: KoaContextWithOIDC): Record<string, unknown> => {
  const accountId = ctx.oidc.entities.Account?.accountId;
  if (typeof body !== 'object' || body === null || accountId === undefined) {
    throw new TypeError('a token answer has a body and an account');
  }
  return { ...body, svc_user_id: accountId };
};
