import { type AuthorizeQuery, authorizeQuerySchema, type Locale, localeSchema } from '@svc/contracts';
import type { z } from 'zod';
import { knownScopes } from '../../oidc/index.ts';
import type { AuthorizeRequest } from '../authorize-request.ts';

/** Part of a query that the pages and their forms carry along: known scopes, one locale. */
export const askedQuerySchema = authorizeQuerySchema
  .omit({ ui_locales: true, resource: true, prompt: true, response_mode: true, request: true })
  .extend({ locale: localeSchema });

export type AskedQuery = z.infer<typeof askedQuerySchema>;

const DEFAULT_LOCALE: Locale = 'it';

/** Drops unknown scopes (RFC 6749 section 3.3) and chooses the language. */
export const toAskedQuery = (query: AuthorizeQuery): AskedQuery => {
  const locale = query.locale ?? preferredUiLocale(query.ui_locales) ?? DEFAULT_LOCALE;
  return askedQuerySchema.parse({ ...query, scope: knownScopes(query.scope).join(' '), locale });
};

/** Returns the first supported language of a `ui_locales` list (OpenID Connect Core 3.1.2.1). */
export const preferredUiLocale = (list: string | undefined): Locale | undefined => {
  for (const tag of list?.split(' ') ?? []) {
    const locale = localeSchema.safeParse(tag.split('-', 1)[0]?.toLowerCase());
    if (locale.success) return locale.data;
  }
  return undefined;
};

/** Converts a query to a request. */
export const toAuthorizeRequest = (query: AskedQuery, isPushed: boolean): AuthorizeRequest => ({
  clientId: query.client_id,
  redirectUri: query.redirect_uri,
  scope: query.scope,
  codeChallenge: query.code_challenge,
  dpopThumbprint: query.dpop_jkt,
  isPushed,
});
