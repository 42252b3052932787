import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { serve } from './test-app.ts';

export interface TokenOptions {
  readonly type?: string;
  readonly algorithm?: string;
  readonly keyId?: string;
  readonly claims?: Record<string, unknown>;
  readonly issuer?: string;
  readonly audience?: string | string[];
  readonly expiresAt?: Date;
}

/** Starts an issuer with fresh keys and a JWKS endpoint that tests can break. */
export const startIssuer = async () => {
  const keys = new Map<string, { privateKey: CryptoKey; jwk: object }>();
  const state = { mode: 'ok' as 'ok' | 'down' | 'garbage' | 'hang', requests: 0 };
  const addKey = async (keyId: string, algorithm = 'ES256'): Promise<void> => {
    const pair = await generateKeyPair(algorithm, { extractable: true });
    keys.set(keyId, {
      privateKey: pair.privateKey,
      jwk: { ...(await exportJWK(pair.publicKey)), kid: keyId, alg: algorithm, use: 'sig' },
    });
  };
  await addKey('key-1');
  const { url } = await serve((_req, res) => {
    state.requests += 1;
    if (state.mode === 'hang') return;
    if (state.mode === 'down') res.statusCode = 503;
    res.end(state.mode === 'garbage' ? '<html>' : JSON.stringify({ keys: [...keys.values()].map(({ jwk }) => jwk) }));
  });
  const issuer = 'http://svc.test';
  const sign = async (kind: 'session' | 'access', options: TokenOptions = {}): Promise<string> => {
    const keyId = options.keyId ?? 'key-1';
    const key = keys.get(keyId);
    if (key === undefined) throw new Error(`unknown key ${keyId}`);
    const isSession = kind === 'session';
    const claims = isSession
      ? { sid: 'ses_1', account_type: 'business' }
      : { client_id: 'app_1', grant_id: 'grt_1', scope: 'inference usage:read', jti: 'at_1' };
    return new SignJWT({ sub: 'usr_1', ...claims, ...options.claims })
      .setProtectedHeader({
        alg: options.algorithm ?? 'ES256',
        typ: options.type ?? (isSession ? 'svc-session+jwt' : 'at+jwt'),
        kid: keyId,
      })
      .setIssuedAt()
      .setIssuer(options.issuer ?? issuer)
      .setAudience(options.audience ?? (isSession ? `${issuer}/v1/console` : `${issuer}/v1`))
      .setExpirationTime(options.expiresAt ?? new Date(Date.now() + 3_600_000))
      .sign(key.privateKey);
  };
  return { issuer, jwksUrl: `${url}/jwks`, keys, addKey, sign, state };
};
