/** Alerts by mail. */
export const alerts = {
  title: 'Alerts',
  lead: 'Mails that warn you before a limit stops an app or an API key.',
  open: 'Alerts by mail',
  card: 'When to mail you',
  cardLead: 'You get each mail once per limit and period.',
  thresholds: 'When this much of a limit is used',
  thresholdsHint: 'For the limits of your plan, of each app and of each API key.',
  noThresholds: 'None is chosen: you get no mails about limits.',
  another: 'Another percentage',
  add: 'Add',
  notAPercentage: 'A whole number from 1 to 100.',
  tooMany: (count: number) => `At most ${count} percentages.`,
  wallet: (currency: string) => `When the wallet falls below (${currency})`,
  walletHint: 'Leave it empty for no mail about the wallet.',
  saved: 'The alerts are saved',
};
