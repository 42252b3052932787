import type { Knex } from 'knex';
import { listChargesWithoutInvoice, updateInvoiced } from './auto-top-up-queries.ts';
import type { PaymentProvider } from './provider.ts';
import { findCheckoutSession } from './queries.ts';

/** Charges per call. The next call takes the rest. */
const CHARGES_MAX = 50;

/**
 * Has the provider write the invoices of automatic charges, which have no hosted checkout that does. A charge whose
 * invoice fails is tried again by the next call. Throws the first failure in the end.
 */
export const invoiceCharges = async (deps: {
  readonly database: Knex;
  readonly provider: PaymentProvider;
}): Promise<void> => {
  const { database, provider } = deps;
  const failures: unknown[] = [];
  for (const id of await listChargesWithoutInvoice(database, provider.name, CHARGES_MAX)) {
    const session = await findCheckoutSession(database, id);
    if (session?.asked == null || session.providerSessionId === null) continue;
    const { userId, startedAt, providerSessionId, asked } = session;
    await provider
      .invoiceCharge({ ...asked, chargeId: id, userId, startedAt, providerSessionId })
      .then(() => updateInvoiced(database, id))
      .catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
};
