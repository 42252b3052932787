import { z } from 'zod';
import { currencySchema, microsSchema } from '../core/money.ts';
import { timestampSchema } from '../core/time.ts';

/** An invoice of the payment provider. Net and tax add up to the total, which is what was paid. */
export const invoiceSchema = z
  .object({
    id: z.string(),
    number: z.string(),
    description: z.string(),
    net_micros: microsSchema,
    tax_micros: microsSchema,
    total_micros: microsSchema,
    currency: currencySchema,
    status: z.enum(['open', 'paid', 'uncollectible', 'void']),
    issued_at: timestampSchema,
    url: z.string().nullable().meta({ description: 'Page of the invoice.' }),
    pdf_url: z.string().nullable(),
  })
  .meta({ id: 'Invoice' });

export type Invoice = z.infer<typeof invoiceSchema>;
