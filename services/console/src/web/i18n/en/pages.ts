import { account, connections, links } from './account.ts';
import { analytics, apps, webhooks } from './business.ts';
import { autoTopUp, extraUsage, invoices, keys, managementKeys, receipts, usage, wallet } from './gateway.ts';
import { audit, invitation, members, memberUsage, organizationData, rules, seats } from './organization.ts';
import { factors, ownData, sessions } from './security.ts';

/** Alerts by mail. */
const alerts = {
  title: 'Alerts',
  lead: 'Emails that warn you before a limit stops an app or an API key.',
  card: 'When to email you',
  cardLead: 'You get each email once per limit and period.',
  thresholds: 'When this much of a limit is used',
  thresholdsHint: 'For the limits of your plan, of extra use, of each app and of each API key.',
  noThresholds: 'None selected: you get no emails about limits.',
  another: 'Another percentage',
  add: 'Add',
  notAPercentage: 'A whole number from 1 to 100.',
  tooMany: (count: number) => `At most ${count} percentages.`,
  wallet: (currency: string) => `When the wallet falls below (${currency})`,
  walletHint: 'Leave empty for no emails about the wallet.',
  saved: 'Alerts saved',
};

/** Replacing a secret while the old one stays valid for a time. */
const overlap = {
  label: 'The old secret keeps working',
  choices: { hour: 'For an hour', day: 'For a day', week: 'For a week', now: 'Not at all' },
  rotate: 'Replace it',
  rotating: 'Replacing…',
  until: (date: string) => `The old secret works until ${date}.`,
  ended: 'The old secret has stopped working.',
};

/** Texts of all other pages in English, and their shape in every language. */
export const enPages = {
  account,
  sessions,
  factors,
  ownData,
  links,
  connections,
  overlap,
  keys,
  managementKeys,
  wallet,
  autoTopUp,
  extraUsage,
  invoices,
  usage,
  receipts,
  alerts,
  apps,
  analytics,
  webhooks,
  members,
  invitation,
  seats,
  memberUsage,
  audit,
  rules,
  organizationData,
};

/** Texts of all other pages in one language. */
export type PageMessages = typeof enPages;
