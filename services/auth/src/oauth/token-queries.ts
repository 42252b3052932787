import { runPrepared, snakeKeys } from '@svc/database';
import { GRANT_UNUSED_MS } from '../connections/index.ts';
import type { Executor, Transaction } from '../transact.ts';
import { CODE_MS, digestOpaqueValue, REFRESH_TOKEN_SECONDS, type RefreshTokenDigests } from './codes-and-tokens.ts';

/** An authorization code, as stored. Its grant holds the permissions. */
interface CodeRecord {
  readonly grantId: string;
  readonly redirectUri: string;
  readonly codeChallenge: string;
  /** Thumbprint of the key that the code is bound to. */
  readonly dpopJkt: string | null;
}

/** Stores the digest of a new code, with an expiry by the clock of the database. Returns false if it was stored before. */
const insertCode = async (trx: Transaction, code: CodeRecord & { digest: Buffer }): Promise<boolean> => {
  const issuedAt = trx.fn.now();
  const expiresAt = trx.raw('now() + ?::interval', [`${CODE_MS} milliseconds`]);
  const rows = await trx('authorization_codes')
    .insert(snakeKeys({ ...code, issuedAt, expiresAt }))
    .onConflict('digest')
    .ignore()
    .returning('grant_id');
  return rows.length > 0;
};

/** Returns the state of a code by its digest; undefined if it was never issued. */
export const findCodeState = async (
  executor: Executor,
  digest: Buffer,
): Promise<'redeemable' | 'spent' | undefined> => {
  const row = await executor('authorization_codes')
    .where('digest', digest)
    .first<{ is_redeemable: boolean } | undefined>(
      executor.raw('consumed_at IS NULL AND expires_at > clock_timestamp() AS is_redeemable'),
    );
  if (row === undefined) return undefined;
  return row.is_redeemable ? 'redeemable' : 'spent';
};

/** A code, device code or refresh token that a client presents. */
export interface Presented {
  readonly kind: 'authorization_code' | 'device_code' | 'refresh_token';
  readonly digest: Buffer;
}

export interface Exchange {
  readonly presented: Presented;
  /** Token to store under the grant. Of the same family as one that is presented. */
  readonly refreshToken: RefreshTokenDigests;
  /** Thumbprint of the key that the tokens are bound to (RFC 9449 section 5). */
  readonly jkt: string | null;
}

/**
 * Outcome of an exchange. `reused`: the code or token, or a sibling of the token, was used before. `other_key`: a
 * concurrent exchange has bound the tokens to another key.
 */
export type ExchangeOutcome = 'issued' | 'grant_ended' | 'reused' | 'other_key';

const EXCHANGE_TOKENS = {
  name: 'exchange_tokens',
  text: 'SELECT exchange_tokens($1, $2, $3, $4, $5, $6, $7, $8, $9) AS outcomes',
};

/** Performs many exchanges in one round trip and one commit. Returns the outcome of each. */
export const exchangeTokens = async (
  executor: Executor,
  exchanges: readonly Exchange[],
): Promise<ExchangeOutcome[]> => {
  const presented = exchanges.map((exchange) => exchange.presented);
  const tokens = exchanges.map(({ refreshToken }) => refreshToken);
  const digestsOf = (wanted: Presented['kind']) =>
    presented.map(({ kind, digest }) => (kind === wanted ? digest : null));
  const [row] = await runPrepared<{ outcomes: ExchangeOutcome[] }>(executor, EXCHANGE_TOKENS, [
    tokens.map(({ grantId }) => grantId),
    digestsOf('authorization_code'),
    digestsOf('device_code'),
    digestsOf('refresh_token'),
    tokens.map(({ family }) => family),
    tokens.map(({ digest }) => digest),
    exchanges.map(({ jkt }) => jkt),
    `${REFRESH_TOKEN_SECONDS} seconds`,
    `${GRANT_UNUSED_MS} milliseconds`,
  ]);
  return row?.outcomes ?? [];
};

/** Deletes at most `limit` codes that expired unused before the given time. Returns the number. */
export const deleteUnusedCodesBefore = async (executor: Executor, before: Date, limit: number): Promise<number> =>
  await executor('authorization_codes')
    .whereIn(
      'digest',
      executor('authorization_codes')
        .whereNull('consumed_at')
        .where('expires_at', '<', before)
        .limit(limit)
        .select('digest'),
    )
    .delete();

/** A code to issue under a grant created in the same transaction. */
interface CodeToIssue {
  readonly value: string;
  readonly grantId: string;
  readonly redirectUri: string;
  readonly codeChallenge: string;
  readonly dpopThumbprint: string | undefined;
}

/** Stores the digest of a code. Returns false if the same code was issued before. */
export const issueCode = async (trx: Transaction, code: CodeToIssue): Promise<boolean> =>
  await insertCode(trx, {
    digest: digestOpaqueValue(code.value),
    grantId: code.grantId,
    redirectUri: code.redirectUri,
    codeChallenge: code.codeChallenge,
    dpopJkt: code.dpopThumbprint ?? null,
  });
