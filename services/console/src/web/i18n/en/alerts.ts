/** Alerts by mail. */
export const alerts = {
  title: 'Alerts',
  lead: 'Emails that warn you before a limit stops an app or an API key.',
  card: 'When to email you',
  cardLead: 'You get each email once per limit and period.',
  thresholds: 'When this much of a limit is used',
  thresholdsHint: 'For the limits of your plan, of each app and of each API key.',
  noThresholds: 'None selected: you get no emails about limits.',
  another: 'Another percentage',
  add: 'Add',
  notAPercentage: 'A whole number from 1 to 100.',
  tooMany: (count: number) => `At most ${count} percentages.`,
  wallet: (currency: string) => `When the wallet falls below (${currency})`,
  walletHint: 'Leave empty for no emails about the wallet.',
  saved: 'Alerts saved',
};
