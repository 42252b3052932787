import type { Transaction } from '../transact.ts';
import { digestOpaqueValue } from './opaque-value.ts';
import { insertCode } from './queries.ts';

/** A code to issue under a grant created in the same transaction. */
export interface CodeToIssue {
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
