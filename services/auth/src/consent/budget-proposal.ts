import { authorizationDetailsSchema, type InferenceBudget } from '@svc/contracts';

/** Budget proposed by an app, or `malformed` (RFC 9396 section 5). */
export type BudgetProposal = InferenceBudget | undefined | 'malformed';

/** Parses the `authorization_details` of a request. A currency other than that of the plans is malformed. */
export const readBudgetProposal = (text: string | undefined, currency: string): BudgetProposal => {
  if (text === undefined) return undefined;
  const read = authorizationDetailsSchema.safeParse(parseJson(text));
  if (!read.success) return 'malformed';
  const [proposal] = read.data;
  return proposal === undefined || proposal.currency === currency ? proposal : 'malformed';
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
