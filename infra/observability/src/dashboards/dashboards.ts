import type { Dashboard } from './dashboard.ts';
import { inference } from './inference-dashboard.ts';
import { messaging } from './messaging-dashboard.ts';
import { overview } from './overview-dashboard.ts';

export const dashboards: readonly Dashboard[] = [overview, inference, messaging];
