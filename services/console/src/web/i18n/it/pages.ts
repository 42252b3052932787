import type { PageMessages } from '../en/index.ts';
import { account, connections, links } from './account.ts';
import { alerts } from './alerts.ts';
import { apps, webhooks } from './business.ts';
import { autoTopUp, invoices, keys, usage, wallet } from './gateway.ts';
import { overlap } from './overlap.ts';
import { factors, ownData, sessions } from './security.ts';

/** Texts of all other pages in Italian. */
export const itPages: PageMessages = {
  account,
  sessions,
  factors,
  ownData,
  links,
  connections,
  overlap,
  keys,
  wallet,
  autoTopUp,
  invoices,
  usage,
  alerts,
  apps,
  webhooks,
};
