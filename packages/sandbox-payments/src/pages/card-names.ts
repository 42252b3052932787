import type { SandboxCard } from '@svc/contracts';

/** Card names, the same in every language. */
export const CARD_NAMES: Readonly<Record<SandboxCard, string>> = {
  succeeds: 'Visa •••• 4242',
  asks_to_confirm: 'Visa •••• 3184',
  declines_renewals: 'Visa •••• 0341',
  declines: 'Visa •••• 0002',
};
