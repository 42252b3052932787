import type { SandboxCard } from '@svc/contracts';
import type { Knex } from 'knex';

/** A charge of a saved card, made once per id. */
export interface SandboxCharge {
  readonly id: string;
  readonly customer: string;
  readonly amountMicros: number;
  readonly currency: string;
}

export type SandboxChargeStatus = 'paid' | 'declined' | 'authentication_required';

/** Saves a card for charges without its holder. */
export const saveCard = async (trx: Knex.Transaction, customer: string, card: SandboxCard): Promise<void> => {
  await trx('sandbox_payments.saved_cards').insert({ customer, card }).onConflict('customer').merge();
};

export const findSavedCard = async (database: Knex, customer: string): Promise<SandboxCard | undefined> => {
  const row = await database('sandbox_payments.saved_cards').where({ customer }).first('card');
  return row?.card;
};

/** Stores a charge, unless one with its id is stored already. Returns the status of the stored one. */
export const insertCharge = async (
  database: Knex,
  charge: SandboxCharge & { readonly status: SandboxChargeStatus },
): Promise<SandboxChargeStatus> => {
  const { id, customer, amountMicros, currency, status } = charge;
  await database('sandbox_payments.charges')
    .insert({ id, customer, amount_micros: amountMicros, currency, status })
    .onConflict('id')
    .ignore();
  return (await findChargeStatus(database, id)) ?? status;
};

export const findChargeStatus = async (database: Knex, id: string): Promise<SandboxChargeStatus | undefined> => {
  const row = await database('sandbox_payments.charges').where({ id }).first('status');
  return row?.status;
};

export const deleteSavedCard = async (database: Knex, customer: string): Promise<void> => {
  await database('sandbox_payments.saved_cards').where({ customer }).delete();
};
