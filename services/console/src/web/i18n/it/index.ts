import type { Messages } from '../en/index.ts';
import { account, connections, links, overview, plans, session } from './account.ts';
import { alerts } from './alerts.ts';
import { apps, webhooks } from './business.ts';
import { charts } from './charts.ts';
import { common, errors, faults, serviceFaults, shell } from './common.ts';
import { firstSteps } from './first-steps.ts';
import { autoTopUp, invoices, keys, usage, wallet } from './gateway.ts';
import { overlap } from './overlap.ts';
import { palette } from './palette.ts';
import { factors, ownData, sessions } from './security.ts';

/** All texts in Italian. */
export const it: Messages = {
  common,
  shell,
  errors,
  faults,
  serviceFaults,
  session,
  account,
  sessions,
  factors,
  ownData,
  links,
  charts,
  palette,
  firstSteps,
  overview,
  plans,
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
