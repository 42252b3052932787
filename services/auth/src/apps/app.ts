import type { App } from '@svc/contracts';
import { invalidRequest } from '@svc/service-kit';
import { type ClientType, findRedirectUriFault } from './redirect-uri.ts';

/** What its owner says of an app. */
export interface AppFields {
  name: string;
  description: string | null;
  redirectUris: readonly string[];
  homepageUrl: string | null;
  privacyPolicyUrl: string | null;
  refreshGraceSeconds: number;
  /** RFC 9126 section 6: only what was pushed is asked of anybody. */
  requiresPushedRequests: boolean;
  /** RFC 9449 section 5.2: no token without a key that it is bound to. */
  requiresBoundTokens: boolean;
}

/** An app as stored. */
export interface AppRecord extends AppFields {
  clientId: string;
  ownerUserId: string;
  clientType: ClientType;
  active: boolean;
  version: number;
  createdAt: Date;
  updatedAt: Date;
  secretRotatedAt: Date | null;
}

/** Where the icon of an app is; wants a console session. */
export const iconUrl = (publicBaseUrl: string, clientId: string): string =>
  `${publicBaseUrl}/v1/integrations/apps/${clientId}/icon`;

/** The app as its owner sees it. */
export const toAppJson = (app: AppRecord, extra: { publicBaseUrl: string; connectionsCount: number }): App => ({
  client_id: app.clientId,
  name: app.name,
  description: app.description,
  client_type: app.clientType,
  redirect_uris: [...app.redirectUris],
  homepage_url: app.homepageUrl,
  privacy_policy_url: app.privacyPolicyUrl,
  icon_url: iconUrl(extra.publicBaseUrl, app.clientId),
  active: app.active,
  refresh_grace_seconds: app.refreshGraceSeconds,
  require_pushed_authorization_requests: app.requiresPushedRequests,
  dpop_bound_access_tokens: app.requiresBoundTokens,
  created_at: app.createdAt.toISOString(),
  updated_at: app.updatedAt.toISOString(),
  secret_rotated_at: app.secretRotatedAt?.toISOString() ?? null,
  connections_count: extra.connectionsCount,
});

/** What every fact about an app says. */
export const appFact = (app: AppRecord) => ({
  client_id: app.clientId,
  owner_user_id: app.ownerUserId,
  name: app.name,
  active: app.active,
});

/** The aggregate that facts about an app are about. */
export const appAggregate = (clientId: string): string => `app:${clientId}`;

/** Throws 422 naming every redirect URI that cannot be registered, or that stands twice. */
export const checkRedirectUris = (uris: readonly string[], clientType: ClientType): void => {
  const issues = uris.flatMap((uri, index) => {
    const isRepeated = uris.indexOf(uri) < index;
    const fault = isRepeated ? 'the redirect URI stands twice' : findRedirectUriFault(uri, clientType);
    return fault === undefined
      ? []
      : [{ loc: ['body', 'redirect_uris', index], type: 'value_error', msg: `Value error, ${fault}` }];
  });
  if (issues.length > 0) throw invalidRequest(issues);
};
