import type { SandboxCard } from '@svc/contracts';
import type { Knex } from 'knex';
import {
  findChargeStatus,
  findSavedCard,
  insertCharge,
  type SandboxCharge,
  type SandboxChargeStatus,
} from './charge-queries.ts';

/** Charges the customer's saved card without its holder, once per id. */
export const chargeSavedCard = async (
  database: Knex,
  charge: SandboxCharge,
): Promise<SandboxChargeStatus | 'payment_method_missing'> => {
  const made = await findChargeStatus(database, charge.id);
  if (made !== undefined) return made;
  const card = await findSavedCard(database, charge.customer);
  return card === undefined ? 'payment_method_missing' : insertCharge(database, { ...charge, status: OUTCOMES[card] });
};

const OUTCOMES: Readonly<Record<SandboxCard, SandboxChargeStatus>> = {
  succeeds: 'paid',
  asks_to_confirm: 'authentication_required',
  declines_renewals: 'declined',
  declines: 'declined',
};
