import { recordColumns } from '@svc/database';
import type { Knex } from 'knex';
import type { BusinessDetails, SandboxInvoice } from './invoice.ts';

const TABLE = 'sandbox_payments.invoices';
const CUSTOMERS = 'sandbox_payments.customers';
const COLUMNS = recordColumns<SandboxInvoice>({
  id: 'id text',
  number: 'number text',
  customer: 'customer text',
  kind: 'kind text',
  planName: 'plan_name text',
  subscriptionId: 'subscription_id text',
  chargeId: 'charge_id text',
  periodStart: 'period_start timestamptz',
  periodEnd: 'period_end timestamptz',
  totalMicros: 'total_micros bigint',
  taxMicros: 'tax_micros bigint',
  taxPercent: 'tax_percent int',
  currency: 'currency text',
  status: 'status text',
  issuedAt: 'issued_at timestamptz',
  businessName: 'business_name text',
  vatNumber: 'vat_number text',
});

const select = (database: Knex) => database(TABLE).select<SandboxInvoice[]>(database.raw(COLUMNS.select(TABLE)));

/** Takes the next number of a year. Waits for other invoices of the year, so that no number is left out. */
export const nextInvoiceNumber = async (trx: Knex.Transaction, year: number): Promise<number> => {
  const { rows } = await trx.raw<{ rows: { last: number }[] }>(
    `INSERT INTO sandbox_payments.invoice_counters AS c (year, last) VALUES (?, 1)
      ON CONFLICT (year) DO UPDATE SET last = c.last + 1 RETURNING last`,
    [year],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the counter of invoices returned no number');
  return row.last;
};

export const insertInvoice = async (trx: Knex.Transaction, invoice: SandboxInvoice): Promise<void> => {
  await trx(TABLE).insert(COLUMNS.toRow(invoice));
};

export const findInvoice = async (database: Knex, id: string): Promise<SandboxInvoice | undefined> => {
  const [invoice] = await select(database).where({ id });
  return invoice;
};

/** Returns true if the charge has its invoice. */
export const hasInvoice = async (trx: Knex.Transaction, chargeId: string): Promise<boolean> =>
  (await trx(TABLE).where({ charge_id: chargeId }).first('id')) !== undefined;

/** Lists the invoices of a customer, newest first. `after` is the last id of the previous page. */
export const listInvoices = async (
  database: Knex,
  { customer, after, limit }: { readonly customer: string; readonly after: string | undefined; readonly limit: number },
): Promise<SandboxInvoice[]> => {
  const query = select(database).where({ customer }).orderBy('id', 'desc').limit(limit);
  return await (after === undefined ? query : query.where('id', '<', after));
};

/** Voids the invoices of a reverted subscription. */
export const voidInvoices = async (trx: Knex.Transaction, subscriptionId: string): Promise<void> => {
  await trx(TABLE).where({ subscription_id: subscriptionId }).update({ status: 'void' });
};

/** Returns the business details that the customer gave last. */
export const findBusiness = async (database: Knex, customer: string): Promise<BusinessDetails> => {
  const row = await database(CUSTOMERS).where({ customer }).first('business_name', 'vat_number');
  return { businessName: row?.business_name ?? null, vatNumber: row?.vat_number ?? null };
};

export const saveBusiness = async (database: Knex, customer: string, business: BusinessDetails): Promise<void> => {
  await database(CUSTOMERS)
    .insert({ customer, business_name: business.businessName, vat_number: business.vatNumber })
    .onConflict('customer')
    .merge();
};
