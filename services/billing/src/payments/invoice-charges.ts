import { type JobDeps, runItems } from '../jobs.ts';
import { listChargesWithoutInvoice, updateInvoiced } from './auto-top-up-queries.ts';
import { findCheckoutSession } from './queries.ts';
import { invoiceCharge, type StripeDeps } from './stripe/index.ts';

/** Charges per call. The next call takes the rest. */
const CHARGES_MAX = 50;

type InvoiceDeps = JobDeps & StripeDeps;

/** Has Stripe write the invoices of automatic charges, which have no hosted checkout that does. */
export const invoiceCharges = async (deps: InvoiceDeps): Promise<void> => {
  const ids = await listChargesWithoutInvoice(deps.database, CHARGES_MAX);
  await runItems(deps, 'invoices', ids, (id) => invoiceOne(deps, id));
};

const invoiceOne = async (deps: InvoiceDeps, id: string): Promise<void> => {
  const { database, logger } = deps;
  const session = await findCheckoutSession(database, id);
  if (session === undefined) return;
  const { userId, startedAt, providerSessionId, asked } = session;
  if (asked === null || providerSessionId === null) throw new Error('a completed charge has no payment');
  if (!(await invoiceCharge(deps, { ...asked, chargeId: id, userId, startedAt, providerSessionId }))) {
    const fields = { checkout_session_id: id, user_id: userId };
    logger.error(fields, 'a charge stays without an invoice, because its customer is gone at Stripe');
  }
  await updateInvoiced(database, id);
};
