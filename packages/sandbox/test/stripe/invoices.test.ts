import { inflateSync } from 'node:zlib';
import { newId } from '@svc/contracts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestSandbox, testSandbox } from './support/sandbox.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await testSandbox();
});
afterAll(() => sandbox.stop());

const MONTH_SECONDS = 31 * 86_400;
const listOf = (customer: string, query: { limit?: number; starting_after?: string } = {}) =>
  sandbox.stripe.invoices.list({ customer, ...query });
const invoicesOf = async (customer: string) =>
  (await listOf(customer)).data.map(({ description, total, status }) => [description, total, status]);
/** Writes the invoice of a charge that the merchant has made. */
const invoiceCharge = async (customer: string, amount: number): Promise<void> => {
  const { invoices, invoiceItems } = sandbox.stripe;
  const metadata = { svc_charge_id: newId('cs') };
  const { id: invoice } = await invoices.create({ customer, currency: 'eur', description: 'Automatic', metadata });
  await invoiceItems.create({ customer, invoice, currency: 'eur', amount });
  await invoices.finalizeInvoice(invoice);
  await invoices.attachPayment(invoice, { payment_intent: 'pi_of_the_charge' });
};

/** Reads the texts of a PDF, without the positions of letters. */
const textOf = (pdf: Buffer): string => {
  // A stream may end with a carriage return, so only the line feed is the library's.
  const streams = pdf.toString('latin1').matchAll(/stream\n([\s\S]*?)\nendstream/g);
  const contents = [...streams].map(([, bytes = '']) => inflateSync(Buffer.from(bytes, 'latin1')).toString('latin1'));
  const shown = contents.join('\n').matchAll(/\[((?:<[0-9a-f]*>[ \d.-]*)+)\] TJ/g);
  const lines = [...shown].map(([, hex = '']) =>
    [...hex.matchAll(/<([0-9a-f]*)>/g)].map(([, part = '']) => Buffer.from(part, 'hex').toString('latin1')).join(''),
  );
  return new TextDecoder('windows-1252').decode(Buffer.from(lines.join('\n'), 'latin1'));
};
const pdfOf = async (pdfUrl: string, locale: string) => {
  const response = await fetch(`${sandbox.url}${new URL(pdfUrl).pathname}?locale=${locale}`);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/pdf']);
  const pdf = Buffer.from(await response.arrayBuffer());
  expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
  return textOf(pdf);
};

test('writes one invoice for each payment of a subscription, and none for a failed one', async () => {
  const { customer, id } = await sandbox.subscribe();
  const control = (path: string, json: object) =>
    sandbox.call(path === '' ? 'PATCH' : 'POST', `/sandbox/payments/subscriptions/${id}${path}`, { json });
  await control('/advance', { seconds: MONTH_SECONDS });
  await control('', { card: 'declines_renewals' });
  await control('/advance', { seconds: MONTH_SECONDS });
  expect(await invoicesOf(customer)).toHaveLength(2);
  await control('', { card: 'succeeds' });
  await control('/advance', { seconds: 4 * 86_400 });
  const portal = await sandbox.openPortal(customer);
  await sandbox.submit(portal, 'cancel');
  await sandbox.submit(portal, 'resume');
  expect(await invoicesOf(customer)).toEqual([
    ...Array.from({ length: 3 }, () => ['Subscription to Basic', 500, 'paid']),
  ]);
});

test('splits the price into net and tax, and pages newest first', async () => {
  const { customer } = await sandbox.subscribe();
  await invoiceCharge(customer, 1_220);
  const first = await listOf(customer, { limit: 1 });
  expect(first).toMatchObject({
    data: [{ description: 'Automatic', total_excluding_tax: 1_000, total: 1_220, status: 'paid' }],
    has_more: true,
  });
  const rest = await listOf(customer, { limit: 1, starting_after: first.data[0]?.id ?? '' });
  expect(rest).toMatchObject({ data: [{ description: 'Subscription to Basic' }], has_more: false });
});

test('numbers invoices consecutively, though payments are made in parallel', async () => {
  const customers = await Promise.all(Array.from({ length: 10 }, () => sandbox.newCustomer()));
  await Promise.all(customers.map((customer) => invoiceCharge(customer, 100)));
  const rows = sandbox.standIn
    .list('invoice')
    .flatMap(({ number }) => number ?? [])
    .sort();
  const places = rows.map((number) => Number(number.split('-').at(-1)));
  const byYear = Map.groupBy(rows, (number) => number.split('-')[1]);
  for (const numbers of byYear.values()) {
    expect(numbers.map((number) => Number(number.split('-')[2]))).toEqual(numbers.map((_, index) => index + 1));
  }
  expect(places.length).toBeGreaterThan(10);
});

test.each([
  ['IT 01234567890', 'IT01234567890', ['VAT 22%', '€4.10'], ['IVA 22%', '4,10']],
  ['de123456789', 'DE123456789', ['Reverse charge', '€5.00'], ['Inversione contabile', '5,00']],
])('shows the business with the VAT number %s on page and PDF, in both languages', async (typed, vat, en, it) => {
  const { customer, path } = await sandbox.startCheckout();
  await sandbox.submit(path, 'pay', { business_name: 'Società Esempio', vat_number: typed });
  const [invoice] = (await listOf(customer)).data;
  const pdfUrl = invoice?.invoice_pdf ?? '';
  const english = await pdfOf(pdfUrl, 'en');
  for (const part of ['Invoice SANDBOX-', 'Società Esempio', vat, ...en, '€5.00', 'Subscription to Basic']) {
    expect(english).toContain(part);
  }
  const italian = await pdfOf(pdfUrl, 'it');
  for (const part of ['Fattura SANDBOX-', vat, ...it, '5,00', 'Abbonamento Basic']) expect(italian).toContain(part);
  const page = await sandbox.call('GET', new URL(invoice?.hosted_invoice_url ?? '').pathname, {
    headers: { 'accept-language': 'en' },
  });
  expect(page.text).toContain(vat);
  expect(page.text).toContain('Società Esempio');
});

test('returns 422 for a VAT number without a country, and 404 for an unknown invoice', async () => {
  const { path } = await sandbox.startCheckout();
  expect((await sandbox.submit(path, 'pay', { business_name: 'A', vat_number: '12345' })).status).toBe(422);
  expect((await sandbox.call('GET', `/sandbox/payments/invoices/${newId('inv')}/pdf`)).status).toBe(404);
});
