import { hash } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from 'jose';

/** A key that tokens can be bound to (RFC 9449). */
export interface DpopKey {
  readonly thumbprint: string;
  /** Makes a proof for one request, and for the token if given. `claims` override claims, to make an invalid proof. */
  readonly prove: (request: {
    method: string;
    url: string;
    token?: string | undefined;
    claims?: Readonly<Record<string, unknown>> | undefined;
  }) => Promise<string>;
}

/** Makes an ES256 key. */
export const dpopKey = async (): Promise<DpopKey> => {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const jwk = await exportJWK(publicKey);
  return {
    thumbprint: await calculateJwkThumbprint(jwk),
    prove: ({ method, url, token, claims }) =>
      new SignJWT({
        htm: method,
        htu: url,
        jti: crypto.randomUUID(),
        ...(token === undefined ? {} : { ath: hash('sha256', token, 'base64url') }),
        ...claims,
      })
        .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk })
        .setIssuedAt()
        .sign(privateKey),
  };
};
