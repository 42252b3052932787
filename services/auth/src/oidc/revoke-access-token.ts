import { ACCESS_TOKEN_TYPE, accessTokenAudience } from '@svc/service-kit';
import { errors, jwtVerify } from 'jose';
import { z } from 'zod';
import { type KeyRing, SIGNING_ALGORITHM } from '../signing-keys/index.ts';

const claimsSchema = z.object({ client_id: z.string(), grant_id: z.string() });

/**
 * The grant of an access token that this client may revoke, or undefined where there is nothing to revoke: it is not ours,
 * has expired, or belongs to another client (RFC 7009 section 2.1).
 */
export const findGrantOfAccessToken = async (
  deps: { keys: KeyRing; issuer: string },
  token: string,
  clientId: string,
): Promise<string | undefined> => {
  try {
    const { payload } = await jwtVerify(token, deps.keys.resolve, {
      algorithms: [SIGNING_ALGORITHM],
      typ: ACCESS_TOKEN_TYPE,
      issuer: deps.issuer,
      audience: accessTokenAudience(deps.issuer),
    });
    const claims = claimsSchema.parse(payload);
    return claims.client_id === clientId ? claims.grant_id : undefined;
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof z.ZodError || error instanceof TypeError)
      return undefined;
    throw error;
  }
};
