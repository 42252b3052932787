import { randomUUID } from 'node:crypto';
import { ACCESS_TOKEN_TYPE, accessTokenAudience, type Clock } from '@svc/service-kit';
import { errors, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import type { GrantRecord } from '../connections/index.ts';
import { type KeyRing, SIGNING_ALGORITHM } from '../signing-keys.ts';
import { toUnixSeconds } from '../time.ts';
import { ACCESS_TOKEN_SECONDS } from './codes-and-tokens.ts';

export interface AccessTokenDeps {
  readonly keys: KeyRing;
  readonly issuer: string;
  readonly clock: Clock;
}

/** Signs an access token (RFC 9068). With a thumbprint, it is bound to that key (RFC 9449 section 6). */
export const signAccessToken = async (
  { keys, issuer, clock }: AccessTokenDeps,
  { grant, scope, keyThumbprint }: { grant: GrantRecord; scope: string; keyThumbprint: string | undefined },
): Promise<string> => {
  const key = keys.active();
  const issuedAt = toUnixSeconds(clock());
  const claims = { client_id: grant.clientId, grant_id: grant.id, scope };
  return await new SignJWT(keyThumbprint === undefined ? claims : { ...claims, cnf: { jkt: keyThumbprint } })
    .setProtectedHeader({ alg: SIGNING_ALGORITHM, typ: ACCESS_TOKEN_TYPE, kid: key.kid })
    .setIssuer(issuer)
    .setAudience(accessTokenAudience(issuer))
    .setSubject(grant.userId)
    .setJti(randomUUID())
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + ACCESS_TOKEN_SECONDS)
    .sign(key.privateKey);
};

const claimsSchema = z.object({ client_id: z.string(), grant_id: z.string() });

/**
 * Returns the grant of an access token that this client may revoke. Returns undefined if the token is not ours, has
 * expired or belongs to another client (RFC 7009 section 2.1).
 */
export const findGrantOfAccessToken = async (
  { keys, issuer, clock }: AccessTokenDeps,
  token: string,
  clientId: string,
): Promise<string | undefined> => {
  try {
    const { payload } = await jwtVerify(token, keys.resolve, {
      algorithms: [SIGNING_ALGORITHM],
      typ: ACCESS_TOKEN_TYPE,
      issuer,
      audience: accessTokenAudience(issuer),
      currentDate: clock(),
    });
    const claims = claimsSchema.parse(payload);
    return claims.client_id === clientId ? claims.grant_id : undefined;
  } catch (error) {
    const isTokenFault = error instanceof errors.JOSEError || error instanceof z.ZodError || error instanceof TypeError;
    if (isTokenFault) return undefined;
    throw error;
  }
};
