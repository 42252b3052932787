import type { AppRecord } from './app.ts';
import type { StoredSecret } from './client-secret.ts';

/** An app as the token endpoint needs it. */
export interface OauthClient {
  app: Pick<
    AppRecord,
    'clientId' | 'name' | 'clientType' | 'redirectUris' | 'refreshGraceSeconds' | 'requiresBoundTokens'
  >;
  /** None where the app is public. */
  secrets: readonly StoredSecret[];
}

/** What `oauthClientJson` makes of an app. */
export interface OauthClientJson {
  client_id: string;
  name: string;
  client_type: AppRecord['clientType'];
  redirect_uris: string[];
  refresh_grace_seconds: number;
  dpop_bound_access_tokens: boolean;
  secrets: { digest: string; expires_at: string | null }[] | null;
}

/**
 * SQL for the active app that an expression names, with its secrets, as one JSON value: for statements that read it along
 * with something else. Null where there is none, or it is deactivated.
 */
export const oauthClientJson = (clientId: string): string => `(
  SELECT json_build_object(
    'client_id', a.client_id, 'name', a.name, 'client_type', a.client_type, 'redirect_uris', a.redirect_uris,
    'refresh_grace_seconds', a.refresh_grace_seconds, 'dpop_bound_access_tokens', a.dpop_bound_access_tokens,
    'secrets', CASE a.client_type WHEN 'confidential' THEN (
      SELECT json_agg(json_build_object('digest', encode(s.digest, 'base64'), 'expires_at', s.expires_at) ORDER BY s.created_at)
      FROM app_secrets s WHERE s.client_id = a.client_id
    ) END
  ) FROM apps a WHERE a.client_id = ${clientId} AND a.active AND a.deleted_at IS NULL
)`;

/** Reads what `oauthClientJson` has made. */
export const toOauthClient = (json: OauthClientJson): OauthClient => ({
  app: {
    clientId: json.client_id,
    name: json.name,
    clientType: json.client_type,
    redirectUris: json.redirect_uris,
    refreshGraceSeconds: json.refresh_grace_seconds,
    requiresBoundTokens: json.dpop_bound_access_tokens,
  },
  secrets: (json.secrets ?? []).map(({ digest, expires_at: expiresAt }) => ({
    digest: Buffer.from(digest, 'base64'),
    expiresAt: expiresAt === null ? null : new Date(expiresAt),
  })),
});
