import type { ReceiptClaims } from '@svc/contracts';
import type { UsageRecord } from './state.ts';

/** Issuer of the receipts and of the metadata. */
export const ISSUER = 'https://svc.example';
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const KID = 'k1';

const pair = crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);

export const receiptKeys = async () => {
  const { x = '', y = '' } = await crypto.subtle.exportKey('jwk', (await pair).publicKey);
  return {
    keys: [{ kty: 'EC' as const, crv: 'P-256' as const, x, y, kid: KID, use: 'sig' as const, alg: 'ES256' as const }],
  };
};

const encode = (value: string | Uint8Array): string => Buffer.from(value).toString('base64url');

/** Signs a receipt as the service does. */
export const signReceipt = async (record: UsageRecord, userId: string): Promise<string> => {
  const claims: ReceiptClaims = {
    iss: ISSUER,
    iat: 1,
    request_id: record.request_id,
    sub: userId,
    key_id: record.key_id,
    service: record.service,
    outcome: 'settled',
    cost_micros: record.cost_micros ?? 0,
    paid_by: 'wallet',
    currency: 'EUR',
    input_tokens: record.input_tokens,
    output_tokens: record.output_tokens,
    cached_input_tokens: 0,
    created_at: record.started_at,
    settled_at: record.started_at,
    provider: record.provider,
    model: record.model,
    data_zone: record.data_zone,
    certification: null,
    upstream_request_id: record.upstream_request_id,
  };
  const head = encode(JSON.stringify({ alg: 'ES256', typ: 'svc-receipt+jwt', kid: KID }));
  const signed = `${head}.${encode(JSON.stringify(claims))}`;
  const signature = await crypto.subtle.sign(ALGORITHM, (await pair).privateKey, new TextEncoder().encode(signed));
  return `${signed}.${encode(new Uint8Array(signature))}`;
};
