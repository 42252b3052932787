import type { Fields, StripeObjects } from './stripe-objects.ts';

export const makeInvoice = (objects: StripeObjects, params: Fields): Fields => {
  const lines = { object: 'list', data: [], has_more: false };
  return structuredClone(objects.put('invoice', 'in', { ...params, status: 'draft', number: null, total: 0, lines }));
};

/** Adds the only item of an invoice. The tax is a tenth of the net amount. */
export const addInvoiceItem = (objects: StripeObjects, { invoice: id, amount, description }: Fields): Fields => {
  const total = Number(amount);
  objects.update(String(id), {
    total,
    total_excluding_tax: Math.round(total / 1.1),
    lines: { object: 'list', data: [{ object: 'line_item', amount: total, description }], has_more: false },
  });
  return objects.put('invoiceitem', 'ii', { invoice: id, amount: total });
};

/** Finalizes an invoice, or marks it paid. */
export const changeInvoice = (objects: StripeObjects, id: string, action: string, params: Fields): Fields => {
  const changes = action === 'finalize' ? { status: 'open', number: `TEST-${id}` } : { status: 'paid', ...params };
  objects.update(id, { ...changes, hosted_invoice_url: `https://invoice.stripe.test/${id}` });
  return structuredClone(objects.get(id));
};
