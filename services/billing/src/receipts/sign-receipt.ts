import { setTimeout as wait } from 'node:timers/promises';
import { RECEIPT_TYPE, type ReceiptClaims } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import { SignJWT } from 'jose';
import type { Knex } from 'knex';
import { findForReceipt, type SettledReservation } from '../reservations/index.ts';
import { RECEIPT_ALGORITHM, type ReceiptKeys } from './receipt-keys.ts';

export interface SignReceiptDeps {
  readonly database: Knex;
  readonly currency: string;
  readonly issuer: string;
  readonly receiptKeys: ReceiptKeys;
}

/** A request is settled by call shortly before the fact with its details arrives. */
const DETAILS_WAIT_MS = 100;
const DETAILS_WAITS_MAX = 30;

/**
 * Signs the receipt of a request that the caller may see. Throws `not_found` if the caller may not see it, and
 * `not_settled` while its cost is not final. Repeated calls sign the same claims.
 */
export const signReceipt = async (
  deps: SignReceiptDeps,
  requestId: string,
  maySee: (request: SettledReservation) => boolean,
): Promise<{ receipt: string }> => {
  const request = await findSettled(deps.database, requestId, maySee);
  const key = await deps.receiptKeys.active();
  const receipt = await new SignJWT(toClaims(deps, request))
    .setProtectedHeader({ alg: RECEIPT_ALGORITHM, typ: RECEIPT_TYPE, kid: key.kid })
    .sign(key.privateKey);
  return { receipt };
};

const findSettled = async (
  database: Knex,
  requestId: string,
  maySee: (request: SettledReservation) => boolean,
): Promise<SettledReservation> => {
  for (let waits = 0; ; waits += 1) {
    const request = await findForReceipt(database, requestId);
    if (request === undefined || !maySee(request)) throw new AppError('not_found');
    if (request.state !== 'settled' && request.state !== 'released') throw new AppError('not_settled');
    const needsDetails = request.settledBy === 'usage' && request.details === null;
    if (!needsDetails) return request;
    if (waits === DETAILS_WAITS_MAX) throw new AppError('not_settled');
    await wait(DETAILS_WAIT_MS);
  }
};

const toClaims = ({ issuer, currency }: SignReceiptDeps, request: SettledReservation): ReceiptClaims => {
  const { details, endedAt } = request;
  if (endedAt === null) throw new Error('a settled request has no end');
  const isReleased = request.state === 'released';
  const count = (name: 'input_tokens' | 'output_tokens' | 'cached_input_tokens'): number | null =>
    isReleased ? 0 : (details?.[name] ?? null);
  const common = {
    iss: issuer,
    iat: Math.floor(endedAt.getTime() / 1000),
    request_id: request.requestId,
    sub: request.userId,
    service: request.service ?? details?.service ?? null,
    outcome: outcomeOf(request),
    cost_micros: isReleased ? 0 : (request.costMicros ?? 0),
    currency,
    input_tokens: count('input_tokens'),
    output_tokens: count('output_tokens'),
    cached_input_tokens: count('cached_input_tokens') ?? (count('input_tokens') === null ? null : 0),
    ...(details?.audio_ms == null ? {} : { audio_seconds: details.audio_ms / 1000 }),
    created_at: request.createdAt.toISOString(),
    settled_at: endedAt.toISOString(),
  };
  return request.kind === 'delegated'
    ? { ...common, client_id: request.clientId ?? '' }
    : {
        ...common,
        key_id: request.keyId ?? '',
        provider: details?.provider ?? null,
        model: details?.model ?? null,
        data_zone: details?.data_zone ?? null,
        certification: details?.certification ?? null,
        upstream_request_id: details?.upstream_request_id ?? null,
      };
};

const outcomeOf = ({ state, settledBy }: SettledReservation): ReceiptClaims['outcome'] => {
  if (state === 'released') return 'released';
  return settledBy === 'estimate' ? 'estimated' : 'settled';
};
