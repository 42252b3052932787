import { authorizationDetailsSchema, type InferenceBudget } from '@svc/contracts';
import type { Clock } from '@svc/service-kit';
import { hasPassed } from '../connections/index.ts';

/** Budget proposed by an app, or `malformed` (RFC 9396 section 5). */
export type BudgetProposal = InferenceBudget | undefined | 'malformed';

/**
 * Parses the `authorization_details` of a request. A currency other than that of the plans, and an end that has passed, are
 * malformed.
 */
export const readBudgetProposal = (
  text: string | undefined,
  { currency, clock }: { readonly currency: string; readonly clock: Clock },
): BudgetProposal => {
  if (text === undefined) return undefined;
  const read = authorizationDetailsSchema.safeParse(parseJson(text));
  if (!read.success) return 'malformed';
  const [proposal] = read.data;
  if (proposal === undefined) return undefined;
  return proposal.currency === currency && !hasPassed(proposal, clock()) ? proposal : 'malformed';
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
